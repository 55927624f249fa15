//! Percent-encoding, as of RFC 3986.

/// The octets that a part of an address stands for; `%` without two hexadecimal digits stands for itself.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let (octet, left) = match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => ((high << 4 | low) as u8, &after[2..]),
            _ => (first, after),
        };
        octets.push(octet);
        rest = left;
    }
    octets
}

/// All but letters, digits, `-._~` and what is in `kept` as `%XX`.
#[cfg(feature = "service")]
pub(crate) fn encode(text: &str, kept: &[u8]) -> String {
    text.bytes().fold(String::new(), |mut encoded, octet| {
        if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) || kept.contains(&octet) {
            encoded.push(char::from(octet));
        } else {
            encoded.push_str(&format!("%{octet:02X}"));
        }
        encoded
    })
}

#[cfg(all(test, feature = "service"))]
mod tests {
    use super::*;

    #[test]
    fn all_but_unreserved_characters_are_encoded_and_read_back() {
        assert_eq!(encode("p/a b+ü~$.webp", b"/"), "p/a%20b%2B%C3%BC~%24.webp");
        assert_eq!(encode("a/b", b""), "a%2Fb");
        assert_eq!(decode("p/a%20b%2b%C3%BC~%24.webp"), "p/a b+ü~$.webp".as_bytes());
        assert_eq!(decode("100%, %2, %zz"), b"100%, %2, %zz");
    }
}
