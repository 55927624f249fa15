//! Blobs in memory.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;

use super::lock;
use crate::{
    clock::{Clock, Timestamp},
    port::{BlobKey, BlobReader, BlobWriter, Blobs, Face, Failure, OpenBlob, Result},
};

/// Bytes of a piece at most.
const PIECE: usize = 256 << 10;

/// Blobs in memory, together no longer than what it was made for.
#[derive(Clone)]
pub struct MemoryBlobs {
    clock: Arc<dyn Clock>,
    shelf: Arc<Mutex<Shelf>>,
}

struct Shelf {
    blobs: BTreeMap<BlobKey, (Arc<[u8]>, Timestamp)>,
    /// Bytes that may still be written.
    room: u64,
    /// The last that was listed.
    listed: Option<BlobKey>,
}

impl fmt::Debug for MemoryBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBlobs").field("blobs", &lock(&self.shelf).blobs.len()).finish_non_exhaustive()
    }
}

impl MemoryBlobs {
    /// For `bytes` at most, unfinished ones included; what is beyond fails until something is deleted.
    pub fn new(bytes: u64, clock: Arc<dyn Clock>) -> Self {
        Self { clock, shelf: Arc::new(Mutex::new(Shelf { blobs: BTreeMap::new(), room: bytes, listed: None })) }
    }
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn create(&self, key: BlobKey) -> Result<Box<dyn BlobWriter>> {
        Ok(Box::new(Writer { blobs: self.clone(), key, bytes: Vec::new() }))
    }

    async fn open(&self, key: BlobKey) -> Result<Option<OpenBlob>> {
        let found = lock(&self.shelf).blobs.get(&key).map(|(bytes, _)| bytes.clone());
        Ok(found.map(|bytes| OpenBlob { len: bytes.len() as u64, reader: Box::new(Reader { bytes, at: 0 }) }))
    }

    fn address(&self, _: BlobKey, _: Face<'_>, _: Timestamp, _: Duration) -> Result<Option<String>> {
        Ok(None)
    }

    async fn delete(&self, key: BlobKey) -> Result<()> {
        let mut shelf = lock(&self.shelf);
        shelf.room += shelf.blobs.remove(&key).map_or(0, |(bytes, _)| bytes.len() as u64);
        Ok(())
    }

    async fn older_than(&self, before: Timestamp, max: usize) -> Result<Vec<BlobKey>> {
        let mut shelf = lock(&self.shelf);
        let (done, ahead): (Vec<_>, Vec<_>) = shelf.blobs.iter().partition(|(key, _)| Some(**key) <= shelf.listed);
        let old = ahead.into_iter().chain(done).filter(|(_, (_, finished))| *finished < before);
        let listed: Vec<BlobKey> = old.map(|(key, _)| *key).take(max).collect();
        shelf.listed = listed.last().copied().or(shelf.listed);
        Ok(listed)
    }
}

struct Writer {
    blobs: MemoryBlobs,
    key: BlobKey,
    bytes: Vec<u8>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("key", &self.key).field("bytes", &self.bytes.len()).finish()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        lock(&self.blobs.shelf).room += self.bytes.len() as u64;
    }
}

#[async_trait]
impl BlobWriter for Writer {
    async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut shelf = lock(&self.blobs.shelf);
        let left = shelf.room.checked_sub(bytes.len() as u64);
        shelf.room = left.ok_or_else(|| Failure::passing("the service's storage is full"))?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes).into();
        let mut shelf = lock(&self.blobs.shelf);
        let before = shelf.blobs.insert(self.key, (bytes, self.blobs.clock.now()));
        shelf.room += before.map_or(0, |(bytes, _)| bytes.len() as u64);
        Ok(())
    }
}

struct Reader {
    bytes: Arc<[u8]>,
    at: usize,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("at", &self.at).field("of", &self.bytes.len()).finish()
    }
}

#[async_trait]
impl BlobReader for Reader {
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let piece = self.bytes[self.at..].chunks(PIECE).next().map(<[u8]>::to_vec);
        self.at += piece.as_ref().map_or(0, Vec::len);
        Ok(piece)
    }
}
