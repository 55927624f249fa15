//! Author and copyright notices, wherever a file keeps them.

#[cfg(feature = "gif")]
use super::text_of;
use super::{Metadata, exif, iptc, tiff::Tiff, xmp};

/// One notice by its names in every place.
struct Notice {
    exif_tag: u16,
    xmp_property: &'static str,
    iptc_data_set: (u8, u8),
    /// Keyword of a PNG text chunk, in whatever case.
    keyword: &'static str,
    /// How many texts of one place count: every author, but one language of a statement.
    texts: usize,
}

const NOTICES: [Notice; 2] = [
    Notice {
        exif_tag: exif::ARTIST,
        xmp_property: xmp::CREATOR,
        iptc_data_set: iptc::BY_LINE,
        keyword: "Author",
        texts: usize::MAX,
    },
    Notice {
        exif_tag: exif::COPYRIGHT,
        xmp_property: xmp::RIGHTS,
        iptc_data_set: iptc::COPYRIGHT_NOTICE,
        keyword: "Copyright",
        texts: 1,
    },
];

/// EXIF tag and text of the notices in `metadata`, whose EXIF is `source`.
pub(super) fn of(metadata: &Metadata, source: Option<Tiff<'_>>) -> Vec<(u16, Vec<u8>)> {
    let text = |notice: &Notice| Some((notice.exif_tag, notice.text(metadata, source)?));
    NOTICES.iter().filter_map(text).collect()
}

/// The same of those that neither EXIF nor XMP has.
pub(super) fn elsewhere(metadata: &Metadata, source: Option<Tiff<'_>>) -> Vec<(u16, Vec<u8>)> {
    let is_there = |notice: &Notice| {
        source.is_some_and(|tiff| exif::notice(&tiff, notice.exif_tag).is_some()) || notice.is_in_xmp(metadata)
    };
    let text = |notice: &Notice| Some((notice.exif_tag, notice.outside_exif(metadata)?));
    NOTICES.iter().filter(|notice| !is_there(notice)).filter_map(text).collect()
}

/// Keyword and text of those that neither plain texts nor XMP have.
#[cfg(feature = "gif")]
pub(super) fn unsaid(metadata: &Metadata, source: Option<Tiff<'_>>) -> Vec<(String, String)> {
    let said = |notice: &&Notice| {
        let is_text = |(keyword, _): &(String, String)| keyword.eq_ignore_ascii_case(notice.keyword);
        notice.is_in_xmp(metadata) || metadata.texts.iter().any(is_text)
    };
    let text = |notice: &Notice| Some((notice.keyword.to_owned(), text_of(notice.text(metadata, source)?)));
    NOTICES.iter().filter(|notice| !said(notice)).filter_map(text).collect()
}

/// Keyword and text of those that RDF tells with the usual prefixes. A licence is a statement of rights, too.
#[cfg(feature = "svg")]
pub(crate) fn in_rdf(text: &str) -> Vec<(String, String)> {
    let told = |notice: &Notice| {
        let mut texts = xmp::values(text.as_bytes(), notice.xmp_property);
        texts.truncate(notice.texts);
        texts.extend(xmp::licence(text).filter(|_| notice.exif_tag == exif::COPYRIGHT));
        (!texts.is_empty()).then(|| (notice.keyword.to_owned(), texts.join("; ")))
    };
    NOTICES.iter().filter_map(told).collect()
}

/// Whether a plain text under `keyword` is one.
pub(super) fn is_notice(keyword: &str) -> bool {
    NOTICES.iter().any(|notice| keyword.eq_ignore_ascii_case(notice.keyword))
}

impl Notice {
    fn is_in_xmp(&self, metadata: &Metadata) -> bool {
        metadata.xmp.as_deref().is_some_and(|xmp| !xmp::values(xmp, self.xmp_property).is_empty())
    }

    /// The text in the first place that has any, EXIF before others.
    fn text(&self, metadata: &Metadata, source: Option<Tiff<'_>>) -> Option<Vec<u8>> {
        let in_exif = source.and_then(|tiff| exif::notice(&tiff, self.exif_tag));
        in_exif.or_else(|| self.outside_exif(metadata))
    }

    /// The text in the first place that has any.
    fn outside_exif(&self, metadata: &Metadata) -> Option<Vec<u8>> {
        let in_xmp = || metadata.xmp.as_deref().map(|xmp| xmp::values(xmp, self.xmp_property));
        let in_iptc = || metadata.iptc.as_deref().map(|iptc| iptc::texts(iptc, self.iptc_data_set));
        let plain = || {
            let matching = metadata.texts.iter().filter(|(name, _)| name.eq_ignore_ascii_case(self.keyword));
            Some(matching.map(|(_, text)| text.trim().to_owned()).filter(|text| !text.is_empty()).collect())
        };
        let places: [&dyn Fn() -> Option<Vec<String>>; 3] = [&in_xmp, &in_iptc, &plain];
        let texts = places.iter().filter_map(|place| place()).find(|texts| !texts.is_empty())?;
        Some(exif::shortened(texts[..texts.len().min(self.texts)].join("; ").as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XMP: &[u8] = b"<dc:creator><rdf:Seq><rdf:li>X</rdf:li><rdf:li>Y</rdf:li></rdf:Seq></dc:creator>";
    const IPTC: &[u8] = b"\x1C\x02\x50\0\x01I\x1C\x02\x74\0\x03(c)";

    fn plain(keyword: &str, text: &str) -> Vec<(String, String)> {
        vec![(keyword.into(), text.into())]
    }

    #[test]
    fn xmp_comes_before_iptc_and_iptc_before_plain_texts() {
        let all = Metadata {
            xmp: Some(XMP.into()),
            iptc: Some(IPTC.into()),
            texts: plain("Author", "P"),
            ..Metadata::default()
        };
        let expected = vec![(exif::ARTIST, b"X; Y".to_vec()), (exif::COPYRIGHT, b"(c)".to_vec())];
        assert_eq!(of(&all, None), expected);
        let without_xmp = Metadata { xmp: None, ..all.clone() };
        assert_eq!(of(&without_xmp, None)[0].1, b"I");
        let plain_only = Metadata { iptc: None, ..without_xmp };
        assert_eq!(of(&plain_only, None), [(exif::ARTIST, b"P".to_vec())]);
    }

    #[test]
    fn keywords_of_plain_texts_are_matched_without_case_and_other_keywords_are_no_notices() {
        let of_keyword = |keyword| of(&Metadata { texts: plain(keyword, " T "), ..Metadata::default() }, None);
        assert_eq!(of_keyword("COPYRIGHT"), [(exif::COPYRIGHT, b"T".to_vec())]);
        assert!(of_keyword("Software").is_empty());
    }

    #[test]
    fn of_several_languages_only_the_first_is_taken() {
        let xmp = b"<dc:rights><rdf:Alt><rdf:li>A</rdf:li><rdf:li>B</rdf:li></rdf:Alt></dc:rights>";
        assert_eq!(of(&Metadata { xmp: Some(xmp.to_vec()), ..Metadata::default() }, None)[0].1, b"A");
    }
}
