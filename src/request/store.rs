//! `store`: the client's own object storage.

use std::{borrow::Cow, collections::BTreeMap, net::Ipv4Addr};

use super::{
    Secret,
    choice::{Choice, choice},
    header::{is_name, is_value},
    json::{Entries, Json},
    read::{Case, Fields, Object, Values},
    show::{is_private, shown, shown_field},
};

choice! {
    /// Vendors of object storage, all spoken to by the S3 protocol.
    Provider {
        /// Amazon S3.
        Aws = "aws",
        /// Google Cloud Storage.
        Google = "google",
        /// DigitalOcean Spaces.
        DigitalOcean = "digitalocean",
        /// The endpoint that the operator has configured.
        Custom = "custom",
    }
}

choice! {
    /// The canned access control lists of S3 objects.
    #[derive(Default)]
    Acl {
        /// The owner alone.
        Private = "private",
        /// Everybody reads.
        #[default]
        PublicRead = "public-read",
        /// Everybody reads and writes.
        PublicReadWrite = "public-read-write",
        /// Amazon EC2 reads.
        AwsExecRead = "aws-exec-read",
        /// Every account of the vendor reads.
        AuthenticatedRead = "authenticated-read",
        /// The bucket's owner reads.
        BucketOwnerRead = "bucket-owner-read",
        /// The bucket's owner has full control.
        BucketOwnerFullControl = "bucket-owner-full-control",
    }
}

choice! {
    /// Storage classes.
    #[derive(Default)]
    StorageClass {
        /// For frequent access.
        #[default]
        Standard = "standard",
        /// Kept with less redundancy.
        ReducedRedundancy = "reduced-redundancy",
        /// For infrequent access.
        StandardIa = "standard-ia",
        /// For infrequent access, in one zone.
        OnezoneIa = "onezone-ia",
        /// Moved by the vendor according to access.
        IntelligentTiering = "intelligent-tiering",
        /// Cold archive.
        Glacier = "glacier",
        /// Coldest archive.
        DeepArchive = "deep-archive",
    }
}

choice! {
    /// HTTP headers that an object can be delivered with.
    ObjectHeader {
        /// When a copy becomes stale.
        Expires = "Expires",
        /// How copies are kept.
        CacheControl = "Cache-Control",
        /// The media type, in place of the result's own.
        ContentType = "Content-Type",
        /// What must be undone to get the media type.
        ContentEncoding = "Content-Encoding",
        /// For speakers of which language.
        ContentLanguage = "Content-Language",
        /// Shown or saved, and under which name.
        ContentDisposition = "Content-Disposition",
    }
}

/// Whose account an object goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// Named in the request.
    Inline {
        /// The vendor.
        provider: Provider,
        /// Access key id.
        key: Secret,
        /// Secret access key.
        secret: Secret,
    },
    /// Kept in the client's account with the service.
    Connector {
        /// The connector's id.
        id: String,
    },
}

/// Where and how the result is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Store {
    /// Whose account.
    pub destination: Destination,
    /// Bucket name: 3 to 63 lowercase letters, digits, dots and hyphens; underscores too where the provider is neither
    /// `aws` nor `digitalocean`.
    pub bucket: String,
    /// The bucket's region: letters, digits and hyphens.
    pub region: String,
    /// Place in the bucket without a leading slash, at most 1,024 bytes; `None` is the root. Where its last segment has a dot
    /// inside it is the key of the object (`photos/cat.jpg`, but `photos/v1.2` as well); any other is a folder, in which the
    /// object has the name of the result.
    pub path: Option<String>,
    /// Who may read and write; [`Acl::PublicRead`] by default.
    pub acl: Acl,
    /// Storage class; [`StorageClass::Standard`] by default, and the only one of `google` and `digitalocean`.
    pub class: StorageClass,
    /// The object's own metadata, at most 2,048 bytes over all names and values. Names compare without case.
    pub metadata: BTreeMap<String, String>,
    /// Headers that the object is delivered with.
    pub headers: BTreeMap<ObjectHeader, String>,
    /// Not with `google`; at most 10 tags, names of 1 to 128 characters and values of at most 256.
    pub tags: BTreeMap<String, String>,
}

