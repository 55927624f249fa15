//! The typed request: what a client may ask for, validated whole.
//!
//! A request comes as JSON ([`Request::from_json`]) or is built in Rust; either way [`Request::validate`] and the
//! reader hold the same rules and name every violation by JSON path, value and what is allowed:
//!
//! ```
//! use lapidary::request::{Compression, OutputFormat, Request, Resize};
//!
//! let built = Request::new()
//!     .compression(Compression::High)
//!     .resize(Resize::inside(800, 600))
//!     .format(OutputFormat::Webp);
//! built.validate()?;
//!
//! let text = br#"{
//!     "optimize": {"compression": "high"},
//!     "resize": {"width": 800, "height": 600},
//!     "output": {"format": "webp"}
//! }"#;
//! assert_eq!(Request::from_json(text)?, built);
//!
//! let wrong = Request::from_json(br#"{"resize": {"width": "wide"}, "upscale": {}}"#).unwrap_err();
//! assert_eq!(
//!     wrong.to_string(),
//!     "resize.width must be an integer from 1 to 16383, got \"wide\"; upscale.factor is required"
//! );
//! # Ok::<(), lapidary::Error>(())
//! ```
//!
//! | files | what |
//! |---|---|
//! | `mod` `build` | [`Request`]: its fields, doors and setters |
//! | `optimize` `resize` `upscale` `enhance` `output` `store` `webhook` | one object of the interface each |
//! | `json` `read` `choice` `show` | JSON as written, the reader, enums of words, what violations show |
//! | `secret` `url` `header` | texts with rules of their own |

mod build;
mod choice;
mod enhance;
mod header;
mod json;
mod optimize;
mod output;
mod read;
mod resize;
mod secret;
mod show;
mod store;
#[cfg(test)]
mod tests;
mod upscale;
mod url;
mod webhook;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use choice::UnknownWord;
pub use enhance::{Denoise, Face, FaceTarget, Light, Tone};
pub use optimize::{Compression, Optimize};
pub use output::{Encoding, MetadataKind, Output, OutputFormat};
pub use resize::{Gravity, LONGEST_SIDE_PX, NotAColour, Resize, ResizeMode, Rgba};
pub use secret::Secret;
pub use store::{Acl, Destination, ObjectHeader, Provider, StorageClass, Store};
#[cfg(feature = "service")]
pub(crate) use store::{TEXT, is_text};
pub use upscale::{Upscale, UpscaleModel};
pub use url::Url;
pub use webhook::Webhook;

#[cfg(feature = "service")]
use self::show::{is_private, shown};
use self::{
    header::fetch_header,
    json::{Entries, Json},
    read::{Case, Fields, Object, Values},
    url::{is_web_address, refuse_long},
};
use crate::error::{Error, Result, Violation};

/// Entries of `headers` at most, and bytes over all names and values.
const HEADERS: usize = 100;
const HEADER_BYTES: usize = 16 << 10;

/// What a client asks for. The default asks for what happens without any setting, as [`optimize`](Self::optimize) says.
///
/// Prints without its secrets. Serialises to the JSON of the interface, secrets in clear; what equals its default is
/// left out, and an enhancement that `true` would ask for is `true`. Deserialises, from self-describing formats, by the
/// rules of [`Request::from_json`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Request {
    /// Where the image is fetched from: an http or https address with a host.
    pub url: Option<Url>,
    /// How much to give away. `None` is [`Compression::Medium`], but for results in WebP and APNG: lossless as long as their
    /// pixels are only passed on, or come from a lossless source.
    pub optimize: Option<Optimize>,
    /// The size of the result.
    pub resize: Option<Resize>,
    /// Super-resolution.
    pub upscale: Option<Upscale>,
    /// Noise removal.
    pub denoise: Option<Denoise>,
    /// Low-light boost.
    pub light: Option<Light>,
    /// Tone adjustments.
    pub tone: Option<Tone>,
    /// Face enhancement.
    pub face: Option<Face>,
    /// The file that comes out.
    pub output: Output,
    /// Headers added to the fetch. Names are HTTP tokens that compare without case, other than those of the connection
    /// (hop-by-hop, `host`, `content-length`) and `accept-encoding`; values are without control characters. At most 100, of
    /// 16,384 bytes over all names and values. Behind a `user-agent` of the client's stands the fetcher's own.
    pub headers: BTreeMap<String, Secret>,
    /// The client's own object storage for the result; `None` is the service's temporary one.
    pub store: Option<Store>,
    /// Who is told of the result.
    pub webhook: Option<Webhook>,
}

/// How an image comes with its request, which decides on `url`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Way {
    /// Bytes handed to the engine; `url` may be given and is not used.
    #[default]
    Engine,
    /// Fetched from `url`, which is required.
    Fetch,
    /// Uploaded beside the request, where `url` is refused.
    Upload,
}

impl Request {
    /// Reads a JSON body for the engine: [`from_json_for`](Self::from_json_for) with [`Way::Engine`].
    ///
    /// # Errors
    /// As of [`from_json_for`](Self::from_json_for).
    pub fn from_json(text: &[u8]) -> Result<Self> {
        Self::from_json_for(Way::Engine, text)
    }

