//! `denoise`, `light`, `tone` and `face`: enhancements, each also to be had by `true`.

use super::{
    choice::choice,
    json::{Entries, Json},
    read::{Fields, Object},
};

/// Noise removal. The level of the noise is estimated; strength scales what is removed of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denoise {
    /// 0 (nothing changes) to 100; 50 by default.
    pub strength: u8,
}

/// Low-light boost. A well-lit picture hardly changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Light {
    /// 0 (nothing changes) to 100; 50 by default.
    pub strength: u8,
}

/// Tone adjustments; by default none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tone {
    /// Balances the picture by itself before the rest is applied; `true` alone asks for this.
    pub auto: bool,
    /// -100 (three stops darker) to 100 (three stops lighter); 0 by default.
    pub exposure: i8,
    /// -100 to 100; 0 by default.
    pub contrast: i8,
    /// -100 to 100; 0 by default.
    pub highlights: i8,
    /// -100 to 100; 0 by default.
    pub shadows: i8,
    /// -100 to 100; 0 by default.
    pub saturation: i8,
    /// -100 to 100; 0 by default.
    pub warmth: i8,
    /// 0 to 100; 0 by default.
    pub sharpness: u8,
}

choice! {
    /// Whose faces are enhanced.
    #[derive(Default)]
    FaceTarget {
        /// Every face.
        #[default]
        All = "all",
        /// The largest face.
        Largest = "largest",
    }
}

/// Face enhancement. Without a face nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Face {
    /// 0 (nothing changes) to 100; 80 by default.
    pub strength: u8,
    /// Whose; [`FaceTarget::All`] by default.
    pub target: FaceTarget,
}

impl Denoise {
    /// With a strength of 0 to 100.
    pub const fn strength(strength: u8) -> Self {
        Self { strength }
    }
}

impl Light {
    /// With a strength of 0 to 100.
    pub const fn strength(strength: u8) -> Self {
        Self { strength }
    }
}

impl Tone {
    /// Automatic balance and nothing else: what `true` asks for.
    pub const AUTO: Self = Self {
        auto: true,
        exposure: 0,
        contrast: 0,
        highlights: 0,
        shadows: 0,
        saturation: 0,
        warmth: 0,
        sharpness: 0,
    };

    /// Sets the exposure, -100 (three stops darker) to 100 (three stops lighter).
    #[must_use]
    pub const fn exposure(mut self, exposure: i8) -> Self {
        self.exposure = exposure;
        self
    }

    /// Sets the contrast, -100 to 100.
    #[must_use]
    pub const fn contrast(mut self, contrast: i8) -> Self {
        self.contrast = contrast;
        self
    }

    /// Sets the highlights, -100 to 100.
    #[must_use]
    pub const fn highlights(mut self, highlights: i8) -> Self {
        self.highlights = highlights;
        self
    }

    /// Sets the shadows, -100 to 100.
    #[must_use]
    pub const fn shadows(mut self, shadows: i8) -> Self {
        self.shadows = shadows;
        self
    }

    /// Sets the saturation, -100 to 100.
    #[must_use]
    pub const fn saturation(mut self, saturation: i8) -> Self {
        self.saturation = saturation;
        self
    }

    /// Sets the warmth, -100 to 100.
    #[must_use]
    pub const fn warmth(mut self, warmth: i8) -> Self {
        self.warmth = warmth;
        self
    }

    /// Sets the sharpness, 0 to 100.
    #[must_use]
    pub const fn sharpness(mut self, sharpness: u8) -> Self {
        self.sharpness = sharpness;
        self
    }
}

impl Face {
    /// With a strength of 0 to 100, on every face.
    pub const fn strength(strength: u8) -> Self {
        Self { strength, target: FaceTarget::All }
    }

    /// Sets whose faces are enhanced.
    #[must_use]
    pub const fn target(mut self, target: FaceTarget) -> Self {
        self.target = target;
        self
    }
}

impl Default for Denoise {
    fn default() -> Self {
        Self::strength(50)
    }
}

impl Default for Light {
    fn default() -> Self {
        Self::strength(50)
    }
}

impl Default for Face {
    fn default() -> Self {
        Self::strength(80)
    }
}

impl Object for Denoise {
    fn read(fields: &mut Fields<'_>) -> Self {
        fields.integer("strength", 0..=100).map_or_else(Self::default, Self::strength)
    }

    fn write(&self) -> Json {
        shorthand(self, &Self::default(), Entries::default().put("strength", self.strength))
    }
}

impl Object for Light {
    fn read(fields: &mut Fields<'_>) -> Self {
        fields.integer("strength", 0..=100).map_or_else(Self::default, Self::strength)
    }

    fn write(&self) -> Json {
        shorthand(self, &Self::default(), Entries::default().put("strength", self.strength))
    }
}

impl Object for Tone {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            auto: fields.flag("auto").unwrap_or_default(),
            exposure: fields.integer("exposure", -100..=100).unwrap_or_default(),
            contrast: fields.integer("contrast", -100..=100).unwrap_or_default(),
            highlights: fields.integer("highlights", -100..=100).unwrap_or_default(),
            shadows: fields.integer("shadows", -100..=100).unwrap_or_default(),
            saturation: fields.integer("saturation", -100..=100).unwrap_or_default(),
            warmth: fields.integer("warmth", -100..=100).unwrap_or_default(),
            sharpness: fields.integer("sharpness", 0..=100).unwrap_or_default(),
        }
    }

    fn write(&self) -> Json {
        let entries = Entries::default()
            .unless("auto", self.auto, &false)
            .unless("exposure", self.exposure, &0)
            .unless("contrast", self.contrast, &0)
            .unless("highlights", self.highlights, &0)
            .unless("shadows", self.shadows, &0)
            .unless("saturation", self.saturation, &0)
            .unless("warmth", self.warmth, &0)
            .unless("sharpness", self.sharpness, &0);
        shorthand(self, &Self::AUTO, entries)
    }
}

impl Object for Face {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            strength: fields.integer("strength", 0..=100).unwrap_or(Self::default().strength),
            target: fields.choice("target").unwrap_or_default(),
        }
    }

    fn write(&self) -> Json {
        let default = Self::default();
        let entries = Entries::default().unless("strength", self.strength, &default.strength).unless(
            "target",
            self.target,
            &default.target,
        );
        shorthand(self, &default, entries)
    }
}

/// `true` for what it stands for, `entries` for anything else.
fn shorthand<T: PartialEq>(value: &T, meant_by_true: &T, entries: Entries) -> Json {
    if value == meant_by_true { true.into() } else { entries.into() }
}
