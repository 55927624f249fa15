//! Turning stored pixels upright.

use super::{Apply, Operation};
use crate::{
    control::Run,
    error::Result,
    picture::{Layout, Orientation, Picture, Samples},
};

/// Turns and mirrors as an EXIF orientation asks.
#[derive(Debug, Clone, Copy)]
pub struct Orient(pub Orientation);

impl Operation for Orient {
    fn name(&self) -> &'static str {
        "orient"
    }

    fn layout(&self, input: Layout) -> Result<Layout> {
        let (width, height) = self.0.upright_size(input.width, input.height);
        Ok(input.sized(width, height))
    }

    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Box<dyn Apply>> {
        Ok(Box::new(*self))
    }
}

impl Apply for Orient {
    fn apply(&self, picture: Picture, _: Run<'_>) -> Result<Picture> {
        if self.0 == Orientation::Upright {
            return Ok(picture);
        }
        let from = picture.layout();
        let to = self.layout(from)?;
        let samples = match picture.samples() {
            Samples::Eight(samples) => Samples::Eight(turned(samples, from, to, self.0)),
            Samples::Sixteen(samples) => Samples::Sixteen(turned(samples, from, to, self.0)),
        };
        Picture::new(to.width, to.height, to.channels, samples)
    }
}

fn turned<T: Copy>(samples: &[T], from: Layout, to: Layout, orientation: Orientation) -> Vec<T> {
    let (w, h, n) = (from.width as usize, from.height as usize, from.channels.count());
    let mut out = Vec::with_capacity(samples.len());
    for y in 0..to.height as usize {
        for x in 0..to.width as usize {
            let (sx, sy) = match orientation {
                Orientation::Upright => (x, y),
                Orientation::MirrorHorizontal => (w - 1 - x, y),
                Orientation::Rotate180 => (w - 1 - x, h - 1 - y),
                Orientation::MirrorVertical => (x, h - 1 - y),
                Orientation::Transpose => (y, x),
                Orientation::Rotate90 => (y, h - 1 - x),
                Orientation::Transverse => (w - 1 - y, h - 1 - x),
                Orientation::Rotate270 => (w - 1 - y, x),
            };
            let at = (sy * w + sx) * n;
            out.extend_from_slice(&samples[at..at + n]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits, picture::Channels};

    #[test]
    fn each_exif_orientation_turns_a_2x3_picture_upright() {
        // 1 2
        // 3 4
        // 5 6
        let stored = Picture::new(2, 3, Channels::Gray, Samples::Eight(vec![1, 2, 3, 4, 5, 6])).unwrap();
        let upright: [(u32, [u8; 6]); 8] = [
            (1, [1, 2, 3, 4, 5, 6]),
            (2, [2, 1, 4, 3, 6, 5]),
            (3, [6, 5, 4, 3, 2, 1]),
            (4, [5, 6, 3, 4, 1, 2]),
            (5, [1, 3, 5, 2, 4, 6]),
            (6, [5, 3, 1, 6, 4, 2]),
            (7, [6, 4, 2, 5, 3, 1]),
            (8, [2, 4, 6, 1, 3, 5]),
        ];
        let (limits, control) = (Limits::default(), Unattended);
        let run = Run { limits: &limits, control: &control };
        for (exif, expected) in upright {
            let turned = Orient(Orientation::from_exif(exif)).apply(stored.clone(), run).unwrap();
            assert_eq!(turned.eight(), Some(&expected[..]), "orientation {exif}");
            assert_eq!(turned.width(), if exif >= 5 { 3 } else { 2 }, "orientation {exif}");
        }
    }
}
