//! Style sheets: read, matched, and folded into the elements they style.

mod matched;
mod text;

pub(super) use matched::{Cascade, Sheet};
pub(super) use text::{Declaration, declarations, rules, stripped, written};
