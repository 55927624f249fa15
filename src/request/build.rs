//! Setters, for requests built in Rust.

use super::{
    Compression, Denoise, Encoding, Face, Light, MetadataKind, Optimize, Output, OutputFormat, Request, Resize, Secret,
    Store, Tone, Upscale, Url, Webhook,
};

impl Request {
    /// Asks for optimisation, of which WebP and APNG may get a lossless one ([`optimize`](Self::optimize)), and nothing else,
    /// until more is set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets where the image is fetched from.
    #[must_use]
    pub fn url(mut self, url: impl Into<Url>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets how much to give away.
    #[must_use]
    pub const fn optimize(mut self, optimize: Optimize) -> Self {
        self.optimize = Some(optimize);
        self
    }

    /// Sets the preset; a quality stays.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.optimize.get_or_insert_default().compression = Some(compression);
        self
    }

    /// Sets an explicit quality of 1 to 100, which wins over a preset.
    #[must_use]
    pub fn quality(mut self, quality: u8) -> Self {
        self.optimize.get_or_insert_default().quality = Some(quality);
        self
    }

    /// Sets the size of the result.
    #[must_use]
    pub const fn resize(mut self, resize: Resize) -> Self {
        self.resize = Some(resize);
        self
    }

    /// Asks for super-resolution.
    #[must_use]
    pub const fn upscale(mut self, upscale: Upscale) -> Self {
        self.upscale = Some(upscale);
        self
    }

    /// Asks for noise removal.
    #[must_use]
    pub const fn denoise(mut self, denoise: Denoise) -> Self {
        self.denoise = Some(denoise);
        self
    }

    /// Asks for a low-light boost.
    #[must_use]
    pub const fn light(mut self, light: Light) -> Self {
        self.light = Some(light);
        self
    }

    /// Asks for tone adjustments.
    #[must_use]
    pub const fn tone(mut self, tone: Tone) -> Self {
        self.tone = Some(tone);
        self
    }

    /// Asks for face enhancement.
    #[must_use]
    pub const fn face(mut self, face: Face) -> Self {
        self.face = Some(face);
        self
    }

    /// Sets all about the file that comes out.
    #[must_use]
    pub fn output(mut self, output: Output) -> Self {
        self.output = output;
        self
    }

    /// Sets the format of the result.
    #[must_use]
    pub const fn format(mut self, format: OutputFormat) -> Self {
        self.output.format = format;
        self
    }

    /// Sets the order of the pixels in JPEG and PNG.
    #[must_use]
    pub const fn encoding(mut self, encoding: Encoding) -> Self {
        self.output.encoding = Some(encoding);
        self
    }

    /// Sets which metadata survives.
    #[must_use]
    pub fn metadata(mut self, kinds: impl IntoIterator<Item = MetadataKind>) -> Self {
        self.output.metadata = kinds.into_iter().collect();
        self
    }

    /// Sets whether elements of SVG keep their ids and classes.
    #[must_use]
    pub const fn keep_ids(mut self, keep: bool) -> Self {
        self.output.keep_ids = keep;
        self
    }

    /// Adds a header to the fetch, in place of any other of exactly that name.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the client's own object storage for the result.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// Sets who is told of the result.
    #[must_use]
    pub fn webhook(mut self, webhook: Webhook) -> Self {
        self.webhook = Some(webhook);
        self
    }
}
