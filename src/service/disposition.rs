//! What a part of a form is called (RFC 7578, section 4.2).

/// The parameters of a `Content-Disposition` that matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Disposition {
    pub(super) name: Option<String>,
    pub(super) file_name: Option<String>,
}

impl Disposition {
    /// Reads a header's value. Of parameters that are given twice the first counts; those that are no UTF-8 count as absent. A
    /// backslash escapes a quotation mark alone: in names of files from Windows it stands for itself.
    pub(super) fn parse(value: &[u8]) -> Self {
        let mut found = Self::default();
        let mut rest = value.iter().position(|&byte| byte == b';').map_or(&[][..], |at| &value[at..]);
        while let Some(equals) = rest.iter().position(|&byte| byte == b'=') {
            let key = rest[..equals].trim_ascii();
            let key = key.strip_prefix(b";").unwrap_or(key).trim_ascii();
            let Some((text, behind)) = text(rest[equals + 1..].trim_ascii_start()) else { break };
            let place = match key.to_ascii_lowercase().as_slice() {
                b"name" => Some(&mut found.name),
                b"filename" => Some(&mut found.file_name),
                _ => None,
            };
            if let (Some(place @ None), Ok(text)) = (place, String::from_utf8(text)) {
                *place = Some(text);
            }
            rest = behind.iter().position(|&byte| byte == b';').map_or(&[], |at| &behind[at..]);
        }
        found
    }
}

/// A word or a quoted text, and what stands behind it.
fn text(value: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let Some(quoted) = value.strip_prefix(b"\"") else {
        let ends = |byte: &u8| *byte == b';' || byte.is_ascii_whitespace();
        let (word, behind) = value.split_at(value.iter().position(ends).unwrap_or(value.len()));
        return Some((word.to_vec(), behind));
    };
    let (mut text, mut rest) = (Vec::new(), quoted);
    loop {
        match rest {
            [b'\\', b'"', behind @ ..] => {
                text.push(b'"');
                rest = behind;
            }
            [b'"', behind @ ..] => return Some((text, behind)),
            [byte, behind @ ..] => {
                text.push(*byte);
                rest = behind;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_order_and_never_within_one_another() {
        let both = |name: &str, file: &str| Disposition { name: Some(name.into()), file_name: Some(file.into()) };
        for (value, expected) in [
            ("form-data; name=\"file\"; filename=\"a b.png\"", both("file", "a b.png")),
            ("form-data; filename=\"holiday name=data.png\"; name=\"file\"", both("file", "holiday name=data.png")),
            ("form-data; filename=\"x;name=data;.png\" ; name = file", both("file", "x;name=data;.png")),
            ("form-data;NAME=file;FileName=\"a \\\"b\\\"; name=c\"", both("file", "a \"b\"; name=c")),
            ("form-data; name=\"file\"; filename=\"C:\\dir\\a.png\"; name=\"data\"", both("file", "C:\\dir\\a.png")),
            ("form-data; filename*=UTF-8''x; name=file; filename=ü", both("file", "ü")),
            ("form-data; name=\"file\"; filename=\"", Disposition { name: Some("file".into()), file_name: None }),
            ("name=file", Disposition::default()),
            ("form-data; name", Disposition::default()),
            ("", Disposition::default()),
        ] {
            assert_eq!(Disposition::parse(value.as_bytes()), expected, "{value}");
        }
        assert_eq!(Disposition::parse(b"form-data; name=\"\xFF\"; filename=\xFF"), Disposition::default());
    }
}
