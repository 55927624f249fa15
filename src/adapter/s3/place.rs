//! Where a bucket is, and what its vendor does not have.

use crate::{
    error::Violation,
    percent,
    port::{Failure, Result},
    request::{Acl, Provider, StorageClass, Store},
};

/// A server that speaks the S3 protocol, which the host has configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme, host and port: `https://s3.example.com`.
    pub url: String,
    /// Whether a bucket is a label before the host, or, by `false`, the first segment of the path.
    pub virtual_hosts: bool,
    /// What stands before bucket and key in the permanent address of an object; [`Self::url`] where it is `None`.
    pub public_url: Option<String>,
}

impl Endpoint {
    /// One that finds buckets by the path, as most servers do.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), virtual_hosts: false, public_url: None }
    }

    /// Scheme, and host with port.
    fn parts(&self) -> (&str, &str) {
        let (scheme, host) = self.url.split_once("://").unwrap_or(("https", &self.url));
        (scheme, host.trim_end_matches('/'))
    }
}

/// Where an object is put, and where it stays.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) upload: String,
    pub(super) permanent: String,
}

/// The place of `key` in a bucket.
pub(super) fn place(provider: Provider, custom: Option<&Endpoint>, store: &Store, key: &str) -> Result<Place> {
    let Store { bucket, region, .. } = store;
    let host = match provider {
        // Regions in China have a partition of their own.
        Provider::Aws if region.starts_with("cn-") => format!("s3.{region}.amazonaws.com.cn"),
        Provider::Aws => format!("s3.{region}.amazonaws.com"),
        Provider::Google => "storage.googleapis.com".to_owned(),
        Provider::DigitalOcean => format!("{region}.digitaloceanspaces.com"),
        Provider::Custom => {
            return custom.map(|endpoint| custom_place(endpoint, bucket, key)).ok_or_else(no_endpoint);
        }
    };
    // No certificate is for two labels in place of one, and no host name has an underscore.
    let plain = !bucket.contains(['.', '_']);
    let url = address("https", &host, plain, bucket, key);
    Ok(Place { upload: url.clone(), permanent: url })
}

fn custom_place(endpoint: &Endpoint, bucket: &str, key: &str) -> Place {
    let (scheme, host) = endpoint.parts();
    let virtual_host = endpoint.virtual_hosts && !bucket.contains('_') && !(scheme == "https" && bucket.contains('.'));
    let upload = address(scheme, host, virtual_host, bucket, key);
    let permanent = endpoint.public_url.as_ref().map_or_else(
        || upload.clone(),
        |base| format!("{}/{bucket}/{}", base.trim_end_matches('/'), percent::encode(key, b"/")),
    );
    Place { upload, permanent }
}

fn address(scheme: &str, host: &str, virtual_host: bool, bucket: &str, key: &str) -> String {
    let key = percent::encode(key, b"/");
    if virtual_host { format!("{scheme}://{bucket}.{host}/{key}") } else { format!("{scheme}://{host}/{bucket}/{key}") }
}

fn no_endpoint() -> Failure {
    Failure::lasting("must have another provider: no endpoint is configured for custom")
}

