//! `webhook`: who is told of the result.

use super::{
    Url,
    json::{Entries, Json},
    read::{Fields, Object},
    url::{is_strict_web_address, refuse_long},
};

/// Who is told of the result, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Webhook {
    /// An http or https address as of RFC 3986.
    pub url: Url,
    /// Seconds to wait after processing, 0 to 86,400; 0 by default.
    pub delay: u32,
}

impl Webhook {
    /// Tells `url` right after processing.
    pub fn to(url: impl Into<Url>) -> Self {
        Self { url: url.into(), delay: 0 }
    }

    /// Sets the seconds to wait after processing, 0 to 86,400.
    #[must_use]
    pub fn delay(mut self, seconds: u32) -> Self {
        self.delay = seconds;
        self
    }
}

impl Object for Webhook {
    fn read(fields: &mut Fields<'_>) -> Self {
        let url = fields.text("url", "must be an http or https URL as of RFC 3986", is_strict_web_address);
        refuse_long(fields);
        fields.require("url", "is required");
        Self { url: url.unwrap_or_default().into(), delay: fields.integer("delay", 0..=86_400).unwrap_or_default() }
    }

    fn write(&self) -> Json {
        Entries::default().put("url", &self.url).unless("delay", self.delay, &0).into()
    }
}
