//! Volatile images: where they are, and how they are handed out.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    Inner, Service,
    response::{Body, Problem, Response},
    seal::random,
};
use crate::{
    clock::Timestamp,
    format::{Format, content_encoding},
    percent,
    port::{
        self, OpenBlob,
        ledger::{Image, Link},
    },
};

/// A fresh address: 128 random bits.
pub(super) fn fresh_link() -> Link {
    Link(u128::from_be_bytes(random()))
}

/// What follows `<public_url>/volatile/`.
pub(super) fn path(link: Link, name: &str) -> String {
    format!("{}/{}", URL_SAFE_NO_PAD.encode(link.0.to_be_bytes()), percent::encode(name, b""))
}

/// The link in what follows `/volatile/`; the name after it is for people.
fn link(rest: &str) -> Option<Link> {
    let text = rest.split('/').next()?;
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    Some(Link(u128::from_be_bytes(bytes.try_into().ok()?)))
}

/// The image at a volatile address.
#[derive(Debug)]
#[non_exhaustive]
pub struct Volatile {
    /// Its file name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its `Content-Encoding`: that of a gzipped SVG.
    pub encoding: Option<&'static str>,
    /// From then on it is gone.
    pub expires: Timestamp,
    /// Its bytes.
    pub blob: OpenBlob,
}

impl Service {
    /// The image at the `url` of a result, for hosts that do not serve it by HTTP; `None` where there is none, or none any more,
    /// or where it lies in a client's storage or is handed out by that of the blobs.
    ///
    /// # Errors
    /// Those of the ledger and of the blobs.
    pub async fn volatile(&self, url: &str) -> port::Result<Option<Volatile>> {
        let ours = url.strip_prefix(&self.0.settings.public_url).and_then(|rest| rest.strip_prefix("/volatile/"));
        match ours {
            Some(rest) => self.0.volatile(rest).await,
            None => Ok(None),
        }
    }
}

impl Inner {
    async fn volatile(&self, rest: &str) -> port::Result<Option<Volatile>> {
        let Some(link) = link(rest) else { return Ok(None) };
        let Some(image) = self.ports.ledger.image(link, self.now()).await? else { return Ok(None) };
        let Image { blob, name, media_type, expires, .. } = image;
        let Some(blob) = self.ports.blobs.open(blob).await? else { return Ok(None) };
        let encoding = content_encoding(&media_type, &name);
        Ok(Some(Volatile { name, media_type, encoding, expires, blob }))
    }

    pub(super) async fn image(&self, rest: &str) -> Result<Response, Problem> {
        let gone = || Problem::new(404, "there is no image at this address, or its time is over");
        let Volatile { name, media_type, encoding, expires, blob } = self.volatile(rest).await?.ok_or_else(gone)?;
        let left = expires.since(self.now()).as_secs();
        let mut headers = vec![
            ("Content-Type", media_type),
            ("Content-Length", blob.len.to_string()),
            ("Content-Disposition", disposition("inline", &name)),
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
    format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{}", percent::encode(name, b""))
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