impl Store {
    /// To a bucket that is reached with credentials of its own.
    pub fn inline(
        provider: Provider,
        (key, secret): (impl Into<Secret>, impl Into<Secret>),
        bucket: impl Into<String>,
        region: impl Into<String>,
    ) -> Self {
        Self::at(Destination::Inline { provider, key: key.into(), secret: secret.into() }, bucket.into(), region.into())
    }

    /// To a bucket that is reached through a connector of the client's account.
    pub fn connector(id: impl Into<String>, bucket: impl Into<String>, region: impl Into<String>) -> Self {
        Self::at(Destination::Connector { id: id.into() }, bucket.into(), region.into())
    }

    /// What may be shown of a field, or by `metadata.name` of an entry of a map; `None` where it is absent.
    pub fn shown(&self, path: &str) -> Option<String> {
        let (field, name) = path.split_once('.').map_or((path, None), |(field, name)| (field, Some(name)));
        let json = self.write();
        let value = json.get(field)?;
        match name {
            Some(name) => value.get(name).map(|value| shown(value, is_private(name))),
            None => Some(shown_field(field, value)),
        }
    }

    /// Sets the place in the bucket.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets who may read and write.
    #[must_use]
    pub const fn acl(mut self, acl: Acl) -> Self {
        self.acl = acl;
        self
    }

    /// Sets the storage class.
    #[must_use]
    pub const fn class(mut self, class: StorageClass) -> Self {
        self.class = class;
        self
    }

    /// Adds a piece of metadata, in place of any other of that name.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Adds a header that the object is delivered with, in place of any other of that name.
    #[must_use]
    pub fn header(mut self, name: ObjectHeader, value: impl Into<String>) -> Self {
        self.headers.insert(name, value.into());
        self
    }

    /// Adds a tag, in place of any other of that name.
    #[must_use]
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(name.into(), value.into());
        self
    }

    fn at(destination: Destination, bucket: String, region: String) -> Self {
        Self {
            destination,
            bucket,
            region,
            path: None,
            acl: Acl::default(),
            class: StorageClass::default(),
            metadata: BTreeMap::new(),
            headers: BTreeMap::new(),
            tags: BTreeMap::new(),
        }
    }
}

impl Object for Store {
    fn read(fields: &mut Fields<'_>) -> Self {
        let destination = read_destination(fields);
        let (allowed, underscores) = match destination {
            Destination::Inline { provider: Provider::Aws | Provider::DigitalOcean, .. } => (BUCKET, false),
            _ => (BUCKET_WITH_UNDERSCORES, true),
        };
        let bucket = fields.text("bucket", allowed, |name| is_bucket(name, underscores)).unwrap_or_default();
        fields.require("bucket", "is required");
        let region = fields.text("region", REGION, is_region).unwrap_or_default();
        fields.require("region", "is required");
        let store = Self {
            path: fields.text("path", PATH, is_path).map(Into::into),
            acl: fields.choice("acl").unwrap_or_default(),
            class: fields.choice("class").unwrap_or_default(),
            metadata: fields.map("metadata", Case::Ignored, Values::Plain, metadata),
            headers: fields.map("headers", Case::Ignored, Values::Plain, object_header),
            tags: fields.map("tags", Case::Matters, Values::Plain, tag),
            ..Self::at(destination, bucket.into(), region.into())
        };
        refuse_excess(fields);
        store
    }

    fn write(&self) -> Json {
        let entries = match &self.destination {
            Destination::Connector { id } => Entries::default().put("id", id.as_str()),
            Destination::Inline { provider, key, secret } => Entries::default()
                .put("provider", *provider)
                .put("key", Json::Text(key.clone()))
                .put("secret", Json::Text(secret.clone())),
        };
        let texts = |(name, text): (_, _)| -> (&str, &str) { (String::as_str(name), String::as_str(text)) };
        entries
            .put("bucket", self.bucket.as_str())
            .put("region", self.region.as_str())
            .given("path", self.path.as_deref())
            .unless("acl", self.acl, &Acl::default())
            .unless("class", self.class, &StorageClass::default())
            .texts("metadata", self.metadata.iter().map(texts))
            .texts("headers", self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
            .texts("tags", self.tags.iter().map(texts))
            .into()
    }
}

fn read_destination(fields: &mut Fields<'_>) -> Destination {
    const INLINE: [&str; 3] = ["provider", "key", "secret"];
    let id = fields.text("id", TEXT, is_text);
    let provider = fields.choice("provider");
    let key = fields.text("key", TEXT, is_text).unwrap_or_default();
    let secret = fields.text("secret", TEXT, is_text).unwrap_or_default();
    let inline = INLINE.iter().any(|field| fields.has(field));
    match (fields.has("id"), inline) {
        (true, true) => fields.refuse("id", None, "must not be given together with provider, key or secret"),
        (false, true) => INLINE.iter().for_each(|field| fields.require(field, "is required where id is not given")),
        (false, false) => fields.refuse_whole("must have an id, or provider, key and secret"),
        (true, false) => {}
    }
    match (id, provider) {
        (None, Some(provider)) => Destination::Inline { provider, key: key.into(), secret: secret.into() },
        _ => Destination::Connector { id: id.unwrap_or_default().into() },
    }
}

/// What ids of connectors, access keys and their secrets must be.
pub(crate) const TEXT: &str = "must be a string without control characters, and not empty";

/// Whether it is [that](TEXT).
pub(crate) fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}

