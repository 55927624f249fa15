//! Blobs being read.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    sync::Arc,
};

use async_trait::async_trait;

use super::blocking;
use crate::port::{BlobReader, Result};

/// Bytes of a piece.
const PIECE: usize = 256 << 10;

/// Reads an open file, which stays readable when its name is deleted.
#[derive(Debug)]
pub(super) struct Reader(Arc<File>);

impl Reader {
    pub(super) fn new(file: File) -> Self {
        Self(Arc::new(file))
    }
}

#[async_trait]
impl BlobReader for Reader {
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let file = Arc::clone(&self.0);
        blocking(move || piece(&file)).await
    }
}

fn piece(mut file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut piece = vec![0; PIECE];
    let mut filled = 0;
    while filled < PIECE {
        match file.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    piece.truncate(filled);
    Ok((filled > 0).then_some(piece))
}
