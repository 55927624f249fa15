//! What [`Blobs`] promises.

use std::sync::Arc;

use uuid::Uuid;

use super::{Fact, facts, hold};
use crate::{
    clock::Timestamp,
    port::{
        BlobKey, Blobs, OpenBlob, Result, collect,
        ledger::{Fence, JobId},
    },
};

const FACTS: &[Fact<dyn Blobs>] = facts![
    what_is_written_is_read,
    an_empty_blob_is_a_blob,
    pieces_are_at_most_256_kib,
    nothing_is_seen_before_it_is_finished,
    dropped_unfinished_it_leaves_nothing,
    a_blob_is_replaced_by_one_of_its_key,
    the_first_is_seen_until_the_second_is_finished,
    keys_are_told_apart,
    a_deleted_blob_is_gone,
    deleting_what_is_not_there_is_no_failure,
    what_was_opened_is_read_to_its_end_though_it_is_deleted,
    finished_blobs_are_listed_by_age,
    no_more_are_listed_than_asked_for,
    repeated_calls_list_all,
];

/// Checks what [`Blobs`] promises.
///
/// # Panics
/// If it does not hold.
pub async fn blobs<B: Blobs + 'static>(fresh: impl AsyncFn() -> Arc<B>) {
    let any = async || {
        let any: Arc<dyn Blobs> = fresh().await;
        any
    };
    hold(FACTS, any).await;
}

const LATER: Timestamp = Timestamp::from_millis(1 << 50);

fn source(job: u128) -> BlobKey {
    BlobKey::Source(JobId(Uuid::from_u128(job)))
}

fn made(job: u128, fence: u64) -> BlobKey {
    BlobKey::Result(JobId(Uuid::from_u128(job)), Fence(fence))
}

/// Bytes of which no two pieces are alike.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + at / 251) as u8).collect()
}

async fn put(blobs: &dyn Blobs, key: BlobKey, bytes: &[u8]) -> Result<()> {
    let mut writer = blobs.create(key).await?;
    for piece in bytes.chunks(100_000) {
        writer.write(piece).await?;
    }
    writer.finish().await
}

async fn read(blobs: &dyn Blobs, key: BlobKey) -> Result<Option<Vec<u8>>> {
    let Some(blob) = blobs.open(key).await? else { return Ok(None) };
    let len = blob.len;
    let whole = collect(blob).await?;
    assert_eq!(len, whole.len() as u64);
    Ok(Some(whole))
}

async fn what_is_written_is_read(blobs: Arc<dyn Blobs>) -> Result<()> {
    for len in [1, 100_001, 262_144, 1_000_003] {
        put(&*blobs, made(1, len as u64), &bytes(len)).await?;
        assert!(read(&*blobs, made(1, len as u64)).await? == Some(bytes(len)), "{len} bytes");
    }
    Ok(())
}

async fn an_empty_blob_is_a_blob(blobs: Arc<dyn Blobs>) -> Result<()> {
    put(&*blobs, source(1), b"").await?;
    assert_eq!(read(&*blobs, source(1)).await?, Some(Vec::new()));
    Ok(())
}

async fn pieces_are_at_most_256_kib(blobs: Arc<dyn Blobs>) -> Result<()> {
    put(&*blobs, source(1), &bytes(1_000_003)).await?;
    let Some(OpenBlob { mut reader, .. }) = blobs.open(source(1)).await? else { panic!("no blob") };
    while let Some(piece) = reader.next().await? {
        assert!((1..=256 << 10).contains(&piece.len()), "{}", piece.len());
    }
    assert_eq!(reader.next().await?, None, "the end stays the end");
    Ok(())
}

async fn nothing_is_seen_before_it_is_finished(blobs: Arc<dyn Blobs>) -> Result<()> {
    let mut writer = blobs.create(source(1)).await?;
    writer.write(b"half").await?;
    assert_eq!(read(&*blobs, source(1)).await?, None);
    writer.write(b" and half").await?;
    writer.finish().await?;
    assert_eq!(read(&*blobs, source(1)).await?, Some(b"half and half".to_vec()));
    Ok(())
}

