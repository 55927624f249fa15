//! GIF: its blocks walked, its frames composed, and sequences written again in fewer bytes.

mod blocks;
#[cfg(feature = "gif")]
mod clock;
#[cfg(feature = "gif")]
mod colour;
#[cfg(feature = "gif")]
mod compress;
#[cfg(feature = "gif")]
mod container;
#[cfg(feature = "gif")]
mod decode;
#[cfg(feature = "gif")]
mod decompress;
#[cfg(feature = "gif")]
mod dictionary;
#[cfg(feature = "gif")]
mod encode;
#[cfg(feature = "gif")]
mod frame;
#[cfg(feature = "gif")]
mod kept;
#[cfg(feature = "gif")]
mod lossy;
#[cfg(feature = "gif")]
mod masking;
#[cfg(feature = "gif")]
mod merged;
#[cfg(feature = "gif")]
mod neighbours;
#[cfg(feature = "gif")]
mod parse;
#[cfg(feature = "gif")]
mod phrases;
#[cfg(feature = "gif")]
mod player;
#[cfg(feature = "gif")]
mod prices;
mod probe;
#[cfg(feature = "gif")]
mod recompress;
#[cfg(feature = "gif")]
mod tables;
#[cfg(feature = "gif")]
mod trade;
#[cfg(feature = "gif")]
mod wishes;
#[cfg(feature = "gif")]
mod write;

use self::blocks::Screen;
#[cfg(feature = "gif")]
pub(crate) use self::clock::Timed;
pub(crate) use self::probe::probe;
use crate::{error::Error, format::Format};

/// The format behind all its traits.
#[cfg(feature = "gif")]
#[derive(Debug, Clone, Copy)]
struct Gif;

/// The codec of this build.
#[cfg(feature = "gif")]
pub fn codec() -> super::Codec {
    use std::sync::Arc;
    super::Codec {
        decode: Arc::new(Gif),
        container: Arc::new(Gif),
        encode: Some(Arc::new(Gif)),
        recompress: Some(Arc::new(Gif)),
    }
}

fn damaged(problem: impl Into<String>) -> Error {
    Error::input(Format::Gif, problem)
}

/// The canvas: the screen, and all of the first frame, as in browsers. (Writers leave the screen empty, or keep that of a picture
/// that was cut out of another.) What later frames have beyond it is not shown.
fn canvas(screen: Screen<'_>, first: blocks::Place) -> (u32, u32) {
    (screen.width.max(first.x + first.width), screen.height.max(first.y + first.height))
}
