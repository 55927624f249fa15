//! Web addresses, which may carry secrets.

use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
};

use serde::{Deserialize, Serialize};

use super::{Secret, json::Json, read::Fields, show::quoted};
use crate::percent;

/// The address of an image or a webhook. Any text can be put in; whether it is an address is asked when the request
/// is validated. Prints without user, password, query and fragment, which may be secrets.
/// Serialises in clear.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Url(Secret);

impl Url {
    /// The text in clear.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The host as it is written; `None` for a text that is no web address.
    pub fn host(&self) -> Option<&str> {
        Parts::of(self.expose()).map(|parts| parts.host)
    }

    /// Scheme, host and port: `https://a.com:443`. Case, escapes, a full stop at the host's end, and the numbers that an
    /// address is written in make no difference; whether letters beyond ASCII are written as such or in Punycode does. `None`
    /// for a text that is no web address.
    pub fn origin(&self) -> Option<String> {
        let Parts { scheme, host, port, .. } = Parts::of(self.expose())?;
        let scheme = scheme.to_ascii_lowercase();
        let usual = if scheme == "https" { 443 } else { 80 };
        let port = port.and_then(|port| port.parse::<u16>().ok()).unwrap_or(usual);
        Some(format!("{scheme}://{}:{port}", one_spelling(host)))
    }

    /// What a violation shows of it: [redacted](Self::redacted), as JSON, and cut off where it is long.
    pub(crate) fn shown(&self) -> String {
        quoted(&self.redacted())
    }

    /// The text with user, password, query and fragment as `***`. Of a text that is no web address everything before
    /// its last `@` is hidden. One that is escaped counts, too.
    pub fn redacted(&self) -> String {
        let text = self.expose();
        let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
        let may_hold_user = if Parts::of(text).is_some() { split_authority(rest).0.len() } else { rest.len() };
        let behind = |mark: &str| rest[..may_hold_user].rfind(mark).map_or(0, |at| at + mark.len());
        let hidden = behind("@").max(behind("%40"));
        let shown = &rest[hidden..];
        let end = shown.find(['?', '#']);
        [
            scheme.unwrap_or_default(),
            if scheme.is_some() { "://" } else { "" },
            if hidden > 0 { "***@" } else { "" },
            end.map_or(shown, |end| &shown[..=end]),
            if end.is_some() { "***" } else { "" },
        ]
        .concat()
    }
}

/// Bytes of an address at most. Servers take some 8,000.
const MOST_BYTES: usize = 16 << 10;

/// Notes that `url` is longer than any address may be.
pub(super) fn refuse_long(fields: &mut Fields<'_>) {
    let bytes = fields.text_bytes("url");
    if bytes > MOST_BYTES {
        fields.refuse("url", Some(format!("{bytes} bytes")), format!("must have at most {MOST_BYTES} bytes"));
    }
}

/// Whether `text` is an http or https address with a host, as browsers take it, letters beyond ASCII and blanks inside
/// included. Whoever fetches may refuse more, as the service's own client does with blanks.
pub(super) fn is_web_address(text: &str) -> bool {
    // Clients disagree on whether a backslash ends the host, so none may decide it.
    let confuses = |c: char| c.is_control() || c == '\\';
    text.trim() == text && !text.contains(confuses) && Parts::of(text).is_some()
}

/// Whether `text` is a [web address](is_web_address) to the letter of RFC 3986.
pub(super) fn is_strict_web_address(text: &str) -> bool {
    const MARKS: &[u8] = b"-._~:/?@!$&'()*+,;=%";
    let Some(parts) = Parts::of(text) else { return false };
    let (rest, fragment) = parts.rest.split_once('#').unwrap_or((parts.rest, ""));
    let legal = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || MARKS.contains(&b));
    let escapes_are_hex =
        text.split('%').skip(1).all(|escape| escape.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2);
    is_web_address(text)
        && parts.host.is_ascii()
        && legal(parts.user)
        && !parts.user.contains('@')
        && legal(rest)
        && legal(fragment)
        && escapes_are_hex
}

