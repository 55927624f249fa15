//! The few things looked for in XMP, found as text: a packet is RDF in XML (ISO 16684-1), whose writers agree on the
//! usual prefixes.

/// The property that holds the rights statement, in several languages.
pub(super) const RIGHTS: &str = "dc:rights";
/// The property that lists the creators.
pub(super) const CREATOR: &str = "dc:creator";

const ORIENTATION: &str = "tiff:Orientation";
/// Width and height of the picture, of TIFF and of EXIF.
const SIZE: [[&str; 2]; 2] =
    [["tiff:ImageWidth", "tiff:ImageLength"], ["exif:PixelXDimension", "exif:PixelYDimension"]];
/// How many values of one property are looked at.
const VALUES: usize = 32;

/// The values of a property: an array, a plain text or an attribute, without surrounding blanks; of an array of
/// languages the default one comes first. Nothing where a packet is damaged or is not in UTF-8.
pub(super) fn values(packet: &[u8], property: &str) -> Vec<String> {
    let packet = String::from_utf8_lossy(packet);
    let found = match element(&packet, property) {
        Some(found) => items(found.content),
        None => attribute(&packet, property).map(decoded).into_iter().collect(),
    };
    found.into_iter().filter(|text| !text.is_empty()).collect()
}

/// The address of the licence of a work, as Creative Commons has it written; none of one that reserves nothing.
#[cfg(feature = "svg")]
pub(super) fn licence(text: &str) -> Option<String> {
    let address = attribute(element(text, "cc:license")?.attributes, "rdf:resource")?;
    Some(decoded(address)).filter(|address| !address.is_empty() && !address.to_lowercase().contains("publicdomain"))
}

fn items(content: &str) -> Vec<String> {
    let mut rest = content;
    let items = std::iter::from_fn(|| {
        let item = element(rest, "rdf:li")?;
        rest = item.rest;
        Some((!item.attributes.contains("x-default"), decoded(item.content)))
    });
    let mut items: Vec<_> = items.take(VALUES).collect();
    items.sort_by_key(|(other_language, _)| *other_language);
    if items.is_empty() {
        return vec![decoded(content)];
    }
    items.into_iter().map(|(_, text)| text).collect()
}

struct Element<'a> {
    attributes: &'a str,
    content: &'a str,
    /// What follows the element.
    rest: &'a str,
}

/// The first element of a name.
fn element<'a>(text: &'a str, name: &str) -> Option<Element<'a>> {
    let opening = format!("<{name}");
    let begins = |at: &usize| text[at + opening.len()..].starts_with([' ', '\t', '\r', '\n', '>', '/']);
    let at = text.match_indices(&opening).map(|(at, _)| at).find(begins)?;
    let (attributes, behind) = text[at + opening.len()..].split_once('>')?;
    if attributes.ends_with('/') {
        return Some(Element { attributes, content: "", rest: behind });
    }
    let (content, rest) = behind.split_once(&format!("</{name}"))?;
    Some(Element { attributes, content, rest })
}

/// The value of the first attribute of a name, undecoded.
fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.match_indices(name).find_map(|(at, _)| {
        let value = text[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        value[1..].split(quote).next()
    })
}

/// Text without markup, with the characters that entities stand for, without surrounding blanks.
fn decoded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    // What closes nothing here closes nothing further on: looking again for every opening would take for ever.
    let (mut tags_close, mut entities_close) = (true, true);
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        let is_tag = rest[at..].starts_with('<');
        let (close, closes) = if is_tag { ('>', &mut tags_close) } else { (';', &mut entities_close) };
        rest = &rest[at + 1..];
        let found = if *closes { rest.split_once(close) } else { None };
        *closes = found.is_some();
        if let Some((markup, behind)) = found {
            out.extend(entity(markup).filter(|_| !is_tag));
            rest = behind;
        }
    }
    out.push_str(rest);
    out.retain(|c| c != '\0');
    out.trim().to_owned()
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// The packet of a picture that is upright and of this size, where it tells either.
pub(super) fn drawn(packet: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let sizes = SIZE.into_iter().flat_map(|[across, down]| [(across, width), (down, height)]);
    sizes.fold(with(packet, ORIENTATION, 1), |packet, (property, value)| with(&packet, property, value))
}

