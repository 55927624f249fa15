//! Fonts for the text of SVG, from files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use lapidary::codec::svg::Fonts;

/// Extensions by which the fonts of a folder are known.
const EXTENSIONS: [&str; 4] = ["otc", "otf", "ttc", "ttf"];

/// The fonts in `paths`, each a file, or a folder whose fonts are taken in the order of their names.
///
/// # Errors
/// Where a file cannot be read or is no font, or a folder has none.
pub fn read(paths: &[PathBuf]) -> io::Result<Fonts> {
    let mut fonts = Fonts::new();
    for path in paths {
        let files = if path.is_dir() { in_folder(path)? } else { vec![path.clone()] };
        for file in files {
            let bytes = fs::read(&file).map_err(|error| at(&file, &error.to_string()))?;
            fonts = fonts.try_with(bytes).ok_or_else(|| at(&file, "is no font"))?;
        }
    }
    Ok(fonts)
}

fn in_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_font = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension)))
    };
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    files.retain(|path| is_font(path) && path.is_file());
    files.sort();
    if files.is_empty() { Err(at(folder, "has no fonts")) } else { Ok(files) }
}

fn at(path: &Path, problem: &str) -> io::Error {
    io::Error::other(format!("{}: {problem}", path.display()))
}