async fn dropped_unfinished_it_leaves_nothing(blobs: Arc<dyn Blobs>) -> Result<()> {
    let mut writer = blobs.create(source(1)).await?;
    writer.write(b"half").await?;
    drop(writer);
    assert_eq!(read(&*blobs, source(1)).await?, None);
    assert_eq!(blobs.older_than(LATER, 10).await?, []);
    Ok(())
}

async fn a_blob_is_replaced_by_one_of_its_key(blobs: Arc<dyn Blobs>) -> Result<()> {
    put(&*blobs, source(1), b"the first").await?;
    put(&*blobs, source(1), b"second").await?;
    assert_eq!(read(&*blobs, source(1)).await?, Some(b"second".to_vec()));
    Ok(())
}

async fn the_first_is_seen_until_the_second_is_finished(blobs: Arc<dyn Blobs>) -> Result<()> {
    put(&*blobs, source(1), b"first").await?;
    let mut writer = blobs.create(source(1)).await?;
    writer.write(b"second").await?;
    assert_eq!(read(&*blobs, source(1)).await?, Some(b"first".to_vec()));
    drop(writer);
    assert_eq!(read(&*blobs, source(1)).await?, Some(b"first".to_vec()));
    Ok(())
}

async fn keys_are_told_apart(blobs: Arc<dyn Blobs>) -> Result<()> {
    let keys = [source(1), source(2), made(1, 1), made(1, 2), made(2, 1)];
    for key in keys {
        put(&*blobs, key, key.to_string().as_bytes()).await?;
    }
    for key in keys {
        assert_eq!(read(&*blobs, key).await?, Some(key.to_string().into_bytes()));
    }
    Ok(())
}

async fn a_deleted_blob_is_gone(blobs: Arc<dyn Blobs>) -> Result<()> {
    put(&*blobs, source(1), b"bytes").await?;
    put(&*blobs, made(1, 1), b"others").await?;
    blobs.delete(source(1)).await?;
    assert_eq!(read(&*blobs, source(1)).await?, None);
    assert_eq!(blobs.older_than(LATER, 10).await?, [made(1, 1)]);
    Ok(())
}

async fn deleting_what_is_not_there_is_no_failure(blobs: Arc<dyn Blobs>) -> Result<()> {
    blobs.delete(source(1)).await?;
    put(&*blobs, source(1), b"bytes").await?;
    blobs.delete(source(1)).await?;
    blobs.delete(source(1)).await
}

async fn what_was_opened_is_read_to_its_end_though_it_is_deleted(blobs: Arc<dyn Blobs>) -> Result<()> {
    put(&*blobs, source(1), &bytes(600_000)).await?;
    let Some(blob) = blobs.open(source(1)).await? else { panic!("no blob") };
    blobs.delete(source(1)).await?;
    assert!(collect(blob).await? == bytes(600_000));
    Ok(())
}

async fn finished_blobs_are_listed_by_age(blobs: Arc<dyn Blobs>) -> Result<()> {
    put(&*blobs, source(1), b"bytes").await?;
    put(&*blobs, made(1, 7), b"others").await?;
    assert_eq!(blobs.older_than(Timestamp::default(), 10).await?, [], "none is that old");
    let mut all = blobs.older_than(LATER, 10).await?;
    all.sort_unstable();
    assert_eq!(all, [source(1), made(1, 7)]);
    Ok(())
}

async fn no_more_are_listed_than_asked_for(blobs: Arc<dyn Blobs>) -> Result<()> {
    for job in 1..=5 {
        put(&*blobs, source(job), b"bytes").await?;
    }
    for (max, listed) in [(0, 0), (3, 3), (5, 5), (100, 5)] {
        let mut found = blobs.older_than(LATER, max).await?;
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), listed, "of 5, {max} at most");
    }
    Ok(())
}

async fn repeated_calls_list_all(blobs: Arc<dyn Blobs>) -> Result<()> {
    for job in 1..=50 {
        put(&*blobs, source(job), b"bytes").await?;
    }
    let mut found = Vec::new();
    for _ in 0..20 {
        found.extend(blobs.older_than(LATER, 6).await?);
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 50);
    Ok(())
}
