//! IPTC records as Photoshop wraps them: among image resources (Adobe Photoshop File Formats Specification).

/// The resource that holds IPTC-IIM records.
const RECORDS: u16 = 0x0404;

/// The IPTC records among `resources`; `None` if there are none up to the first resource that is damaged.
pub(crate) fn records(resources: &[u8]) -> Option<&[u8]> {
    let mut rest = resources;
    while let Some((id, data, next)) = resource(rest) {
        if id == RECORDS && !data.is_empty() {
            return Some(data);
        }
        rest = next;
    }
    None
}

/// The first resource: its number, its data, and what follows. Names and data are padded to even lengths.
fn resource(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let rest = bytes.strip_prefix(b"8BIM")?;
    let (id, rest) = rest.split_first_chunk::<2>()?;
    let name = usize::from(*rest.first()?) + 1;
    let rest = rest.get(name.next_multiple_of(2)..)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (data, next) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((u16::from_be_bytes(*id), data, next.get(data.len() % 2..).unwrap_or(&[])))
}

/// IPTC records as the only resource, with an empty name.
pub(crate) fn resources(records: &[u8]) -> Vec<u8> {
    let head = [b"8BIM", &RECORDS.to_be_bytes()[..], &[0, 0], &(records.len() as u32).to_be_bytes()].concat();
    [&head, records, &[0][..records.len() % 2]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_out_of_resources() {
        for wanted in [&b"\x1C\x02\x74\0\x03abc"[..], b"\x1C\x02\x74\0\x02ab"] {
            let other = b"8BIM\x04\x0B\x03url\0\0\0\x01x\0";
            assert_eq!(records(&resources(wanted)), Some(wanted));
            assert_eq!(records(&[other, &resources(wanted)[..]].concat()), Some(wanted));
            assert_eq!(records(other), None);
        }
        assert_eq!(records(b"8BIM\x04\x04\0\0\xFF\xFF\xFF\xFFab"), None);
    }
}