fn refuse_excess(fields: &mut Fields<'_>) {
    let (metadata, tags) = (fields.totals("metadata"), fields.totals("tags"));
    if metadata.bytes > 2048 {
        let allowed = "must have at most 2048 bytes over all names and values";
        fields.refuse("metadata", Some(format!("{} bytes", metadata.bytes)), allowed);
    }
    if tags.entries > 10 {
        fields.refuse("tags", Some(format!("{} entries", tags.entries)), "must have at most 10 entries");
    }
}

const BUCKET: &str = "must be a bucket name: 3 to 63 lowercase letters, digits, dots and hyphens, a letter or digit at \
                      both ends, no two dots in a row, no IP address";
const BUCKET_WITH_UNDERSCORES: &str = "must be a bucket name: 3 to 63 lowercase letters, digits, dots, hyphens and \
                                       underscores, a letter or digit at both ends, no two dots in a row, no IP address";

/// The rules that S3 has for buckets of every age, without those on prefixes reserved for its own; Google has
/// underscores besides.
fn is_bucket(name: &str, underscores: bool) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    (3..=63).contains(&name.len())
        && name.bytes().all(|b| plain(b) || b == b'.' || b == b'-' || underscores && b == b'_')
        && name.bytes().next().is_some_and(plain)
        && name.bytes().next_back().is_some_and(plain)
        && !name.contains("..")
        && name.parse::<Ipv4Addr>().is_err()
}

const REGION: &str = "must be a region: 1 to 63 letters, digits and hyphens, a letter or digit at both ends";

/// Regions become a label of a host name.
fn is_region(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

const PATH: &str = "must be a string of at most 1024 bytes without a leading slash, segments . and .., and control \
                    characters";

fn is_path(path: &str) -> bool {
    path.len() <= 1024
        && !path.starts_with('/')
        && !path.split('/').any(|segment| segment == "." || segment == "..")
        && !path.chars().any(char::is_control)
}

type Entry<K> = Result<(K, String), Cow<'static, str>>;

/// Names become headers, `x-amz-meta-` before them.
fn metadata(name: &str, value: &str) -> Entry<String> {
    if !is_name(name) {
        Err("must be named by an HTTP token".into())
    } else if !is_value(value) {
        Err("must be a string without control characters".into())
    } else {
        Ok((name.into(), value.into()))
    }
}

fn object_header(name: &str, value: &str) -> Entry<ObjectHeader> {
    let known = ObjectHeader::ALL.iter().find(|header| header.as_str().eq_ignore_ascii_case(name));
    match known {
        None => Err(ObjectHeader::allowed().replacen("must be", "must be named", 1).into()),
        Some(_) if !is_value(value) => Err("must be a string without control characters".into()),
        Some(header) => Ok((*header, value.into())),
    }
}

fn tag(name: &str, value: &str) -> Entry<String> {
    let legal = |text: &str| text.chars().all(|c| c.is_alphanumeric() || " +-=._:/@".contains(c));
    if !(1..=128).contains(&name.chars().count()) || !legal(name) {
        Err("must be named by 1 to 128 letters, digits, blanks and + - = . _ : / @".into())
    } else if name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("aws:")) {
        Err("must not be named with aws: in front, which is reserved".into())
    } else if value.chars().count() > 256 || !legal(value) {
        Err("must be a string of at most 256 letters, digits, blanks and + - = . _ : / @".into())
    } else {
        Ok((name.into(), value.into()))
    }
}
