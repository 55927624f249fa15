//! Rules of HTTP header fields, by RFC 9110.

use std::borrow::Cow;

use super::Secret;

/// An entry of `headers`: what a client may add to the fetch of its image.
pub(super) fn fetch_header(name: &str, value: &str) -> Result<(String, Secret), Cow<'static, str>> {
    if !is_name(name) {
        Err("must be named by an HTTP token".into())
    } else if is_hop_by_hop(name) {
        Err("must not be a hop-by-hop header".into())
    } else if ["host", "content-length", "accept-encoding"].iter().any(|set| name.eq_ignore_ascii_case(set)) {
        Err("must not be set, it follows from the request".into())
    } else if !is_value(value) {
        Err("must be a string without control characters".into())
    } else {
        Ok((name.into(), value.into()))
    }
}

/// Whether `name` is a token.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Whether `value` can stand in a header line.
pub(super) fn is_value(value: &str) -> bool {
    !value.chars().any(char::is_control)
}

fn is_hop_by_hop(name: &str) -> bool {
    const NAMES: [&str; 6] = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
    let name = name.to_ascii_lowercase();
    name.starts_with("proxy-") || NAMES.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_to_end_headers_are_taken_as_they_are() {
        for (name, value) in [
            ("Authorization", "Bearer x"),
            ("X-Ünlike".replace('Ü', "U").as_str(), "gr\u{fc}n"),
            ("a!#$%&'*+-.^_`|~9", ""),
            ("Referer", "https://a/"),
            ("Hosts", "x"),
            ("Teapot", "x"),
        ] {
            assert_eq!(fetch_header(name, value), Ok((name.into(), value.into())));
        }
    }

    #[test]
    fn headers_that_steer_the_connection_are_refused_in_any_case() {
        for name in [
            "Connection",
            "KEEP-ALIVE",
            "Proxy-Authorization",
            "proxy-connection",
            "TE",
            "Trailer",
            "Transfer-Encoding",
            "upgrade",
            "Host",
            "Content-Length",
            "Accept-Encoding",
        ] {
            assert!(fetch_header(name, "x").is_err(), "{name}");
        }
    }

    #[test]
    fn names_that_are_no_tokens_and_values_with_control_characters_are_refused() {
        for name in ["", "a b", "a:", "ä", "a\n", "(a)", "\"a\""] {
            assert!(fetch_header(name, "x").is_err(), "{name:?}");
        }
        for value in ["a\r\nX: y", "\0", "\t", "\u{7f}", "\u{85}"] {
            assert!(fetch_header("X", value).is_err(), "{value:?}");
        }
    }
}
