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
    fontdb::{Database, FaceInfo, Source},
};

/// Fonts for text, none by default. Cheap to clone.
///
/// A family that is named by its kind (`sans-serif`, `serif`, `monospace`) is drawn in the first of that kind, as its PANOSE
/// or its name tells, and one that is not among them as `serif` is, as in browsers; where there is none of the kind, in the first
/// that was added. Without any, text is not drawn. Fonts of the system are never looked for.
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
        database.load_font_source(Source::Binary(Arc::new(file)));
        let kinds: Vec<(Kind, String)> = database
            .faces()
            .filter_map(|face| Some((Kind::of(face, database), face.families.first()?.0.clone())))
            .collect();
        let Some((_, first)) = kinds.first().cloned() else { return self };
        let one_of = |wanted: &[Kind]| {
            let of = |kind: &Kind| kinds.iter().find(|(found, _)| found == kind).map(|(_, family)| family);
            wanted.iter().find_map(of).unwrap_or(&first).clone()
        };
        database.set_serif_family(one_of(&[Kind::Serif]));
        database.set_sans_serif_family(one_of(&[Kind::SansSerif, Kind::Unknown]));
        database.set_monospace_family(one_of(&[Kind::Monospace]));
        database.set_cursive_family(first.clone());
        database.set_fantasy_family(first);
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

/// A generic family of CSS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Serif,
    SansSerif,
    Monospace,
    Unknown,
}

impl Kind {
    fn of(face: &FaceInfo, database: &Database) -> Self {
        if face.monospaced {
            return Self::Monospace;
        }
        // Latin text, and how its serifs are: the first two digits of PANOSE, <https://monotype.github.io/panose/pan2.htm>.
        match database.with_face_data(face.id, panose).flatten() {
            Some([2, 2..=10]) => Self::Serif,
            Some([2, 11..=15]) => Self::SansSerif,
            _ => Self::named(face.families.first().map_or("", |(name, _)| name)),
        }
    }

    fn named(family: &str) -> Self {
        let family = family.to_ascii_lowercase();
        match (family.contains("sans"), family.contains("serif")) {
            (true, _) => Self::SansSerif,
            (false, true) => Self::Serif,
            (false, false) => Self::Unknown,
        }
    }
}

/// The first two digits of the PANOSE that the `OS/2` table of a face has.
fn panose(file: &[u8], face: u32) -> Option<[u8; 2]> {
    let long = |at: usize| Some(u32::from_be_bytes(*file.get(at..)?.first_chunk()?) as usize);
    let start = if file.starts_with(b"ttcf") { long(12 + 4 * face as usize)? } else { 0 };
    let count = u16::from_be_bytes(*file.get(start + 4..)?.first_chunk()?);
    let record = (0..usize::from(count))
        .map(|table| start + 12 + 16 * table)
        .find(|record| file.get(*record..).is_some_and(|record| record.starts_with(b"OS/2")))?;
    file.get(long(record + 8)?.checked_add(32)?..)?.first_chunk().copied()
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
    fn kinds_of_fonts_are_told_by_panose_or_else_by_name() {
        let mut file = vec![0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0];
        file.extend([*b"GSUB\0\0\0\0\0\0\0\0\0\0\0\0", *b"OS/2\0\0\0\0\0\0\0\x2c\0\0\0\x60"].concat());
        file.extend([[0; 32].as_slice(), &[2, 11]].concat());
        assert_eq!(panose(&file, 0), Some([2, 11]));
        file.pop();
        assert_eq!(panose(&file, 0), None);
        let kinds = [("Noto Sans Serif", Kind::SansSerif), ("PT Serif", Kind::Serif), ("Lato", Kind::Unknown)];
        assert!(kinds.into_iter().all(|(name, kind)| Kind::named(name) == kind));
    }

    #[test]
    fn a_file_that_is_no_font_is_told_of_or_adds_nothing() {
        assert!(Fonts::new().try_with(b"no font".to_vec()).is_none());
        assert!(Fonts::new().with(b"no font".to_vec()).is_empty());
    }
}
