//! Texts in IPTC-IIM records (IIM 4.2).

/// By-line, the name of the creator; may occur more than once.
pub(super) const BY_LINE: (u8, u8) = (2, 80);
/// Copyright notice.
pub(super) const COPYRIGHT_NOTICE: (u8, u8) = (2, 116);

const CODED_CHARACTER_SET: (u8, u8) = (1, 90);
/// The escape sequence that announces UTF-8.
const UTF8: &[u8] = b"\x1B%G";
/// Begins every data set.
const TAG_MARKER: u8 = 0x1C;

/// The texts of a data set (record and number), in their order, without surrounding blanks; none for damaged records.
pub(super) fn texts(records: &[u8], wanted: (u8, u8)) -> Vec<String> {
    let utf8 = data_sets(records).any(|(name, value)| name == CODED_CHARACTER_SET && value.starts_with(UTF8));
    let values = data_sets(records).filter(|(name, _)| *name == wanted).map(|(_, value)| decoded(value, utf8));
    values.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

/// Name and value of the data sets, up to the first that is damaged or cut.
fn data_sets(records: &[u8]) -> impl Iterator<Item = ((u8, u8), &[u8])> {
    let mut rest = records;
    std::iter::from_fn(move || {
        let [TAG_MARKER, record, number, high, low, value @ ..] = rest else { return None };
        // The high bit announces a longer length field, for pictures and the like; no text needs it.
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let text = value.get(..length).filter(|_| *high < 0x80)?;
        rest = &value[length..];
        Some(((*record, *number), text))
    })
}

/// Without an announcement writers use UTF-8 or some 8-bit set, mostly Latin-1.
fn decoded(value: &[u8], utf8: bool) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) if utf8 => String::from_utf8_lossy(value).into_owned(),
        Err(_) => value.iter().map(|&byte| char::from(byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_set((record, number): (u8, u8), value: &[u8]) -> Vec<u8> {
        let mut out = vec![TAG_MARKER, record, number];
        out.extend((value.len() as u16).to_be_bytes());
        out.extend(value);
        out
    }

    #[test]
    fn every_by_line_is_read_in_its_order() {
        let records = [data_set(BY_LINE, b"Ada"), data_set((2, 5), b"Title"), data_set(BY_LINE, b" Bo ")].concat();
        assert_eq!(texts(&records, BY_LINE), ["Ada", "Bo"]);
    }

    #[test]
    fn latin_1_is_recognised_where_no_character_set_is_announced() {
        assert_eq!(texts(&data_set(COPYRIGHT_NOTICE, b"\xA9 Zo\xEB"), COPYRIGHT_NOTICE), ["© Zoë"]);
        assert_eq!(texts(&data_set(COPYRIGHT_NOTICE, "© Zoë".as_bytes()), COPYRIGHT_NOTICE), ["© Zoë"]);
        let announced = [data_set(CODED_CHARACTER_SET, UTF8), data_set(COPYRIGHT_NOTICE, b"Zo\xEB")].concat();
        assert_eq!(texts(&announced, COPYRIGHT_NOTICE), ["Zo\u{FFFD}"]);
    }

    #[test]
    fn reading_stops_at_the_first_damaged_data_set() {
        let mut records = [data_set(BY_LINE, b"Ada"), data_set(BY_LINE, b"Bo")].concat();
        records.pop();
        assert_eq!(texts(&records, BY_LINE), ["Ada"]);
        assert!(texts(&[0x1C, 2, 80, 0xFF, 0xFF, 1, 2], BY_LINE).is_empty());
        assert!(texts(b"", BY_LINE).is_empty());
    }
}
