//! Clients' own object storage.

use std::fmt;

use async_trait::async_trait;

use super::Result;
use crate::{
    error::Violation,
    format::content_encoding,
    request::{Provider, Secret, Store},
};

/// Whose account an object goes to, as a connector keeps it and an inline destination gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The vendor.
    pub provider: Provider,
    /// Access key id.
    pub key: Secret,
    /// Secret access key.
    pub secret: Secret,
}

/// What to store, and where.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Its media type, unless [`Store::headers`] give another.
    pub media_type: &'a str,
    /// Its file name: the object's name where [`Store::path`] names a folder or nothing.
    pub name: &'a str,
    /// The destination's attributes. Its [`Destination`](crate::request::Destination) has become `credentials`.
    pub store: &'a Store,
    /// Whose account.
    pub credentials: &'a Credentials,
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("bytes", &self.bytes.len())
            .field("media_type", &self.media_type)
            .field("name", &self.name)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl Object<'_> {
    /// The `Content-Encoding` that it has to be stored with: that of a gzipped SVG, named `svgz`.
    pub fn encoding(&self) -> Option<&'static str> {
        content_encoding(self.media_type, self.name)
    }

    /// The object's key in its bucket. A path whose last segment has a dot inside names the object; any other names its folder.
    pub fn key(&self) -> String {
        let path = self.store.path.as_deref().unwrap_or_default();
        let last = path.rsplit('/').next().unwrap_or_default();
        if last.trim_matches('.').contains('.') {
            return path.to_owned();
        }
        let folder = path.trim_end_matches('/');
        if folder.is_empty() { self.name.to_owned() } else { format!("{folder}/{}", self.name) }
    }
}

/// Puts results into clients' buckets.
#[async_trait]
pub trait Storage: fmt::Debug + Send + Sync {
    /// All that is refused whatever the network says: a provider that is not configured, a region it does not have. Each
    /// names a field of the destination (`class`, `tags.name`; empty for the whole) and what it must be, in words that begin
    /// with "must". Its value is left out: the service adds what may be shown of it.
    fn check(&self, provider: Provider, store: &Store) -> Vec<Violation>;

    /// Puts the object, in place of any other of its key, and answers its permanent address. Repeatable; may be dropped
    /// at any time, after which the object is there whole or not at all.
    ///
    /// # Errors
    /// Passing where the other side was busy or out of reach; lasting where it refused. Names bucket and reason.
    async fn put(&self, object: Object<'_>) -> Result<String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_an_extension_is_the_key_and_any_other_is_a_folder() {
        let credentials = Credentials { provider: Provider::Aws, key: "k".into(), secret: "s".into() };
        for (path, key) in [
            (None, "a.jpg"),
            (Some("photos"), "photos/a.jpg"),
            (Some("photos/2026/"), "photos/2026/a.jpg"),
            (Some("photos/b.webp"), "photos/b.webp"),
            (Some("v1.2/photos"), "v1.2/photos/a.jpg"),
            (Some(".hidden"), ".hidden/a.jpg"),
        ] {
            let mut store = Store::connector("c", "bucket", "region");
            store.path = path.map(str::to_owned);
            let object = Object {
                bytes: b"",
                media_type: "image/jpeg",
                name: "a.jpg",
                store: &store,
                credentials: &credentials,
            };
            assert_eq!(object.key(), key);
        }
    }
}