/// A web address in pieces.
struct Parts<'a> {
    scheme: &'a str,
    /// `user:password`; empty where there is none.
    user: &'a str,
    host: &'a str,
    port: Option<&'a str>,
    /// Path, query and fragment.
    rest: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return None;
        }
        let (authority, rest) = split_authority(rest);
        let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        // The colons of an IPv6 address are inside its brackets.
        let port_at = place.rfind(':').filter(|&colon| place.rfind(']').is_none_or(|bracket| bracket < colon));
        let (host, port) = port_at.map_or((place, None), |colon| (&place[..colon], Some(&place[colon + 1..])));
        let parts = Self { scheme, user, host, port, rest };
        (parts.host_is_valid() && parts.port_is_valid()).then_some(parts)
    }

    fn host_is_valid(&self) -> bool {
        const MARKS: &str = "-._~!$&'()*+,;=%";
        if let Some(address) = self.host.strip_prefix('[') {
            return address.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
        }
        !self.host.is_empty()
            && self.host.chars().all(|c| {
                c.is_ascii_alphanumeric() || MARKS.contains(c) || !(c.is_ascii() || c.is_control() || c.is_whitespace())
            })
    }

    fn port_is_valid(&self) -> bool {
        self.port.is_none_or(|port| {
            // RFC 3986 lets the digits be absent.
            port.is_empty()
                || port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
        })
    }
}

/// A host in the one spelling of all that mean the same.
fn one_spelling(host: &str) -> String {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<Ipv6Addr>() {
        return address.to_ipv4_mapped().map_or_else(|| format!("[{address}]"), |mapped| mapped.to_string());
    }
    let name = String::from_utf8(percent::decode(host)).unwrap_or_else(|_| host.to_owned()).to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    ipv4(name).map_or_else(|| name.to_owned(), |address| address.to_string())
}

/// The address that browsers read in one to four numbers (WHATWG's URL standard, "IPv4 parser"), the last of which stands for
/// all octets that are left.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let mut numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let rest = numbers.pop()?;
    let room = 32_usize.checked_sub(8 * numbers.len()).filter(|bits| *bits > 0)?;
    if numbers.iter().any(|octet| *octet > 255) || u64::from(rest) >= 1 << room {
        return None;
    }
    let octets = numbers.into_iter().zip([24, 16, 8]).map(|(octet, place)| octet << place);
    Some(Ipv4Addr::from_bits(octets.sum::<u32>() + rest))
}

/// Hexadecimal behind `0x`, octal behind another `0`.
fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(""), _) | (_, Some("")) => ("0", 10),
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) => (digits, 8),
        (None, None) => (text, 10),
    };
    let is_plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    u32::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

/// Authority, and what follows it.
fn split_authority(text: &str) -> (&str, &str) {
    text.split_at(text.find(['/', '?', '#']).unwrap_or(text.len()))
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.redacted(), f)
    }
}

