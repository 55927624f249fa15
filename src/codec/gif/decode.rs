//! GIF to composed frames.

use super::{Gif, blocks::delay, player::Player, probe::probe};
use crate::{
    codec::{Decode, DecodeOptions, Info, sequence::samples},
    control::Run,
    error::Result,
    format::Format,
    picture::{Channels, Depth, Frame, Frames, Layout, Picture, Plays, Samples},
};

impl Decode for Gif {
    fn format(&self) -> Format {
        Format::Gif
    }

    fn probe(&self, bytes: &[u8], run: Run<'_>) -> Result<Info> {
        probe(bytes, run)
    }

    /// RGB, or RGBA if any pixel may be transparent. Frames lie on a transparent canvas, whatever the background colour
    /// of the file, and clearing makes transparent, as in browsers.
    fn frames<'a>(&self, bytes: &'a [u8], _: &DecodeOptions, run: Run<'a>) -> Result<Box<dyn Frames + 'a>> {
        let channels = if probe(bytes, run)?.alpha { Channels::Rgba } else { Channels::Rgb };
        Ok(Box::new(Composed { player: Player::new(bytes, run)?, channels }))
    }
}

struct Composed<'a> {
    player: Player<'a>,
    channels: Channels,
}

impl Frames for Composed<'_> {
    fn layout(&self) -> Layout {
        let (width, height) = self.player.size();
        Layout { width: width as u32, height: height as u32, channels: self.channels, depth: Depth::Eight }
    }

    fn plays(&self) -> Plays {
        self.player.plays()
    }

    fn next(&mut self, run: Run<'_>) -> Result<Option<Frame<'_>>> {
        let Some(ticks) = self.player.draw(run)? else { return Ok(None) };
        let samples = samples(self.player.canvas(), self.channels);
        let Layout { width, height, channels, .. } = self.layout();
        let picture = Picture::new(width, height, channels, Samples::Eight(samples))?;
        Ok(Some(Frame { picture: picture.into(), delay: delay(ticks) }))
    }

    fn restart(&mut self) -> Result<()> {
        self.player.restart();
        Ok(())
    }
}
