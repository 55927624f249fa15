//! How much work a drawing takes.

use resvg::{tiny_skia::Transform, usvg::Tree};

use crate::{control::Run, error::Result};

/// Checks it.
pub(super) fn check(_: &Tree, _: Transform, _: (u32, u32), run: Run<'_>) -> Result<()> {
    run.check()
}
