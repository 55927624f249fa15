//! Names in the output folder, never those of an input, nor of other files where inputs are.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The output folder during one run.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Where the inputs really are, with links followed.
    inputs: HashSet<PathBuf>,
    /// Names given out, or of files to be kept, in lower case: some file systems take no notice of case.
    taken: HashSet<String>,
}

/// A result under a name of its own, until its turn to be named comes.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder if it is missing.
    pub fn create(path: &Path, inputs: &[PathBuf]) -> io::Result<Self> {
        let named = |doing: &'static str| {
            move |error: io::Error| io::Error::new(error.kind(), format!("cannot {doing} {}: {error}", path.display()))
        };
        fs::create_dir_all(path).map_err(named("make"))?;
        // Before there is work that would be lost.
        Draft::write(path, inputs.len(), b"").map_err(named("write to"))?;
        let inputs: HashSet<PathBuf> = inputs.iter().filter_map(|input| input.canonicalize().ok()).collect();
        let own = path.canonicalize().map_err(named("write to"))?;
        let shared = inputs.iter().any(|input| input.parent() == Some(&own));
        let there = if shared { fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()? } else { Vec::new() };
        let taken = there.into_iter().map(|entry| entry.file_name().to_string_lossy().to_lowercase()).collect();
        Ok(Self { path: path.into(), inputs, taken })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a draft its name: `name`, or the next free one with a number. Files of earlier runs are replaced where no input
    /// is.
    pub fn settle(&mut self, draft: &Draft, name: &str) -> io::Result<PathBuf> {
        let path = self.free(name);
        fs::rename(&draft.path, &path)?;
        Ok(path)
    }

    fn free(&mut self, name: &str) -> PathBuf {
        // Only the last part: a name must not lead out of the folder.
        let name = Path::new(Path::new(name).file_name().unwrap_or("image".as_ref()));
        let stem = name.file_stem().unwrap_or_default().to_string_lossy();
        let extension = name.extension().map_or(String::new(), |extension| format!(".{}", extension.to_string_lossy()));
        let names =
            (1u64..).map(|n| if n == 1 { format!("{stem}{extension}") } else { format!("{stem}-{n}{extension}") });
        let mut names = names.filter(|name| !self.is_input(name));
        // The numbers never end, and the names taken do.
        let free = names.find(|name| !self.taken.contains(&name.to_lowercase())).unwrap_or_default();
        drop(names);
        self.taken.insert(free.to_lowercase());
        self.path.join(free)
    }

    fn is_input(&self, name: &str) -> bool {
        self.path.join(name).canonicalize().is_ok_and(|path| self.inputs.contains(&path))
    }
}

impl Draft {
    /// Writes the result of the input at `index` into `folder`, under a name that no input has.
    pub fn write(folder: &Path, index: usize, bytes: &[u8]) -> io::Result<Self> {
        let path = folder.join(format!(".lapidary-{}-{index}.part", std::process::id()));
        let draft = Self { path };
        fs::write(&draft.path, bytes)?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Settled drafts are no longer there.
        let _ = fs::remove_file(&self.path);
    }
}
