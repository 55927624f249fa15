//! Volatile images: where they are, and how they are handed out.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    Inner,
    response::{Body, Problem, Response},
    seal::random,
};
use crate::{
    format::{Format, content_encoding},
    port::ledger::Link,
};

/// A fresh address: 128 random bits.
pub(super) fn fresh_link() -> Link {
    Link(u128::from_be_bytes(random()))
}

/// What follows `<public_url>/volatile/`.
pub(super) fn path(link: Link, name: &str) -> String {
    format!("{}/{}", URL_SAFE_NO_PAD.encode(link.0.to_be_bytes()), percent_encoded(name))
}

/// The link in what follows `/volatile/`; the name after it is for people.
fn link(rest: &str) -> Option<Link> {
    let text = rest.split('/').next()?;
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    Some(Link(u128::from_be_bytes(bytes.try_into().ok()?)))
}

impl Inner {
    pub(super) async fn image(&self, rest: &str) -> Result<Response, Problem> {
        let gone = || Problem::new(404, "there is no image at this address, or its time is over");
        let now = self.now();
        let image = match link(rest) {
            Some(link) => self.ports.ledger.image(link, now).await?.ok_or_else(gone)?,
            None => return Err(gone()),
        };
        let blob = self.ports.blobs.open(image.blob).await?.ok_or_else(gone)?;
        let left = image.expires.since(now).as_secs();
        let encoding = content_encoding(&image.media_type, &image.name);
        let mut headers = vec![
            ("Content-Type", image.media_type),
            ("Content-Length", blob.len.to_string()),
            ("Content-Disposition", disposition("inline", &image.name)),
            ("Cache-Control", format!("private, max-age={left}, immutable")),
            ("X-Content-Type-Options", "nosniff".to_owned()),
            // An SVG opened by itself is a document: it gets no scripts and nothing from elsewhere.
            (
                "Content-Security-Policy",
                "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox".to_owned(),
            ),
            ("Cross-Origin-Resource-Policy", "cross-origin".to_owned()),
        ];
        headers.extend(encoding.map(|encoding| ("Content-Encoding", encoding.to_owned())));
        Ok(Response { status: 200, headers, body: Body::Blob(blob) })
    }
}

/// Of an image that is read from a store, which sends no policy along: an SVG is no page there.
pub(super) fn direct_disposition(name: &str, media_type: &str) -> String {
    disposition(if media_type == Format::Svg.media_type() { "attachment" } else { "inline" }, name)
}

/// By RFC 6266: a name that every browser reads, and the true one.
fn disposition(kind: &str, name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_graphic() && !"\"\\%;".contains(c) || c == ' ' { c } else { '_' }).collect();
    format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{}", percent_encoded(name))
}

/// All but the unreserved characters of RFC 3986 as `%XX`.
fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_with_and_without_its_name() {
        let fresh = fresh_link();
        let path = path(fresh, "a b/ü.jpg");
        assert!(path.ends_with("/a%20b%2F%C3%BC.jpg"));
        assert_eq!(link(&path), Some(fresh));
        assert_eq!(link(path.split('/').next().unwrap()), Some(fresh));
        for other in ["", "/", "abc", "../..", &"A".repeat(23), &"A".repeat(21)] {
            assert_eq!(link(other), None, "{other}");
        }
    }

    #[test]
    fn an_svg_in_a_store_is_no_page() {
        assert!(direct_disposition("a.svg", "image/svg+xml").starts_with("attachment; filename=\"a.svg\""));
        assert!(direct_disposition("a.png", "image/png").starts_with("inline; filename=\"a.png\""));
    }

    #[test]
    fn names_cannot_break_out_of_the_header() {
        assert_eq!(
            disposition("inline", "a\"b\r\n;ü.svg"),
            "inline; filename=\"a_b___\u{5f}.svg\"; filename*=UTF-8''a%22b%0D%0A%3B%C3%BC.svg"
        );
    }
}
