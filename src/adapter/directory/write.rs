//! Blobs in the making.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;

use super::{DirectoryBlobs, UNFINISHED, blocking, create_folder, sync_folder};
use crate::port::{BlobKey, BlobWriter, Failure, Result};

/// Pieces are gathered to this many bytes before they go to the file, so that small blobs cost one write.
const GATHERED: usize = 256 << 10;

/// Tells files of one key and one process apart.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Makes its file when there is enough to write, or all.
#[derive(Debug)]
pub(super) struct Writer {
    blobs: DirectoryBlobs,
    key: BlobKey,
    unfinished: Option<Unfinished>,
    gathered: Vec<u8>,
    /// Whether something that was written did not reach the file: a rest must not pass for the whole.
    lost: bool,
}

/// A file that is removed unless it was renamed.
#[derive(Debug)]
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Unfinished {
    fn create(blobs: &DirectoryBlobs, key: BlobKey) -> io::Result<Self> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = blobs.root.join(UNFINISHED).join(format!("{key}.{}.{number}", std::process::id()));
        Ok(Self { file: create_file(&path)?, path })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Once it is finished there is nothing at this path.
        let _ = fs::remove_file(&self.path);
    }
}

impl Writer {
    pub(super) const fn new(blobs: DirectoryBlobs, key: BlobKey) -> Self {
        Self { blobs, key, unfinished: None, gathered: Vec::new(), lost: false }
    }

    fn check_whole(&self) -> Result<()> {
        if self.lost {
            Err(Failure::passing("what was written before did not reach the service's storage"))
        } else {
            Ok(())
        }
    }
}

#[async_trait]
impl BlobWriter for Writer {
    async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_whole()?;
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() < GATHERED {
            return Ok(());
        }
        let (blobs, key, gathered) = (self.blobs.clone(), self.key, std::mem::take(&mut self.gathered));
        let before = self.unfinished.take();
        self.lost = true;
        let written = blocking(move || {
            let unfinished = before.map_or_else(|| Unfinished::create(&blobs, key), Ok)?;
            (&unfinished.file).write_all(&gathered)?;
            Ok(unfinished)
        });
        self.unfinished = Some(written.await?);
        self.lost = false;
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        self.check_whole()?;
        let Self { blobs, key, unfinished, gathered, .. } = *self;
        blocking(move || {
            let unfinished = unfinished.map_or_else(|| Unfinished::create(&blobs, key), Ok)?;
            (&unfinished.file).write_all(&gathered)?;
            unfinished.file.sync_all()?;
            let (folder, path) = (blobs.folder(key), blobs.path(key));
            match fs::rename(&unfinished.path, &path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    create_folder(&folder)?;
                    fs::rename(&unfinished.path, &path)?;
                }
                done => done?,
            }
            sync_folder(&folder)
        })
        .await
    }
}

/// Makes a file that only its owner can read; one that is there already is an error.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
