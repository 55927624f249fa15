//! What a part of a form is called (RFC 7578, section 4.2).

use crate::percent;

/// The parameters of a `Content-Disposition` that matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Disposition {
    pub(super) name: Option<String>,
    pub(super) file_name: Option<String>,
}

impl Disposition {
    /// Reads a header's value. Of parameters that are given twice the first counts; those that are no UTF-8 count as absent. A
    /// backslash escapes a quotation mark alone: in names of files from Windows it stands for itself. Forms should not have
    /// `filename*`, but some clients give no other name.
    pub(super) fn parse(value: &[u8]) -> Self {
        let (mut found, mut extended) = (Self::default(), None);
        let mut rest = value.iter().position(|&byte| byte == b';').map_or(&[][..], |at| &value[at..]);
        while let Some(equals) = rest.iter().position(|&byte| byte == b'=') {
            let key = rest[..equals].trim_ascii();
            let key = key.strip_prefix(b";").unwrap_or(key).trim_ascii();
            let Some((text, behind)) = text(rest[equals + 1..].trim_ascii_start()) else { break };
            let place = match key.to_ascii_lowercase().as_slice() {
                b"name" => Some(&mut found.name),
                b"filename" => Some(&mut found.file_name),
                b"filename*" => Some(&mut extended),
                _ => None,
            };
            if let (Some(place @ None), Ok(text)) = (place, String::from_utf8(text)) {
                *place = Some(text);
            }
            rest = behind.iter().position(|&byte| byte == b';').map_or(&[], |at| &behind[at..]);
        }
        found.file_name = found.file_name.or_else(|| decoded(&extended?));
        found
    }
}

/// A text with its charset and its language before it (RFC 8187), of which UTF-8 alone must be known.
fn decoded(extended: &str) -> Option<String> {
    let (charset, rest) = extended.split_once('\'')?;
    let (_, text) = rest.split_once('\'')?;
    charset.eq_ignore_ascii_case("utf-8").then(|| String::from_utf8(percent::decode(text)).ok())?
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
            ("form-data; filename*=utf-8'en'%e2%82%ac%20a.png; name=file", both("file", "€ a.png")),
            (
                "form-data; name=file; filename*=iso-8859-1''%e9.png",
                Disposition { name: Some("file".into()), file_name: None },
            ),
            ("form-data; name=file; filename*=UTF-8''%ff", Disposition { name: Some("file".into()), file_name: None }),
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
