//! The fonts that text is drawn with: those the host gives and no others.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use resvg::usvg::{
    FontResolver,
    fontdb::{Database, Source},
};

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

    /// As [`with`](Self::with); `None` where the file is no font.
    pub fn try_with(self, file: Vec<u8>) -> Option<Self> {
        let before = self.database.len();
        let with = self.with(file);
        (with.database.len() > before).then_some(with)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.database.is_empty()
    }

    pub(super) fn database(&self) -> Arc<Database> {
        Arc::clone(&self.database)
    }
}

/// What of the text of a document found no font; of all of it, those that are embedded included.
#[derive(Debug, Default)]
pub(super) struct Fontless {
    text: AtomicBool,
    characters: AtomicBool,
}

impl Fontless {
    /// The way in which usvg chooses fonts, watched.
    pub(super) fn watched(&self) -> FontResolver<'_> {
        let (select, fall_back) = (FontResolver::default_font_selector(), FontResolver::default_fallback_selector());
        let noted = |missing: &AtomicBool, found: bool| {
            missing.fetch_or(!found, Ordering::Relaxed);
        };
        FontResolver {
            select_font: Box::new(move |font, database| {
                let found = select(font, database);
                noted(&self.text, found.is_some());
                found
            }),
            select_fallback: Box::new(move |character, tried, database| {
                let found = fall_back(character, tried, database);
                noted(&self.characters, found.is_some());
                found
            }),
        }
    }

    /// What to say of it.
    pub(super) fn warning(self) -> Option<&'static str> {
        match (self.text.into_inner(), self.characters.into_inner()) {
            (true, _) => Some("text was not drawn, as no font is given for it"),
            (false, true) => Some("some characters were not drawn, as no font that is given has them"),
            (false, false) => None,
        }
    }
}

impl fmt::Debug for Fonts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let families = self.database.faces().filter_map(|face| face.families.first()).map(|(name, _)| name);
        f.debug_list().entries(families).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_font_is_told_of_or_adds_nothing() {
        assert!(Fonts::new().try_with(b"no font".to_vec()).is_none());
        assert!(Fonts::new().with(b"no font".to_vec()).is_empty());
    }
}
