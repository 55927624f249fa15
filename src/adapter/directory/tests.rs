use super::*;
use crate::{port::collect, testing};

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lapidary-blobs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key() -> BlobKey {
    BlobKey::Source("01890a5d-ac96-774b-bcce-b302099a80ab".parse().unwrap())
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[tokio::test]
async fn a_blob_lies_where_its_key_says_readable_for_its_owner_alone() {
    let folder = Folder::new("place");
    let blobs = DirectoryBlobs::open(&folder.0).unwrap();
    let mut writer = blobs.create(key()).await.unwrap();
    writer.write(b"bytes").await.unwrap();
    writer.finish().await.unwrap();
    let path = folder.0.join("ab/in-01890a5d-ac96-774b-bcce-b302099a80ab");
    assert_eq!(fs::read(&path).unwrap(), b"bytes");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
    assert!(files(&folder.0.join(UNFINISHED)).is_empty());
    assert_eq!(collect(blobs.open(key()).await.unwrap().unwrap()).await.unwrap(), b"bytes");
}

#[test]
fn a_probe_that_a_process_of_the_same_number_left_is_no_obstacle() {
    let folder = Folder::new("probe");
    let left = folder.0.join(UNFINISHED).join(format!("probe.{}", std::process::id()));
    fs::create_dir_all(left.parent().unwrap()).unwrap();
    fs::write(left, "").unwrap();
    DirectoryBlobs::open(&folder.0).unwrap();
    assert!(files(&folder.0.join(UNFINISHED)).is_empty());
}

#[tokio::test]
async fn a_writer_that_is_dropped_leaves_nothing() {
    let folder = Folder::new("dropped");
    let blobs = DirectoryBlobs::open(&folder.0).unwrap();
    let mut writer = blobs.create(key()).await.unwrap();
    writer.write(&vec![7; 1 << 20]).await.unwrap();
    assert_eq!(files(&folder.0.join(UNFINISHED)).len(), 1);
    drop(writer);
    assert!(files(&folder.0.join(UNFINISHED)).is_empty());
    assert!(blobs.open(key()).await.unwrap().is_none());
}

#[tokio::test]
async fn what_a_dead_process_left_in_the_making_is_removed_and_strange_files_are_not() {
    let folder = Folder::new("stale");
    let blobs = DirectoryBlobs::open(&folder.0).unwrap();
    fs::write(folder.0.join("new/left"), b"x").unwrap();
    fs::create_dir(folder.0.join("ab")).unwrap();
    fs::write(folder.0.join("ab/strange"), b"x").unwrap();
    let later = Timestamp::from_millis(u64::MAX >> 20);
    assert!(blobs.older_than(later, 10).await.unwrap().is_empty());
    assert!(files(&folder.0.join(UNFINISHED)).is_empty());
    assert_eq!(files(&folder.0.join("ab")), ["strange"]);
}

#[tokio::test]
async fn a_folder_that_is_gone_fails_and_may_come_back() {
    let folder = Folder::new("gone");
    let blobs = DirectoryBlobs::open(&folder.0).unwrap();
    fs::remove_dir_all(&folder.0).unwrap();
    let failure = blobs.create(key()).await.unwrap().finish().await.unwrap_err();
    assert!(failure.may_pass, "{failure:?}");
}

#[tokio::test]
async fn after_a_write_that_failed_the_rest_is_no_blob() {
    let folder = Folder::new("lost");
    let blobs = DirectoryBlobs::open(&folder.0).unwrap();
    let mut writer = blobs.create(key()).await.unwrap();
    fs::remove_dir(folder.0.join(UNFINISHED)).unwrap();
    assert!(writer.write(&vec![7; 1 << 20]).await.is_err());
    fs::create_dir(folder.0.join(UNFINISHED)).unwrap();
    assert!(writer.write(b"rest").await.is_err());
    assert!(writer.finish().await.is_err());
    assert!(blobs.open(key()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_file_is_no_directory() {
    let folder = Folder::new("file");
    fs::write(&folder.0, b"").unwrap();
    assert!(DirectoryBlobs::open(&folder.0).is_err());
    fs::remove_file(&folder.0).unwrap();
}

#[tokio::test]
async fn what_blobs_promise_holds() {
    let folder = Folder::new("suite");
    let number = std::sync::atomic::AtomicU32::new(0);
    testing::blobs(async || {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Arc::new(DirectoryBlobs::open(folder.0.join(number.to_string())).unwrap())
    })
    .await;
}