    /// Reads a JSON body. Numbers must be written as integers; a key given twice, `null`, and unknown keys are refused.
    ///
    /// # Errors
    /// [`Error::Json`] if it is no JSON, [`Error::Request`] with every violation (beyond 1,000 their number) if it is not
    /// allowed.
    pub fn from_json_for(way: Way, text: &[u8]) -> Result<Self> {
        match Self::read_what_is_right(way, text)? {
            (request, violations) if violations.is_empty() => Ok(request),
            (_, violations) => Err(Error::Request { violations }),
        }
    }

    /// [`from_json_for`](Self::from_json_for), and all that it finds wrong. What the violations do not name is as the client has
    /// it, so that somebody else can say what is wrong with that.
    pub(crate) fn read_what_is_right(way: Way, text: &[u8]) -> Result<(Self, Vec<Violation>)> {
        let (request, violations) = read::read_what_is_right(&Json::parse(text)?, |fields| Self::read_for(way, fields));
        Ok((request.unwrap_or_default(), violations))
    }

    /// Reads a JSON value for the engine.
    ///
    /// # Errors
    /// [`Error::Request`] with every violation.
    pub fn from_value(value: &serde_json::Value) -> Result<Self> {
        read::read(&value.into(), Self::read)
    }

    /// The JSON of the interface, with secrets in clear; [`from_value`](Self::from_value) makes the same request of it.
    pub fn to_json(&self) -> serde_json::Value {
        (&self.write()).into()
    }

    /// Holds a request built in Rust to the rules of one that came as JSON.
    ///
    /// # Errors
    /// [`Error::Request`] with every violation.
    pub fn validate(&self) -> Result<()> {
        self.validate_for(Way::Engine)
    }

    /// [`validate`](Self::validate), with what the way of the image asks of `url`.
    ///
    /// # Errors
    /// [`Error::Request`] with every violation.
    pub fn validate_for(&self, way: Way) -> Result<()> {
        read::read(&self.write(), |fields| Self::read_for(way, fields)).map(drop)
    }

    /// What a violation shows of the value at a path; `None` where there is none.
    #[cfg(feature = "service")]
    pub(crate) fn shown(&self, path: &str) -> Option<String> {
        let json = self.write();
        let value = path.split('.').try_fold(&json, |json, field| json.get(field))?;
        Some(shown(value, is_private(path)))
    }

    fn read_for(way: Way, fields: &mut Fields<'_>) -> Self {
        let headers = fields.totals("headers");
        if headers.entries > HEADERS {
            let allowed = format!("must have at most {HEADERS} entries");
            fields.refuse("headers", Some(format!("{} entries", headers.entries)), allowed);
        }
        if headers.bytes > HEADER_BYTES {
            let allowed = format!("must have at most {HEADER_BYTES} bytes over all names and values");
            fields.refuse("headers", Some(format!("{} bytes", headers.bytes)), allowed);
        }
        Self {
            url: read_url(way, fields),
            optimize: fields.object("optimize"),
            resize: fields.object("resize"),
            upscale: fields.object("upscale"),
            denoise: fields.object_or_true("denoise", Denoise::default()),
            light: fields.object_or_true("light", Light::default()),
            tone: fields.object_or_true("tone", Tone::AUTO),
            face: fields.object_or_true("face", Face::default()),
            output: fields.object("output").unwrap_or_default(),
            headers: fields.map("headers", Case::Ignored, Values::Secret, fetch_header),
            store: fields.object("store"),
            webhook: fields.object("webhook"),
        }
    }
}

fn read_url(way: Way, fields: &mut Fields<'_>) -> Option<Url> {
    if way == Way::Upload {
        fields.forbid("url", "must not be given with an upload");
        return None;
    }
    let url = fields.text("url", "must be an http or https URL with a host", is_web_address).map(Url::from);
    refuse_long(fields);
    if way == Way::Fetch {
        fields.require("url", "is required");
    }
    url
}

impl Object for Request {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self::read_for(Way::Engine, fields)
    }

    fn write(&self) -> Json {
        Entries::default()
            .given("url", self.url.as_ref())
            .given("optimize", self.optimize.map(|object| object.write()))
            .given("resize", self.resize.map(|object| object.write()))
            .given("upscale", self.upscale.map(|object| object.write()))
            .given("denoise", self.denoise.map(|object| object.write()))
            .given("light", self.light.map(|object| object.write()))
            .given("tone", self.tone.map(|object| object.write()))
            .given("face", self.face.map(|object| object.write()))
            .unless("output", self.output.write(), &Output::default().write())
            .texts("headers", self.headers.iter().map(|(name, value)| (name.as_str(), value.expose())))
            .given("store", self.store.as_ref().map(Object::write))
            .given("webhook", self.webhook.as_ref().map(Object::write))
            .into()
    }
}

macro_rules! serialised_as_objects {
    ($($object:ty)+) => { $(
        impl Serialize for $object {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.write().serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $object {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                read::read(&Json::deserialize(deserializer)?, Self::read).map_err(de::Error::custom)
            }
        }
    )+ };
}

serialised_as_objects! { Request Optimize Resize Upscale Denoise Light Tone Face Output Store Webhook }
