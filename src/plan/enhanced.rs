//! The steps on pixels that a request asks for, but for those that settle size and format.

use std::sync::Arc;

use crate::{
    error::{Error, Result},
    limits::Limits,
    operation::{CAN_LOOK, Classic, Denoise, Light, Model, Models, Restore, Sharpen, Tone, Upscale},
    request::{self, Request, UpscaleModel},
};

/// Enhancements that change something.
#[derive(Debug)]
pub(super) struct Enhanced {
    pub denoise: Option<Denoise>,
    pub light: Option<Light>,
    pub tone: Option<Tone>,
    pub face: Option<Clearing>,
    pub upscale: Option<Upscale>,
    pub sharpen: Option<Sharpen>,
}

impl Enhanced {
    /// What `request` asks for, of a source that may be JPEG of some quality; what is `drawn` is drawn larger instead of being
    /// enlarged.
    pub(super) fn of(request: &Request, models: &Models, jpeg: Option<u8>, drawn: bool) -> Result<Self> {
        let light = request.light.filter(|light| light.strength > 0);
        let sharpness = request.tone.map_or(0, |tone| tone.sharpness);
        Ok(Self {
            denoise: noise_removal(request, models, jpeg)?,
            light: light.map(|asked| Light { strength: asked.strength, denoise: models.denoise.clone(), jpeg }),
            tone: request.tone.map(tone).filter(|tone| !tone.is_identity()),
            face: faces(request, models)?,
            upscale: if drawn { None } else { super_resolution(request, models)? },
            sharpen: (sharpness > 0).then_some(Sharpen { strength: sharpness }),
        })
    }

    pub(super) fn is_none(&self) -> bool {
        let Self { denoise, light, tone, face, upscale, sharpen } = self;
        let first = denoise.is_none() && light.is_none() && tone.is_none();
        first && face.is_none() && upscale.is_none() && sharpen.is_none()
    }

    /// Whether there are only steps that leave many pictures as they are.
    pub(super) fn may_find_nothing(&self) -> bool {
        let Self { denoise, light, tone, face, upscale, sharpen } = self;
        let others = denoise.is_some() || tone.is_some() || upscale.is_some() || sharpen.is_some();
        (light.is_some() || face.is_some()) && !others
    }

    /// Whether a network works on pixels, ours or a host's.
    pub(super) fn by_network(&self) -> bool {
        let light = self.light.as_ref().is_some_and(|light| light.denoise.is_some());
        let face = self.face.as_ref().is_some_and(Clearing::by_network);
        self.denoise.is_some() || self.upscale.is_some() || light || face
    }

    /// Checks that so many `pixels`, of all frames, some maybe translucent, are not too much work for networks. Light and faces
    /// whose noise is left to simpler means are better than none; whether some network is left out of these.
    pub(super) fn limit(&mut self, pixels: u64, alpha: bool, limits: &Limits) -> Result<bool> {
        let of = |work: Option<u64>| work.unwrap_or(0);
        let planes = if alpha { 2 } else { 1 };
        let mut work = of(self.denoise.as_ref().map(|denoise| denoise.work(pixels)))
            .saturating_add(of(self.upscale.as_ref().map(|upscale| upscale.work(pixels).saturating_mul(planes))));
        limits.check_network(work)?;
        let light = self.light.as_mut().map(|light| &mut light.denoise);
        let face = self.face.as_mut().into_iter().flat_map(Clearing::networks);
        let mut left_out = false;
        for network in light.into_iter().chain(face) {
            let more =
                network.as_ref().map_or(0, |model| pixels.saturating_mul(model.shape().work)).saturating_add(work);
            if more > limits.network_products {
                *network = None;
                left_out = true;
            } else {
                work = more;
            }
        }
        Ok(left_out)
    }
}

/// Faces made clearer.
#[derive(Debug)]
pub(super) struct Clearing {
    pub asked: request::Face,
    by: Restorer,
}

#[derive(Debug)]
enum Restorer {
    Host(Arc<dyn Restore>),
    Own(Classic),
}

impl Clearing {
    fn by(asked: request::Face, models: &Models) -> Self {
        let own = || {
            let Models { denoise, face_grain, face_restore, .. } = models.clone();
            Restorer::Own(Classic { denoise, grain: face_grain, restore: face_restore })
        };
        Self { asked, by: models.face.clone().map_or_else(own, Restorer::Host) }
    }

    fn by_network(&self) -> bool {
        match &self.by {
            Restorer::Host(_) => true,
            Restorer::Own(Classic { denoise, grain, restore }) => {
                [denoise, grain, restore].iter().any(|model| model.is_some())
            }
        }
    }

    /// The networks that it may do without.
    fn networks(&mut self) -> impl Iterator<Item = &mut Option<Arc<dyn Model>>> {
        let own = match &mut self.by {
            Restorer::Host(_) => None,
            Restorer::Own(classic) => Some([&mut classic.denoise, &mut classic.grain, &mut classic.restore]),
        };
        own.into_iter().flatten()
    }

    pub(super) fn restorer(self) -> Arc<dyn Restore> {
        match self.by {
            Restorer::Host(restorer) => restorer,
            Restorer::Own(classic) => Arc::new(classic),
        }
    }
}

pub(super) fn noise_removal(request: &Request, models: &Models, jpeg: Option<u8>) -> Result<Option<Denoise>> {
    let Some(asked) = request.denoise.filter(|denoise| denoise.strength > 0) else { return Ok(None) };
    let model = models.denoise.clone().ok_or_else(|| Error::unsupported("denoise"))?;
    model.shape().check_keeps_size("planning denoise")?;
    Ok(Some(Denoise { strength: asked.strength, jpeg, model }))
}

pub(super) fn faces(request: &Request, models: &Models) -> Result<Option<Clearing>> {
    let Some(asked) = request.face.filter(|face| face.strength > 0) else { return Ok(None) };
    if CAN_LOOK { Ok(Some(Clearing::by(asked, models))) } else { Err(Error::unsupported("face")) }
}

pub(super) fn super_resolution(request: &Request, models: &Models) -> Result<Option<Upscale>> {
    let Some(asked) = request.upscale.filter(|upscale| upscale.factor > 1) else { return Ok(None) };
    let first = match asked.model {
        UpscaleModel::Photo => &models.upscale_photo,
        UpscaleModel::Clean => &models.upscale_clean,
    };
    if first.is_empty() {
        return Err(Error::unsupported("upscale"));
    }
    if first.iter().all(|model| model.shape().scale < 2) {
        return Err(Error::internal("planning upscale", "no model enlarges"));
    }
    let then = if models.upscale_clean.is_empty() { first } else { &models.upscale_clean };
    Ok(Some(Upscale { factor: asked.factor.into(), first: first.clone(), then: then.clone() }))
}

fn tone(asked: request::Tone) -> Tone {
    let request::Tone { auto, exposure, contrast, highlights, shadows, saturation, warmth, .. } = asked;
    Tone { auto, exposure, contrast, highlights, shadows, saturation, warmth }
}
