//! What a file carries beside its pixels, and which of it survives.

mod exif;
mod iptc;
mod notices;
#[cfg(any(feature = "jpeg", feature = "png"))]
pub(crate) mod photoshop;
mod tiff;
mod xmp;

use self::tiff::Tiff;
use super::layout::Orientation;

#[cfg(feature = "png")]
pub(crate) use exif::upright;
#[cfg(any(feature = "png", feature = "webp"))]
pub(crate) use exif::with_tiff_header;
pub use exif::{orientation_alone, orientation_of_exif};
#[cfg(feature = "svg")]
pub(crate) use notices::in_rdf as notices_in_rdf;

/// A text of old, which does not say how it is coded. Latin-1 that is valid UTF-8 is taken for UTF-8, as most writers mean it.
#[cfg(any(feature = "gif", feature = "jpeg", feature = "png"))]
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect())
}

/// Keyword and text of a comment that is an author or copyright notice: one behind such a keyword, or one that claims the right.
#[cfg(any(feature = "gif", feature = "svg"))]
pub(crate) fn notice_in(comment: &str) -> Option<(String, String)> {
    let behind = comment.split_once(": ").filter(|(keyword, _)| notices::is_notice(keyword));
    let claimed = || claims(comment).then_some(("Copyright", comment));
    behind.or_else(claimed).map(|(keyword, text)| (keyword.to_owned(), text.to_owned()))
}

/// The comment that says so much of a plain text, from which [`notice_in`] reads it again.
#[cfg(any(feature = "gif", feature = "svg"))]
pub(crate) fn comment_of((keyword, text): &(String, String)) -> String {
    match keyword == "Copyright" && claims(text) && !text.contains(": ") {
        true => text.clone(),
        false => format!("{keyword}: {text}"),
    }
}

#[cfg(any(feature = "gif", feature = "svg"))]
fn claims(text: &str) -> bool {
    let text = text.to_lowercase();
    ["copyright", "(c)", "\u{A9}"].iter().any(|mark| text.contains(mark))
}

/// How a PNG tells its colours without a profile, where they are not those of sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourChunks {
    /// `cICP`: primaries, transfer function, matrix and range, numbered as in ITU-T H.273.
    Coded([u8; 4]),
    /// `gAMA` and `cHRM`, each in 1/100,000: the exponent that encodes a sample; x and y of white, red, green and blue.
    Measured(u32, Option<[u32; 8]>),
}

/// Metadata blocks as raw payloads, without the container's framing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// ICC profile.
    pub icc: Option<Vec<u8>>,
    /// What a PNG says without a profile; `icc` then tells the same as far as a profile can.
    pub colours: Option<ColourChunks>,
    /// EXIF, beginning with the TIFF header (`II*\0` or `MM\0*`).
    pub exif: Option<Vec<u8>>,
    /// XMP packet.
    pub xmp: Option<Vec<u8>>,
    /// IPTC-IIM records, without the Photoshop wrapping.
    pub iptc: Option<Vec<u8>>,
    /// Plain texts under keywords elsewhere in the file (PNG text chunks), keyword and text: author and copyright, title, software.
    pub texts: Vec<(String, String)>,
    /// Comments: JPEG COM, PNG `Comment`; a mark of [`Mark`](crate::optimize::Mark) is one of them.
    pub comments: Vec<String>,
    /// Chunks of a PNG that nothing else holds, kind and data: size of a pixel (`pHYs`), which JFIF headers tell too, and time of
    /// the last change (`tIME`).
    pub chunks: Vec<([u8; 4], Vec<u8>)>,
}

/// Which metadata a result keeps; `output.metadata` of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Author and copyright notices.
    pub copyright: bool,
    /// The profile that the delivered pixels are in.
    pub profile: bool,
    /// Dates and times of exposure.
    pub date: bool,
    /// Position (GPS).
    pub location: bool,
    /// Everything there is.
    pub all: bool,
}

