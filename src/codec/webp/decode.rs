//! WebP to pixels.

use super::{
    Webp,
    animation::Player,
    libwebp, probe,
    riff::{Content, File, Image},
};
use crate::{
    codec::{Decode, DecodeOptions, Info, sequence::samples},
    control::Run,
    error::{Error, Result},
    format::Format,
    picture::{Channels, Delay, Depth, Frame, Frames, Layout, Picture, Plays, Samples, Still},
};

impl Decode for Webp {
    fn format(&self) -> Format {
        Format::Webp
    }

    fn probe(&self, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        probe::probe(bytes, run)
    }

    /// RGB, or RGBA if any pixel may be translucent, always at full size. Frames of animations lie on a transparent canvas,
    /// whatever the background colour of the file, and clearing makes transparent, as in browsers.
    fn frames<'a>(&self, bytes: &'a [u8], _: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
        let file = File::parse(bytes)?;
        match file.content {
            Content::Still(image) => Ok(Box::new(Still::new(picture(&image, run)?))),
            Content::Animation(_) => Ok(Box::new(Composed::new(file, bytes, run)?)),
        }
    }
}

/// The pixels of an image.
pub(super) fn picture(image: &Image<'_>, run: Run<'_>) -> Result<Picture> {
    let header = image.header;
    run.limits.check_canvas(header.width, header.height, 1)?;
    let samples = libwebp::decode(image.coded, header.width, header.height, header.alpha, run)?;
    let channels = if header.alpha { Channels::Rgba } else { Channels::Rgb };
    Picture::new(header.width, header.height, channels, Samples::Eight(samples))
}

/// Whether `again`, the image coded anew, has the same pixels. What cannot be decoded has not.
pub(super) fn same_pixels(image: &Image<'_>, again: &Image<'_>, run: Run<'_>) -> Result<bool> {
    match picture(again, run) {
        Ok(again) => Ok(again == picture(image, run)?),
        Err(Error::Input { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The frames of an animation.
pub(super) struct Composed<'a> {
    player: Player<'a>,
    layout: Layout,
}

impl<'a> Composed<'a> {
    pub(super) fn new(file: File<'a>, bytes: &'a [u8], run: Run<'_>) -> Result<Self> {
        let channels = probe::probe(bytes, run)?.channels();
        let layout = Layout { width: file.width, height: file.height, channels, depth: Depth::Eight };
        Ok(Self { player: Player::new(file, run)?, layout })
    }
}

impl Frames for Composed<'_> {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn plays(&self) -> Plays {
        self.player.file().plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        run.check()?;
        let Some(frame) = self.player.next()? else { return Ok(None) };
        self.player.draw(&frame, run)?;
        let samples = samples(self.player.canvas(), self.layout.channels);
        let Layout { width, height, channels, .. } = self.layout;
        let picture = Picture::new(width, height, channels, Samples::Eight(samples))?;
        let delay = Delay { numerator: frame.milliseconds(), ..Delay::NONE };
        Ok(Some(Frame { picture: picture.into(), delay }))
    }

    fn restart(&mut self) -> Result<()> {
        self.player.restart();
        Ok(())
    }
}