/// What a vendor is known not to have, or to change. Sources: Google's "Simple migration from Amazon S3" (only
/// headers with an equivalent of its own, classes by its own names) and its list of predefined ACLs; DigitalOcean's Spaces
/// API and Terraform provider (`private` and `public-read`, one class).
pub(super) fn check(provider: Provider, custom: Option<&Endpoint>, store: &Store) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut refuse = |refused: bool, path: &str, must: &str| {
        if refused {
            violations.push(Violation { path: path.into(), value: None, allowed: must.into() });
        }
    };
    let (underscored, classy) = (store.bucket.contains('_'), store.class != StorageClass::Standard);
    match provider {
        Provider::Aws => refuse(underscored, "bucket", "must have no underscores"),
        Provider::Google => {
            refuse(store.acl == Acl::AwsExecRead, "acl", "must be another, which google has");
            refuse(classy, "class", "must be standard, since google has none of the others");
            refuse(!store.tags.is_empty(), "tags", "must be absent, since google has none");
        }
        Provider::DigitalOcean => {
            let known = [Acl::Private, Acl::PublicRead].contains(&store.acl);
            refuse(underscored, "bucket", "must have no underscores");
            refuse(!known, "acl", "must be private or public-read, since digitalocean has none of the others");
            refuse(classy, "class", "must be standard, since digitalocean has none of the others");
        }
        Provider::Custom => {
            refuse(custom.is_none(), "provider", "must be another: no endpoint is configured for custom");
        }
    }
    let metadata = store.metadata.iter().map(|(name, value)| (format!("metadata.{name}"), value));
    let headers = store.headers.iter().map(|(name, value)| (format!("headers.{}", name.as_str()), value));
    for (path, value) in metadata.chain(headers) {
        let ascii = value.bytes().all(|octet| (b' '..=b'~').contains(&octet));
        refuse(!ascii, &path, "must be ASCII, since other characters do not survive");
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(provider: Provider, bucket: &str, region: &str, key: &str) -> String {
        let place = place(provider, None, &Store::connector("c", bucket, region), key).unwrap();
        assert_eq!(place.upload, place.permanent);
        place.upload
    }

    #[test]
    fn every_vendor_has_its_addresses() {
        for (provider, bucket, region, url) in [
            (Provider::Aws, "photos", "eu-west-1", "https://photos.s3.eu-west-1.amazonaws.com/a/b%20c.jpg"),
            (Provider::Aws, "my.photos", "eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.photos/a/b%20c.jpg"),
            (Provider::Aws, "photos", "cn-north-1", "https://photos.s3.cn-north-1.amazonaws.com.cn/a/b%20c.jpg"),
            (Provider::Google, "photos", "eu", "https://photos.storage.googleapis.com/a/b%20c.jpg"),
            (Provider::Google, "my_photos", "eu", "https://storage.googleapis.com/my_photos/a/b%20c.jpg"),
            (Provider::DigitalOcean, "photos", "ams3", "https://photos.ams3.digitaloceanspaces.com/a/b%20c.jpg"),
            (Provider::DigitalOcean, "my.photos", "ams3", "https://ams3.digitaloceanspaces.com/my.photos/a/b%20c.jpg"),
        ] {
            assert_eq!(at(provider, bucket, region, "a/b c.jpg"), url);
        }
        assert!(place(Provider::Custom, None, &Store::connector("c", "b", "r"), "k").is_err());
    }

    #[test]
    fn a_custom_endpoint_finds_buckets_by_path_or_host() {
        let custom = |endpoint: &Endpoint, bucket: &str| {
            let place = place(Provider::Custom, Some(endpoint), &Store::connector("c", bucket, "r"), "k/ü");
            let Place { upload, permanent } = place.unwrap();
            (upload, permanent)
        };
        let both = |url: &str| (url.to_owned(), url.to_owned());
        let by_path = Endpoint::new("http://minio:9000/");
        assert_eq!(custom(&by_path, "photos"), both("http://minio:9000/photos/k/%C3%BC"));
        let by_host = Endpoint { virtual_hosts: true, ..Endpoint::new("https://s3.example.com:8443") };
        assert_eq!(custom(&by_host, "photos"), both("https://photos.s3.example.com:8443/k/%C3%BC"));
        assert_eq!(custom(&by_host, "my.photos"), both("https://s3.example.com:8443/my.photos/k/%C3%BC"));
        let elsewhere = Endpoint { public_url: Some("https://cdn.example.com/s3/".into()), ..by_path };
        assert_eq!(custom(&elsewhere, "photos").1, "https://cdn.example.com/s3/photos/k/%C3%BC");
    }

    #[test]
    fn what_a_vendor_does_not_have_is_refused_before_anything_is_sent() {
        let store = || Store::connector("c", "photos", "region");
        let underscored = Store::connector("c", "my_photos", "region");
        for (provider, store, fits) in [
            (Provider::Aws, store().acl(Acl::AwsExecRead).class(StorageClass::Glacier).tag("a", "b"), true),
            (Provider::Aws, underscored.clone(), false),
            (Provider::Google, underscored.clone(), true),
            (Provider::Google, store().acl(Acl::BucketOwnerRead), true),
            (Provider::Google, store().acl(Acl::AwsExecRead), false),
            (Provider::Google, store().class(StorageClass::Glacier), false),
            (Provider::Google, store().tag("a", "b"), false),
            (Provider::DigitalOcean, underscored, false),
            (Provider::DigitalOcean, store().acl(Acl::Private).tag("a", "b"), true),
            (Provider::DigitalOcean, store().acl(Acl::AuthenticatedRead), false),
            (Provider::DigitalOcean, store().class(StorageClass::StandardIa), false),
            (Provider::Custom, store().class(StorageClass::StandardIa).tag("a", "b"), true),
            (Provider::Custom, store().metadata("a", "ü"), false),
        ] {
            let checked = check(provider, Some(&Endpoint::new("https://s3.example.com")), &store);
            assert_eq!(checked.is_empty(), fits, "{provider:?} {store:?}");
            assert!(checked.iter().all(|violation| violation.allowed.starts_with("must ")));
        }
        assert!(check(Provider::Custom, None, &store())[0].allowed.starts_with("must "));
    }
    #[test]
    fn all_that_a_vendor_does_not_have_is_named() {
        let store =
            Store::connector("c", "my_photos", "region").acl(Acl::AuthenticatedRead).class(StorageClass::Glacier);
        let store = store.tag("a", "b").metadata("x", "ü").metadata("y", "u");
        let named = |provider| check(provider, None, &store).into_iter().map(|violation| violation.path);
        assert!(named(Provider::Google).eq(["class", "tags", "metadata.x"]));
        assert!(named(Provider::DigitalOcean).eq(["bucket", "acl", "class", "metadata.x"]));
        assert!(named(Provider::Custom).eq(["provider", "metadata.x"]));
    }
}