impl Keep {
    /// Nothing at all.
    pub const NONE: Self = Self { copyright: false, profile: false, date: false, location: false, all: false };
    /// Author and copyright notices; what a request that says nothing gets.
    pub const COPYRIGHT: Self = Self { copyright: true, ..Self::NONE };
    /// Everything there is.
    pub const ALL: Self = Self { all: true, ..Self::NONE };
}

impl Default for Keep {
    fn default() -> Self {
        Self::COPYRIGHT
    }
}

impl Metadata {
    /// The EXIF orientation, upright where there is none.
    pub fn orientation(&self) -> Orientation {
        self.exif.as_deref().map_or(Orientation::Upright, orientation_of_exif)
    }

    /// The EXIF block for a file that holds neither IPTC nor plain texts: with what these say of author and copyright,
    /// unless this block or XMP says it.
    pub fn exif_with_notices(&self) -> Option<Vec<u8>> {
        if self.iptc.is_none() && self.texts.is_empty() {
            return self.exif.clone();
        }
        let source = self.exif.as_deref().and_then(|exif| Tiff::parse(exif::without_prefix(exif)));
        let notices = notices::elsewhere(self, source);
        match source {
            _ if notices.is_empty() => self.exif.clone(),
            Some(source) => Some(exif::with_notices(source, notices)),
            None => exif::selected(None, notices, Keep::NONE, true),
        }
    }

    /// Keyword and text of what a file that holds neither EXIF nor IPTC says in plain texts: notices first, and all that are
    /// plain texts already.
    #[cfg(feature = "gif")]
    pub(crate) fn texts_with_notices(&self) -> Vec<(String, String)> {
        let source = self.exif.as_deref().and_then(|exif| Tiff::parse(exif::without_prefix(exif)));
        let (notices, others): (Vec<_>, Vec<_>) =
            self.texts.iter().cloned().partition(|(keyword, _)| notices::is_notice(keyword));
        [notices::unsaid(self, source), notices, others].concat()
    }

    /// The same with the notices in EXIF, and no longer among the plain texts.
    pub(crate) fn with_notices_moved(self) -> Self {
        let texts = self.texts.iter().filter(|(keyword, _)| !notices::is_notice(keyword)).cloned().collect();
        Self { exif: self.exif_with_notices(), texts, ..self }
    }

    /// What survives of this under `keep`. Where pixels are untouched the profile, `colours` and the orientation tag stay, since
    /// the pixels still need them; where they were `drawn` anew, in this width and height, all are dropped (whoever converted the
    /// pixels embeds a new profile).
    ///
    /// Notices, dates and position end up in one new EXIF block of at most 64 KiB; a notice that EXIF lacks is taken
    /// from XMP, IPTC or the plain texts, in this order. `all` keeps every block as it is, but for thumbnails, for the
    /// orientation and the size of pixels that were drawn, and for EXIF that cannot be read. Keeping again what was kept changes
    /// nothing.
    #[must_use]
    pub fn kept(&self, keep: Keep, drawn: Option<(u32, u32)>) -> Self {
        let untouched = drawn.is_none();
        let (icc, colours) = (self.icc.clone().filter(|_| untouched), self.colours.filter(|_| untouched));
        if keep.all {
            let exif = self.exif.as_deref().and_then(|exif| exif::whole(exif, !untouched, drawn));
            let xmp = self.xmp.as_deref().map(|xmp| drawn.map_or(xmp.to_vec(), |size| xmp::drawn(xmp, size)));
            return Self { icc, colours, exif, xmp, ..self.clone() };
        }
        let source = self.exif.as_deref().and_then(|exif| Tiff::parse(exif::without_prefix(exif)));
        let notices = if keep.copyright { notices::of(self, source) } else { Vec::new() };
        let exif = exif::selected(source, notices, keep, untouched);
        Self { icc, colours, exif, ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
