//! [`Blobs`] in a directory.
//!
//! A blob lies at `xx/<key>`, where `xx` are two hexadecimal digits of its key that spread the files over 256 folders;
//! one in the making at `new/<key>.<number>`. It is written, synced, renamed, and its folder synced, in this order, so that a
//! blob is there whole or not at all, whatever ends the process or the power.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::{
    fmt, fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use crate::{
    clock::Timestamp,
    port::{BlobKey, BlobWriter, Blobs, Face, Failure, OpenBlob, Result},
};

/// Blobs in a directory, each a file that only its owner can read. Clones are the same blobs; several processes may share a
/// directory.
#[derive(Clone)]
pub struct DirectoryBlobs {
    root: Arc<Path>,
    /// The last that was listed.
    listed: Arc<Mutex<Option<BlobKey>>>,
}

/// Files in the making.
const UNFINISHED: &str = "new";

impl DirectoryBlobs {
    /// Opens a directory, made where there is none.
    ///
    /// # Errors
    /// Where it cannot be made or written to.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        create_folder(root).and_then(|()| create_folder(&root.join(UNFINISHED))).map_err(failure)?;
        let probe = root.join(UNFINISHED).join(format!("probe.{}", std::process::id()));
        // A process of the same number, as those of containers are, may have died of it.
        absent_is_fine(fs::remove_file(&probe)).map_err(failure)?;
        write::create_file(&probe).and_then(|_| fs::remove_file(&probe)).map_err(failure)?;
        Ok(Self { root: root.into(), listed: Arc::default() })
    }

    fn folder(&self, key: BlobKey) -> PathBuf {
        // The last bits of a UUID v7 are random, its first ones the time.
        let [.., last] = key.job().0.into_bytes();
        self.root.join(format!("{last:02x}"))
    }

    fn path(&self, key: BlobKey) -> PathBuf {
        self.folder(key).join(key.to_string())
    }
}

impl fmt::Debug for DirectoryBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DirectoryBlobs").field(&self.root).finish()
    }
}

#[async_trait]
impl Blobs for DirectoryBlobs {
    async fn create(&self, key: BlobKey) -> Result<Box<dyn BlobWriter>> {
        Ok(Box::new(write::Writer::new(self.clone(), key)))
    }

    async fn open(&self, key: BlobKey) -> Result<Option<OpenBlob>> {
        let path = self.path(key);
        blocking(move || match fs::File::open(path) {
            Ok(file) => Ok(Some(OpenBlob { len: file.metadata()?.len(), reader: Box::new(read::Reader::new(file)) })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    fn address(&self, _: BlobKey, _: Face<'_>, _: Timestamp, _: Duration) -> Result<Option<String>> {
        Ok(None)
    }

    async fn delete(&self, key: BlobKey) -> Result<()> {
        let path = self.path(key);
        // Not synced: a file that comes back after a loss of power is swept once more.
        blocking(move || absent_is_fine(fs::remove_file(path))).await
    }

    async fn older_than(&self, before: Timestamp, max: usize) -> Result<Vec<BlobKey>> {
        let (root, listed) = (Arc::clone(&self.root), Arc::clone(&self.listed));
        let before = UNIX_EPOCH + Duration::from_millis(before.millis());
        blocking(move || {
            remove_unfinished(&root.join(UNFINISHED), before)?;
            let mut old = Vec::new();
            for folder in fs::read_dir(&root)? {
                let folder = folder?;
                if folder.file_name().len() == 2 {
                    old_blobs(&folder.path(), before, &mut old)?;
                }
            }
            old.sort_unstable();
            let mut listed = listed.lock().unwrap_or_else(PoisonError::into_inner);
            let behind = old.partition_point(|key| Some(*key) <= *listed);
            old.rotate_left(behind);
            old.truncate(max);
            *listed = old.last().copied();
            Ok(old)
        })
        .await
    }
}

fn old_blobs(folder: &Path, before: SystemTime, old: &mut Vec<BlobKey>) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?;
        // What is not a blob is not ours to touch.
        let Some(key) = file.file_name().to_str().and_then(BlobKey::parse) else { continue };
        if is_older(&file, before)? {
            old.push(key);
        }
    }
    Ok(())
}

/// Removes what processes that died have left in the making.
fn remove_unfinished(folder: &Path, before: SystemTime) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?;
        if is_older(&file, before)? {
            absent_is_fine(fs::remove_file(file.path()))?;
        }
    }
    Ok(())
}

fn is_older(file: &fs::DirEntry, before: SystemTime) -> io::Result<bool> {
    match file.metadata().and_then(|about| about.modified()) {
        Ok(modified) => Ok(modified < before),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn absent_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Makes a folder that only its owner can enter, and its name durable.
fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes the names in a folder durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    // Elsewhere folders cannot be opened, and names are durable with the file.
    if cfg!(unix) { fs::File::open(path)?.sync_all() } else { Ok(()) }
}

/// Runs work on files off the asynchronous threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(failure),
        Err(ended) => Err(Failure::passing("the service's storage does not answer").because(ended)),
    }
}

/// All of these may pass, once an operator has made room or mended the disk.
fn failure(error: io::Error) -> Failure {
    let message = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the service's storage is full",
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => "the service's storage cannot be written to",
        _ => "the service's storage does not answer",
    };
    Failure::passing(message).because(error)
}
