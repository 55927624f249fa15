//! `optimize`: how much to give away.

use super::{
    choice::choice,
    json::{Entries, Json},
    read::{Fields, Object},
};

choice! {
    /// Presets of the smart pipeline, from the most faithful to the smallest.
    #[derive(Default)]
    Compression {
        /// No pixel changes. Where other settings change them and JPEG is wanted, which has no lossless encoding of that, its
        /// best quality, with a warning.
        Lossless = "lossless",
        /// Lossy without visible artefacts.
        Low = "low",
        /// Balance of size and quality.
        #[default]
        Medium = "medium",
        /// Small at the expense of quality.
        High = "high",
        /// Smallest; fidelity is not checked and the loss is visible. Where what `high` finds is smaller still, that.
        Ultra = "ultra",
    }
}

/// Optimisation settings. Their presence alone, without any setting, asks for [`Compression::Medium`] in every format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Optimize {
    /// Preset; `None` is [`Compression::Medium`].
    pub compression: Option<Compression>,
    /// Explicit quality, 1 (most compression) to 100 (best), by the scale of the format: of JPEG one of our tables, of which 30, 50,
    /// 70 and 80 are near 46, 74, 86 and 91 of libjpeg's; of PNG and APNG 4 to 256 colours, 100 without loss; of WebP that of
    /// libwebp. Bypasses the smart pipeline and wins over [`compression`](Self::compression).
    pub quality: Option<u8>,
}

impl Optimize {
    /// By a preset.
    pub const fn preset(compression: Compression) -> Self {
        Self { compression: Some(compression), quality: None }
    }

    /// By an explicit quality, 1 to 100.
    pub const fn explicit(quality: u8) -> Self {
        Self { compression: None, quality: Some(quality) }
    }
}

impl Object for Optimize {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self { compression: fields.choice("compression"), quality: fields.integer("quality", 1..=100) }
    }

    fn write(&self) -> Json {
        Entries::default().given("compression", self.compression).given("quality", self.quality).into()
    }
}
