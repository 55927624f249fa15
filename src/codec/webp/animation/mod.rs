//! Animations: frames drawn one over the other, and sequences split into frames that say only what changes.

mod coarser;
mod encode;
mod patch;
mod player;
mod recompress;
mod sequence;
mod shown;

pub(crate) use self::coarser::LossyAnimation;
pub(super) use self::{encode::encode, player::Player, recompress::recompress};
