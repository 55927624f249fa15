//! How much a document grows when its references are followed.

use roxmltree::Document;

use crate::{control::Run, error::Result};

/// Checks what `document` comes to.
pub(super) fn check(_: &Document<'_>, run: Run<'_>) -> Result<()> {
    run.check()
}
