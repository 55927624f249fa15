//! The steps on pixels that a request asks for, but for those that settle size and format.

use std::sync::Arc;

use crate::{
    error::{Error, Result},
    limits::Limits,
    operation::{Denoise, Light, Models, Sharpen, Tone, Upscale},
    request::{self, Request, UpscaleModel},
};

/// Enhancements that change something.
#[derive(Debug)]
pub(super) struct Enhanced {
    pub denoise: Option<Denoise>,
    pub light: Option<Light>,
    pub tone: Option<Tone>,
    pub face: Option<request::Face>,
    pub upscale: Option<Upscale>,
    pub sharpen: Option<Sharpen>,
}

impl Enhanced {
    /// What `request` asks for; what is `drawn` is drawn larger instead of being enlarged.
    pub(super) fn of(request: &Request, models: &Models, drawn: bool) -> Result<Self> {
        let denoise = request.denoise.filter(|denoise| denoise.strength > 0);
        let light = request.light.filter(|light| light.strength > 0);
        let upscale = request.upscale.filter(|upscale| upscale.factor > 1 && !drawn);
        let sharpness = request.tone.map_or(0, |tone| tone.sharpness);
        Ok(Self {
            denoise: denoise.map(|asked| noise_removal(asked, models)).transpose()?,
            light: light.map(|asked| Light { strength: asked.strength, denoise: models.denoise.clone() }),
            tone: request.tone.map(tone).filter(|tone| !tone.is_identity()),
            face: request.face.filter(|face| face.strength > 0),
            upscale: upscale.map(|asked| super_resolution(asked, models)).transpose()?,
            sharpen: (sharpness > 0).then_some(Sharpen { strength: sharpness }),
        })
    }

    pub(super) fn is_none(&self) -> bool {
        let Self { denoise, light, tone, face, upscale, sharpen } = self;
        let first = denoise.is_none() && light.is_none() && tone.is_none();
        first && face.is_none() && upscale.is_none() && sharpen.is_none()
    }

    /// Multiplications in networks for so many `pixels` of all frames, if that many are allowed. Light that keeps its noise
    /// is better than none.
    pub(super) fn work(&mut self, pixels: u64, limits: &Limits) -> Result<u64> {
        let of = |work: Option<u64>| work.unwrap_or(0);
        let asked = of(self.denoise.as_ref().map(|denoise| denoise.work(pixels)))
            .saturating_add(of(self.upscale.as_ref().map(|upscale| upscale.work(pixels))));
        let with_light = asked.saturating_add(of(self.light.as_ref().map(|light| light.work(pixels))));
        if let Some(light) = self.light.as_mut().filter(|_| with_light > limits.network_products) {
            light.denoise = None;
            limits.check_network(asked)?;
            return Ok(asked);
        }
        limits.check_network(with_light)?;
        Ok(with_light)
    }
}

fn noise_removal(asked: request::Denoise, models: &Models) -> Result<Denoise> {
    let model = models.denoise.clone().ok_or_else(|| Error::unsupported("denoise"))?;
    Ok(Denoise { strength: asked.strength, model })
}

fn super_resolution(asked: request::Upscale, models: &Models) -> Result<Upscale> {
    let first = match asked.model {
        UpscaleModel::Photo => &models.upscale_photo,
        UpscaleModel::Clean => &models.upscale_clean,
    };
    let first = first.clone().ok_or_else(|| Error::unsupported("upscale"))?;
    let then = models.upscale_clean.clone().unwrap_or_else(|| Arc::clone(&first));
    Ok(Upscale { factor: asked.factor.into(), first, then })
}

fn tone(asked: request::Tone) -> Tone {
    let request::Tone { auto, exposure, contrast, highlights, shadows, saturation, warmth, .. } = asked;
    Tone { auto, exposure, contrast, highlights, shadows, saturation, warmth }
}
