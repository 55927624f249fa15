//! What `data:` addresses hold.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};

use crate::percent;

/// As browsers read Base64: with its padding or without.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The media type in small letters, and the bytes, percent-encoded or in Base64, without the fragment behind them; `None`
/// for another address, or where the Base64 is none.
pub(super) fn content(address: &str) -> Option<(String, Vec<u8>)> {
    let address: String = address.trim().chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let scheme = address.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
    let (head, data) = address[scheme.len()..].split_once(',')?;
    let data = percent::decode(data.split('#').next().unwrap_or(""));
    let mut parameters = head.split(';').map(str::trim);
    let kind = parameters.next().unwrap_or("").to_ascii_lowercase();
    if !parameters.next_back().is_some_and(|last| last.eq_ignore_ascii_case("base64")) {
        return Some((kind, data));
    }
    let data: Vec<u8> = data.into_iter().filter(|c| !c.is_ascii_whitespace()).collect();
    FORGIVING.decode(data).ok().map(|data| (kind, data))
}

/// The address that holds `bytes`.
pub(super) fn address(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_read_as_browsers_read_it() {
        let held = |text: &str| Some(("image/x".to_owned(), text.as_bytes().to_vec()));
        for (address, expected) in [
            (address("image/x", b"any").as_str(), held("any")),
            ("data:image/x,a%20b+%c", held("a b+%c")),
            (" DATA:IMAGE/X ; charset=x;BASE64,YW\n 55", held("any")),
            ("data:image/x;base64,YW55#view", held("any")),
            ("data:image/x;base64,YW5%35IQ%3D=", held("any!")),
            ("data:image/x;base64,YW55IQ", held("any!")),
            ("data:image/x;base64,%%", None),
            ("data:image/x", None),
            ("https://image/x,a", None),
        ] {
            assert_eq!(content(address), expected, "{address}");
        }
    }
}
