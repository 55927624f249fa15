//! SVG: its size, its text and document read within limits, and pictures drawn of it.

mod probe;

#[cfg(feature = "svg")]
mod address;
#[cfg(feature = "svg")]
mod background;
#[cfg(feature = "svg")]
mod codec;
#[cfg(feature = "svg")]
mod cost;
#[cfg(feature = "svg")]
mod css;
#[cfg(feature = "svg")]
mod curves;
#[cfg(feature = "svg")]
mod dashes;
#[cfg(feature = "svg")]
mod doctype;
#[cfg(feature = "svg")]
mod draw;
#[cfg(feature = "svg")]
mod edits;
#[cfg(feature = "svg")]
mod embedded;
#[cfg(feature = "svg")]
mod entities;
#[cfg(feature = "svg")]
mod filter_cost;
#[cfg(feature = "svg")]
mod fonts;
#[cfg(feature = "svg")]
mod frozen;
#[cfg(feature = "svg")]
mod geometry;
#[cfg(feature = "svg")]
mod mark;
#[cfg(feature = "svg")]
mod motion;
#[cfg(feature = "svg")]
mod notices;
#[cfg(feature = "svg")]
mod paint;
#[cfg(feature = "svg")]
mod read;
#[cfg(feature = "svg")]
mod reading;
#[cfg(feature = "svg")]
mod references;
#[cfg(feature = "svg")]
mod render;
#[cfg(feature = "svg")]
mod scan;
#[cfg(feature = "svg")]
mod style;
#[cfg(feature = "svg")]
mod undrawn;

pub(crate) use self::probe::probe;
#[cfg(feature = "svg")]
pub(crate) use self::{
    address::{placed_urls, urls},
    css::{Declaration, declarations, in_name, rule, rules, split, stripped, written},
    draw::Drawing,
    mark::{marked, packed, unmarked},
    notices::{notices, with_notices},
    probe::size,
    read::{document, text},
    style::{ByClass, selector_tests},
    undrawn::undrawn,
};
#[cfg(feature = "svg")]
pub use self::{codec::codec, fonts::Fonts};
use crate::{error::Error, format::Format};

fn damaged(problem: impl Into<String>) -> Error {
    Error::input(Format::Svg, problem)
}
