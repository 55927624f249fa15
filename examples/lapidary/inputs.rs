//! Which files are meant, and their bytes.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use lapidary::Format;

/// Enough of a file to tell its format: SVG may have a long prologue.
const SNIFFED_BYTES: u64 = 64 << 10;

/// The files that `paths` stand for, in their order: a folder stands for its pictures by name, anything else, existing
/// or not, for itself. And how many files of folders are left out, as they look like no picture.
pub fn expand(paths: &[PathBuf]) -> (Vec<PathBuf>, usize) {
    let (mut inputs, mut left_out) = (Vec::new(), 0);
    for path in paths {
        match files_in(path) {
            // What is no folder, or cannot be listed, fails as an input of its own.
            Err(_) => inputs.push(path.clone()),
            Ok(files) => {
                let (pictures, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_picture(path));
                inputs.extend(pictures);
                left_out += others.len();
            }
        }
    }
    (inputs, left_out)
}

/// What is in a folder and no folder, but for hidden files, by name.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<io::Result<Vec<_>>>()?;
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    files.retain(|path| !is_hidden(path) && !path.is_dir());
    files.sort();
    Ok(files)
}

/// Whether a file looks like a picture; one that cannot be read does, so that its failure is reported.
fn is_picture(path: &Path) -> bool {
    let Ok(start) = read_up_to(path, SNIFFED_BYTES) else { return true };
    let compressed = start.starts_with(&[0x1F, 0x8B]);
    let svg_name = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svgz") || e.eq_ignore_ascii_case("svg"));
    match lapidary::sniff(&start) {
        // Most compressed files are no SVG.
        Some(Format::Svg) if compressed => svg_name,
        format => format.is_some(),
    }
}

/// The first `bytes` of a file, or all of it.
pub fn read_up_to(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    File::open(path)?.take(bytes).read_to_end(&mut out)?;
    Ok(out)
}
