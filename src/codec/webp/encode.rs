//! Pixels to WebP: stills here.

use super::{
    Webp, animation,
    libwebp::{self, Colours, Config, Pixels, Source},
};
use crate::{
    codec::{Encode, EncodeOptions, WebpCoding, WebpOptions},
    control::Run,
    error::{Error, Result},
    format::Format,
    limits::sides,
    picture::{Channels, Frames, Picture},
};

/// The format's ceiling on both sides, in pixels.
const MOST_SIDE_PX: u32 = 16_383;

/// Method 6 makes alpha beside lossy colours 1 to 2 % smaller, for 13 to 35 s a megapixel.
pub(super) const MOST_METHOD_OF_ALPHA: i32 = 5;

impl Encode for Webp {
    fn format(&self) -> Format {
        Format::Webp
    }

    fn animations(&self) -> bool {
        true
    }

    fn encode(&self, frames: &mut dyn Frames, options: &EncodeOptions, run: Run<'_>) -> Result<Vec<u8>> {
        let EncodeOptions::Webp(options) = options else {
            return Err(options.refused_by(Format::Webp));
        };
        let mut config = config(options)?;
        run.check()?;
        let mut source = match frames.next(run)? {
            Some(frame) => {
                if config.lossless == 0 && !frame.picture.is_opaque() {
                    config.method = config.method.min(MOST_METHOD_OF_ALPHA);
                }
                // Animations have their samples rounded.
                frame.picture.eight().map(|_| import(&frame.picture, colours(options), run)).transpose()?
            }
            None => return Err(Error::unsupported("a WebP without frames")),
        };
        if frames.next(run)?.is_some() {
            return animation::encode(frames, options, run);
        }
        source.as_mut().ok_or_else(|| Error::unsupported("16-bit WebP"))?.encode(&config, run)
    }
}

/// Copies a picture into the memory of libwebp. Gray becomes RGB; alpha that is opaque everywhere is left out.
pub(super) fn import(picture: &Picture, colours: Colours, run: Run<'_>) -> Result<Source> {
    let (width, height) = (picture.width(), picture.height());
    check_side(width, height)?;
    let Some(samples) = picture.eight() else { return Err(Error::unsupported("16-bit WebP")) };
    match picture.channels() {
        Channels::Cmyk => Err(Error::unsupported("CMYK WebP")),
        Channels::Gray => import(&picture.clone().into_channels(Channels::Rgb), colours, run),
        Channels::GrayAlpha => import(&picture.clone().into_channels(Channels::Rgba), colours, run),
        Channels::Rgb => Source::import(samples, width, height, Pixels::Rgb, colours, run),
        Channels::Rgba if picture.is_opaque() => Source::import(samples, width, height, Pixels::Rgbx, colours, run),
        Channels::Rgba => Source::import(samples, width, height, Pixels::Rgba, colours, run),
    }
}

/// Refuses what the format cannot hold.
pub(super) fn check_side(width: u32, height: u32) -> Result<()> {
    sides(["WebP width in pixels", "WebP height in pixels"], (width, height), MOST_SIDE_PX)
}

/// What libwebp is to see.
pub(super) const fn colours(options: &WebpOptions) -> Colours {
    match options.coding {
        WebpCoding::Lossless { .. } => Colours::Argb,
        WebpCoding::Lossy { sharp_yuv: true, .. } => Colours::SharpYuv,
        WebpCoding::Lossy { .. } => Colours::Yuv,
    }
}

/// libwebp's own terms for `options`.
pub(super) fn config(options: &WebpOptions) -> Result<Config> {
    let mut config = libwebp::default_config()?;
    config.method = options.method.into();
    match options.coding {
        WebpCoding::Lossy { quality, sharp_yuv, noise_shaping, filter_strength, filter_sharpness, alpha_quality } => {
            if !(0.0..=100.0).contains(&quality) {
                return Err(Error::unsupported(format!("WebP quality {quality}")));
            }
            config.quality = quality;
            config.use_sharp_yuv = sharp_yuv.into();
            config.sns_strength = noise_shaping.into();
            config.filter_strength = filter_strength.into();
            config.filter_sharpness = filter_sharpness.into();
            config.alpha_quality = alpha_quality.into();
        }
        WebpCoding::Lossless { near_lossless, exact, effort } => {
            config.lossless = 1;
            config.quality = effort.into();
            config.near_lossless = near_lossless.into();
            config.exact = exact.into();
        }
    }
    Ok(config)
}
