//! WebP: stills in both codings by libwebp, animations by a player and an optimiser of our own around it. Lossy images are
//! also made coarser as they are stored, which libwebp cannot.

mod alpha;
mod animation;
mod bitstream;
mod container;
mod decode;
mod encode;
mod libwebp;
mod lossy;
mod probe;
mod recompress;
mod riff;
mod room;
#[cfg(test)]
mod tests;
mod vp8;

pub(crate) use self::{
    alpha::with_better_alpha,
    animation::LossyAnimation,
    lossy::LossyFile,
    recompress::{lossless_effort, with_most_effort},
};

use std::sync::Arc;

use super::Codec;

/// The format behind all its traits.
#[derive(Debug, Clone, Copy)]
struct Webp;

/// The codec of this build.
pub fn codec() -> Codec {
    Codec {
        decode: Arc::new(Webp),
        container: Arc::new(Webp),
        encode: Some(Arc::new(Webp)),
        recompress: Some(Arc::new(Webp)),
    }
}