/// The packet with another number wherever it has one for a property.
fn with(packet: &[u8], property: &str, value: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(packet.len());
    let mut rest = packet;
    while let Some(at) = rest.windows(property.len()).position(|window| window == property.as_bytes()) {
        let (before, behind) = rest.split_at(at + property.len());
        let (gap, old) = behind.split_at(value_begins(behind));
        let digits = old.iter().take_while(|byte| byte.is_ascii_digit()).count();
        out.extend_from_slice(before);
        out.extend_from_slice(gap);
        if digits > 0 {
            out.extend(value.to_string().into_bytes());
        }
        rest = &old[digits..];
    }
    out.extend_from_slice(rest);
    out
}

/// Where the value begins behind a property's name: behind `="` in an attribute, behind `>` of an element.
fn value_begins(text: &[u8]) -> usize {
    let blanks = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = blanks(0);
    if text.get(at) == Some(&b'=') {
        let quote = at + 1 + blanks(at + 1);
        return (quote + 1).min(text.len());
    }
    let open = text.iter().position(|&byte| byte == b'>').map_or(text.len(), |at| at + 1);
    open + blanks(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_as_arrays_plain_texts_and_attributes() {
        let seq = b"<dc:creator><rdf:Seq><rdf:li>Ada</rdf:li>\n<rdf:li> Bo </rdf:li></rdf:Seq></dc:creator>";
        assert_eq!(values(seq, CREATOR), ["Ada", "Bo"]);
        assert_eq!(values(b"<dc:rights>(c) Ada</dc:rights>", RIGHTS), ["(c) Ada"]);
        assert_eq!(values(b"<rdf:Description dc:rights = '(c) \"Ada\"' x='y'/>", RIGHTS), ["(c) \"Ada\""]);
    }

    #[test]
    fn the_default_language_comes_first() {
        let alt = b"<dc:rights><rdf:Alt><rdf:li xml:lang='de'>Alle Rechte</rdf:li>\
            <rdf:li xml:lang='x-default'>All rights</rdf:li></rdf:Alt></dc:rights>";
        assert_eq!(values(alt, RIGHTS), ["All rights", "Alle Rechte"]);
    }

    #[test]
    fn entities_become_characters_and_markup_goes() {
        let packet = b"<dc:rights>&#169; A &amp; B &#xe9;<b>C</b>&bogus;&#0;&</dc:rights>";
        assert_eq!(values(packet, RIGHTS), ["\u{a9} A & B \u{e9}C"]);
    }

    #[test]
    fn markup_that_never_closes_is_looked_for_once() {
        for openings in ["&", "<", "&<"] {
            let packet = format!("<dc:rights>{}(c) Ada</dc:rights>", openings.repeat(1 << 20));
            assert_eq!(values(packet.as_bytes(), RIGHTS), ["(c) Ada"]);
        }
    }

    #[test]
    fn damaged_packets_give_nothing() {
        for packet in
            [&b"<dc:rights"[..], b"<dc:rights>", b"<dc:rights/>", b"dc:rights=", b"dc:rights='", b"\xFF\xFE<\0"]
        {
            assert!(values(packet, RIGHTS).is_empty(), "{:?}", String::from_utf8_lossy(packet));
        }
    }

    #[test]
    fn orientation_and_size_are_set_in_elements_and_attributes() {
        let cases = [
            ("<x tiff:Orientation=\"6\" a='b'/>", "<x tiff:Orientation=\"1\" a='b'/>"),
            ("<x tiff:Orientation = '8'/>", "<x tiff:Orientation = '1'/>"),
            ("<tiff:Orientation> 3 </tiff:Orientation>", "<tiff:Orientation> 1 </tiff:Orientation>"),
            ("<tiff:Orientation/>", "<tiff:Orientation/>"),
            ("<x tiff:ImageWidth='9' tiff:ImageLength='8'/>", "<x tiff:ImageWidth='640' tiff:ImageLength='480'/>"),
            ("<exif:PixelXDimension>9</exif:PixelXDimension>", "<exif:PixelXDimension>640</exif:PixelXDimension>"),
            ("<x exif:PixelYDimension='9000'/>", "<x exif:PixelYDimension='480'/>"),
            ("tiff:Orientation=", "tiff:Orientation="),
            ("tiff:Orientation", "tiff:Orientation"),
        ];
        for (packet, expected) in cases {
            assert_eq!(String::from_utf8(drawn(packet.as_bytes(), (640, 480))).unwrap(), expected);
        }
    }
}
