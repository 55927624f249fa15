//! Pixels in memory: pictures, the frames that show them, their layout, their colours, and what travels beside them.

mod colour;
mod frame;
mod layout;
mod metadata;
mod pixels;
pub(crate) mod power;
pub(crate) mod transfer;

#[cfg(feature = "png")]
pub(crate) use colour::icc_of;
pub use colour::{Converted, ToSrgb, srgb_profile, to_srgb};
#[cfg(test)]
pub(crate) use frame::Shown;
pub use frame::{Delay, Frame, Frames, Plays, Still};
pub(crate) use layout::spread;
pub use layout::{Channels, Depth, Layout, Orientation};
#[cfg(feature = "svg")]
pub(crate) use metadata::notices_in_rdf;
#[cfg(any(feature = "jpeg", feature = "png"))]
pub(crate) use metadata::photoshop;
#[cfg(any(feature = "gif", feature = "jpeg", feature = "png"))]
pub(crate) use metadata::text_of;
#[cfg(feature = "png")]
pub(crate) use metadata::upright;
#[cfg(any(feature = "png", feature = "webp"))]
pub(crate) use metadata::with_tiff_header;
pub use metadata::{ColourChunks, Keep, Metadata, orientation_alone, orientation_of_exif};
#[cfg(any(feature = "gif", feature = "svg"))]
pub(crate) use metadata::{comment_of, notice_in};
pub use pixels::{Picture, Samples};