impl From<&str> for Url {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Url {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<Secret> for Url {
    fn from(text: Secret) -> Self {
        Self(text)
    }
}

impl From<&Url> for Json {
    fn from(url: &Url) -> Self {
        Self::Text(url.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_addresses_with_a_host_are_taken() {
        for text in [
            "http://a",
            "https://example.com/a/b.jpg?x=1&y=%20#top",
            "HTTPS://user:p%40ss@example.com:8443/",
            "http://[2001:db8::1]:80/a",
            "http://127.0.0.1?x",
            "http://a:/",
            "http://under_score.example/~x/(1)'!*;,=:@",
        ] {
            assert!(is_web_address(text) && is_strict_web_address(text), "{text}");
        }
    }

    #[test]
    fn what_browsers_would_encode_is_taken_for_images_but_is_not_rfc_3986() {
        for text in [
            "https://bücher.example/größe 1.jpg",
            "https://a/x|y^z`{}\"<>.jpg",
            "https://a/100%.jpg",
            "https://a/%4",
            "https://a/#b#c",
            "https://me@mail.example:pw@a/",
            "https://a/[1].jpg",
        ] {
            assert!(is_web_address(text) && !is_strict_web_address(text), "{text}");
        }
    }

    #[test]
    fn who_asks_is_hidden_where_the_mark_behind_is_escaped_too() {
        for text in ["http://u:sekret%40h/x", "u:sekret%40h", "http://u:sekret@h/x%40y"] {
            let shown = Url::from(text).redacted();
            assert!(!shown.contains("sekret") && shown.contains("***@h"), "{text}: {shown}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "wide",
            "/a.jpg",
            "//a/b.jpg",
            "a.example/b.jpg",
            "http:a",
            "http:///a.jpg",
            "http://",
            "http://?x",
            "http://user@/a",
            "http://:80/",
            "ftp://a/b",
            "file:///etc/passwd",
            "data:image/png;base64,AAAA",
            "javascript://a/%0aalert(1)",
            "http://a:99999/",
            "http://a:0/",
            "http://a:+1/",
            "http://a:b@c:d/",
            "http://[::1/",
            "http://[::1]x/",
            "http://[nonsense]/",
            "http://a b/",
            " http://a/",
            "http://a/ ",
            "http://a/\n",
            "http://a/\0",
            "http://a\\@b/",
            "http://a/\\b",
        ] {
            assert!(!is_web_address(text) && !is_strict_web_address(text), "{text:?}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port_in_one_spelling() {
        for (text, origin) in [
            ("https://Example.com/a?b", Some("https://example.com:443")),
            ("HTTPS://user:pass@example.com:443", Some("https://example.com:443")),
            ("http://example.com:/", Some("http://example.com:80")),
            ("http://example.com:8080/", Some("http://example.com:8080")),
            ("http://example.com./", Some("http://example.com:80")),
            ("http://[2001:DB8::1]/", Some("http://[2001:db8::1]:80")),
            ("http://[2001:db8:0:0:0:0:0:1]/", Some("http://[2001:db8::1]:80")),
            ("http://[::ffff:1.2.3.4]/", Some("http://1.2.3.4:80")),
            ("http://1.2.3.4./", Some("http://1.2.3.4:80")),
            ("http://16909060/", Some("http://1.2.3.4:80")),
            ("http://0X1.2.0x304/", Some("http://1.2.3.4:80")),
            ("http://01.0x2.3.%34/", Some("http://1.2.3.4:80")),
            ("http://0/", Some("http://0.0.0.0:80")),
            ("http://4294967295/", Some("http://255.255.255.255:80")),
            ("http://1.2.3.256/", Some("http://1.2.3.256:80")),
            ("http://1.2.3.4.5/", Some("http://1.2.3.4.5:80")),
            ("http://1.2.3.+4/", Some("http://1.2.3.+4:80")),
            ("http://08.1/", Some("http://08.1:80")),
            ("http://%65x%61MPLE.com/", Some("http://example.com:80")),
            ("http://a%ff.com/", Some("http://a%ff.com:80")),
            ("wide", None),
        ] {
            assert_eq!(Url::from(text).origin().as_deref(), origin, "{text}");
        }
    }

    #[test]
    fn printing_hides_user_password_query_and_fragment() {
        for (text, printed) in [
            ("https://example.com/a.jpg", "https://example.com/a.jpg"),
            ("https://user:pass@example.com:81/a?token=1#x", "https://***@example.com:81/a?***"),
            ("https://user:pass@example.com", "https://***@example.com"),
            ("https://example.com#token", "https://example.com#***"),
            ("https://example.com/img@2x.png?sig=@", "https://example.com/img@2x.png?***"),
            ("ftp://user:pass@host/x?sig=1", "ftp://***@host/x?***"),
            ("http://user:p/a?ss@host/x", "http://***@host/x"),
            ("user:pass@host", "***@host"),
            ("wide", "wide"),
            ("", ""),
        ] {
            let url = Url::from(text);
            assert_eq!(url.to_string(), printed);
            assert_eq!(format!("{url:?}"), format!("{printed:?}"));
            assert_eq!(url.expose(), text);
        }
    }
}
