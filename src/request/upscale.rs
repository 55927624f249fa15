//! `upscale`: super-resolution.

use super::{
    choice::choice,
    json::{Entries, Json},
    read::{Fields, Object, integer_within},
};

choice! {
    /// What the network has been trained on.
    #[derive(Default)]
    UpscaleModel {
        /// Pictures with noise, blur and JPEG artefacts.
        #[default]
        Photo = "photo",
        /// Clean pictures.
        Clean = "clean",
    }
}

/// Super-resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upscale {
    /// How many times wider and higher the picture becomes, 1 to 8.
    pub factor: u8,
    /// What the network has been trained on; [`UpscaleModel::Photo`] by default.
    pub model: UpscaleModel,
}

impl Upscale {
    /// `factor` times wider and higher, 1 to 8.
    pub const fn by(factor: u8) -> Self {
        Self { factor, model: UpscaleModel::Photo }
    }

    /// Sets what the network has been trained on.
    #[must_use]
    pub const fn model(mut self, model: UpscaleModel) -> Self {
        self.model = model;
        self
    }
}

impl Object for Upscale {
    fn read(fields: &mut Fields<'_>) -> Self {
        let factor = fields
            .checked("factor", "must be a positive integer from 1 to 8", |json| integer_within(json, &(1..=8)))
            .unwrap_or(1);
        fields.require("factor", "is required");
        Self { factor, model: fields.choice("model").unwrap_or_default() }
    }

    fn write(&self) -> Json {
        Entries::default().put("factor", self.factor).unless("model", self.model, &UpscaleModel::default()).into()
    }
}
