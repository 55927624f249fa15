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

    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        Ok(Some(Box::new(*self)))
    }
}

impl Apply for Orient {
    fn apply(&self, picture: Picture, run: Run<'_>) -> Result<Picture> {
        if self.0 == Orientation::Upright {
            return Ok(picture);
        }
        let from = picture.layout();
        let to = self.layout(from)?;
        let walk = Walk::new(from, to, self.0);
        let samples = match picture.samples() {
            Samples::Eight(samples) => Samples::Eight(walk.turned(samples, from.channels.count(), run)?),
            Samples::Sixteen(samples) => Samples::Sixteen(walk.turned(samples, from.channels.count(), run)?),
        };
        Picture::new(to.width, to.height, to.channels, samples)
    }
}

/// Pixels of a tile's side: its rows and columns of both pictures fit the nearest cache together.
const TILE: usize = 32;

/// How to walk through the stored pixels for the turned ones to come in reading order, in pixels.
struct Walk {
    width: usize,
    height: usize,
    first: isize,
    right: isize,
    down: isize,
}

impl Walk {
    fn new(from: Layout, to: Layout, orientation: Orientation) -> Self {
        let (w, h) = (from.width as isize, from.height as isize);
        let (first, right, down) = match orientation {
            Orientation::Upright => (0, 1, w),
            Orientation::MirrorHorizontal => (w - 1, -1, w),
            Orientation::Rotate180 => (w * h - 1, -1, -w),
            Orientation::MirrorVertical => (w * (h - 1), 1, -w),
            Orientation::Transpose => (0, w, 1),
            Orientation::Rotate90 => (w * (h - 1), -w, 1),
            Orientation::Transverse => (w * h - 1, -w, -1),
            Orientation::Rotate270 => (w - 1, w, -1),
        };
        Self { width: to.width as usize, height: to.height as usize, first, right, down }
    }

    fn turned<T: Copy + Default>(&self, samples: &[T], count: usize, run: Run<'_>) -> Result<Vec<T>> {
        match count {
            1 => self.pixels::<T, 1>(samples, run),
            2 => self.pixels::<T, 2>(samples, run),
            3 => self.pixels::<T, 3>(samples, run),
            _ => self.pixels::<T, 4>(samples, run),
        }
    }

    /// Tile by tile, since one of the two pictures is read or written down its columns.
    fn pixels<T: Copy + Default, const N: usize>(&self, samples: &[T], run: Run<'_>) -> Result<Vec<T>> {
        let (stored, _) = samples.as_chunks::<N>();
        let mut out = vec![[T::default(); N]; stored.len()];
        for top in (0..self.height).step_by(TILE) {
            run.check()?;
            for left in (0..self.width).step_by(TILE) {
                for y in top..self.height.min(top + TILE) {
                    let row = &mut out[y * self.width..][left..self.width.min(left + TILE)];
                    let mut at = self.first + y as isize * self.down + left as isize * self.right;
                    for pixel in row {
                        *pixel = stored[at as usize];
                        at += self.right;
                    }
                }
            }
        }
        Ok(out.into_flattened())
    }
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

    #[test]
    fn a_quarter_turn_and_back_gives_every_pixel_back_also_beyond_one_tile() {
        let samples: Vec<u16> = (0..70 * 45 * 3).map(|i| (i * 7919) as u16).collect();
        let stored = Picture::new(70, 45, Channels::Rgb, Samples::Sixteen(samples)).unwrap();
        let (limits, control) = (Limits::default(), Unattended);
        let run = Run { limits: &limits, control: &control };
        for (there, back) in [(6, 8), (8, 6), (5, 5), (7, 7), (2, 2), (3, 3), (4, 4)] {
            let turned = Orient(Orientation::from_exif(there)).apply(stored.clone(), run).unwrap();
            assert_ne!(turned, stored, "orientation {there}");
            assert_eq!(Orient(Orientation::from_exif(back)).apply(turned, run).unwrap(), stored, "orientation {there}");
        }
    }
}
