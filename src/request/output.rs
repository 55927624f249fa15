//! `output`: the file that comes out.

use super::{
    choice::choice,
    json::{Entries, Json},
    read::{Fields, Object},
};

choice! {
    /// The format of the result.
    #[derive(Default)]
    OutputFormat {
        /// The source's.
        #[default]
        Auto = "auto",
        /// JPEG.
        Jpeg = "jpeg" | "jpg",
        /// PNG; animated where the source is.
        Png = "png",
        /// WebP.
        Webp = "webp",
        /// GIF.
        Gif = "gif",
        /// SVG, from SVG only.
        Svg = "svg",
        /// AVIF.
        Avif = "avif",
        /// The one that makes the smallest file at the same fidelity, of those that can hold the picture.
        Smallest = "smallest",
    }
}

choice! {
    /// The order of the pixels in JPEG and PNG.
    Encoding {
        /// Coarse to fine: progressive JPEG, interlaced PNG.
        Progressive = "progressive",
        /// Top to bottom.
        Baseline = "baseline",
    }
}

choice! {
    /// Metadata that can be asked to survive.
    MetadataKind {
        /// Copyright and author notices.
        Copyright = "copyright",
        /// The colour profile that the delivered pixels are in.
        Profile = "profile",
        /// Dates and times.
        Date = "date",
        /// Where the picture was taken.
        Location = "location",
        /// Everything.
        All = "all",
    }
}

/// The file that comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// Its format; [`OutputFormat::Auto`] by default.
    pub format: OutputFormat,
    /// The order of its pixels. Where nothing is said JPEG is progressive, which is smaller, and PNG is not interlaced,
    /// which would be larger.
    pub encoding: Option<Encoding>,
    /// What survives of the metadata, everything else is stripped; the copyright alone by default.
    pub metadata: Vec<MetadataKind>,
    /// SVG: whether elements keep their ids and classes; they do not by default.
    pub keep_ids: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            format: OutputFormat::default(),
            encoding: None,
            metadata: vec![MetadataKind::Copyright],
            keep_ids: false,
        }
    }
}

impl Object for Output {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            format: fields.choice("format").unwrap_or_default(),
            encoding: fields.choice("encoding"),
            metadata: fields.choices("metadata").unwrap_or_else(|| Self::default().metadata),
            keep_ids: fields.flag("keep_ids").unwrap_or_default(),
        }
    }

    fn write(&self) -> Json {
        let kinds = Json::Array(self.metadata.iter().map(|kind| Json::from(*kind)).collect());
        let by_default = Json::Array(vec![MetadataKind::Copyright.into()]);
        Entries::default()
            .unless("format", self.format, &OutputFormat::default())
            .given("encoding", self.encoding)
            .unless("metadata", kinds, &by_default)
            .unless("keep_ids", self.keep_ids, &false)
            .into()
    }
}
