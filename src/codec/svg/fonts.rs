//! The fonts that text is drawn with: those the host gives and no others.

use std::{fmt, sync::Arc};

use resvg::usvg::fontdb::{Database, Source};

/// Fonts for text, none by default. Cheap to clone.
///
/// A family that is not among them, or is named by its kind (`sans-serif`), is drawn in the first that was added. Without
/// any, text is not drawn. Fonts of the system are never looked for.
#[derive(Clone, Default)]
pub struct Fonts {
    database: Arc<Database>,
}

impl Fonts {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the faces of one more font file: TrueType, OpenType, or a collection of them. Files that are none add nothing.
    #[must_use]
    pub fn with(mut self, file: Vec<u8>) -> Self {
        let database = Arc::make_mut(&mut self.database);
        let first = database.is_empty();
        database.load_font_source(Source::Binary(Arc::new(file)));
        let family = database.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
        if let (true, Some(family)) = (first, family) {
            database.set_serif_family(family.clone());
            database.set_sans_serif_family(family.clone());
            database.set_monospace_family(family.clone());
            database.set_cursive_family(family.clone());
            database.set_fantasy_family(family);
        }
        self
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.database.is_empty()
    }

    pub(super) fn database(&self) -> Arc<Database> {
        Arc::clone(&self.database)
    }
}

impl fmt::Debug for Fonts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let families = self.database.faces().filter_map(|face| face.families.first()).map(|(name, _)| name);
        f.debug_list().entries(families).finish()
    }
}
