//! Rows of a picture as linear light, composited over a ground.

use super::transfer::linear;
use crate::picture::{Channels, Picture, Samples};

/// Pictures narrower or lower than this are widened to it by repeating their last column and row.
pub(super) const LEAST_SIDE: usize = 8;

/// A picture seen over a gray ground.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grounded<'a> {
    picture: &'a Picture,
    /// sRGB level of the ground; has no effect where the picture is opaque.
    ground: u8,
}

impl<'a> Grounded<'a> {
    pub(super) fn new(picture: &'a Picture, ground: u8) -> Self {
        Self { picture, ground }
    }

    /// Width and height after widening.
    pub(super) fn size(&self) -> (usize, usize) {
        let side = |side: u32| (side as usize).max(LEAST_SIDE);
        (side(self.picture.width()), side(self.picture.height()))
    }

    /// Writes row `y` as linear red, green and blue, each of [`Self::size`]'s width.
    pub(super) fn linear_row(&self, y: usize, rgb: [&mut [f32]; 3]) {
        let layout = self.picture.layout();
        let y = y.min(layout.height as usize - 1);
        let row = y * layout.row_samples()..(y + 1) * layout.row_samples();
        match self.picture.samples() {
            Samples::Eight(samples) => self.write(&samples[row], |sample| sample, rgb),
            Samples::Sixteen(samples) => self.write(&samples[row], eight, rgb),
        }
    }

    fn write<T: Copy>(&self, row: &[T], eight: impl Fn(T) -> u8, [r, g, b]: [&mut [f32]; 3]) {
        let over = |[c, a]: [T; 2]| match eight(a) {
            u8::MAX => linear(eight(c)),
            alpha => linear(composite(eight(c), alpha, self.ground)),
        };
        let plain = |c: T| linear(eight(c));
        let width = self.picture.width() as usize;
        let out = r.iter_mut().zip(g.iter_mut()).zip(b.iter_mut()).map(|((r, g), b)| (r, g, b));
        match self.picture.channels() {
            Channels::Gray => out.zip(row).for_each(|((r, g, b), &s)| {
                let gray = plain(s);
                (*r, *g, *b) = (gray, gray, gray);
            }),
            Channels::GrayAlpha => out.zip(row.as_chunks::<2>().0).for_each(|((r, g, b), &s)| {
                let gray = over(s);
                (*r, *g, *b) = (gray, gray, gray);
            }),
            Channels::Rgb => out.zip(row.as_chunks::<3>().0).for_each(|((r, g, b), &s)| {
                (*r, *g, *b) = (plain(s[0]), plain(s[1]), plain(s[2]));
            }),
            Channels::Rgba | Channels::Cmyk => out.zip(row.as_chunks::<4>().0).for_each(|((r, g, b), &s)| {
                (*r, *g, *b) = (over([s[0], s[3]]), over([s[1], s[3]]), over([s[2], s[3]]));
            }),
        }
        for plane in [r, g, b] {
            let last = plane[width - 1];
            plane[width..].fill(last);
        }
    }
}

/// An sRGB sample over a ground, mixed in sRGB as browsers do.
fn composite(sample: u8, alpha: u8, ground: u8) -> u8 {
    let (sample, alpha, ground) = (u32::from(sample), u32::from(alpha), u32::from(ground));
    ((sample * alpha + ground * (255 - alpha) + 127) / 255) as u8
}

/// The nearest 8-bit sample.
fn eight(sample: u16) -> u8 {
    ((u32::from(sample) * 255 + 32_767) / 65_535) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(picture: &Picture, ground: u8, y: usize) -> [Vec<f32>; 3] {
        let grounded = Grounded::new(picture, ground);
        let mut rgb = [(); 3].map(|()| vec![f32::NAN; grounded.size().0]);
        grounded.linear_row(y, rgb.each_mut().map(|plane| &mut plane[..]));
        rgb
    }

    #[test]
    fn a_small_picture_repeats_its_last_column_and_row() {
        let picture = Picture::new(2, 2, Channels::Gray, Samples::Eight(vec![0, 255, 255, 0])).unwrap();
        assert_eq!(Grounded::new(&picture, 0).size(), (8, 8));
        assert_eq!(row(&picture, 0, 0)[1], [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(row(&picture, 0, 7)[2], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn transparent_pixels_show_the_ground_and_half_transparent_ones_a_mix() {
        let rgba = Picture::new(2, 1, Channels::Rgba, Samples::Eight(vec![9, 9, 9, 0, 255, 0, 100, 128])).unwrap();
        assert_eq!(row(&rgba, 0, 0)[0][..2], [linear(0), linear(128)]);
        assert_eq!(row(&rgba, 255, 0)[0][..2], [linear(255), linear(255)]);
        assert_eq!(row(&rgba, 255, 0)[2][1], linear(((100 * 128 + 255 * 127 + 127) / 255) as u8));
    }

    #[test]
    fn gray_equals_the_same_picture_in_colour_and_sixteen_bits_round() {
        let gray = Picture::new(8, 1, Channels::Gray, Samples::Eight(vec![0, 1, 60, 128, 200, 254, 255, 7])).unwrap();
        let wide = Samples::Sixteen(gray.eight().unwrap().iter().map(|&s| u16::from(s) * 257).collect());
        let wide = Picture::new(8, 1, Channels::Gray, wide).unwrap();
        let expected = row(&gray, 0, 0);
        assert_eq!(row(&gray.clone().into_channels(Channels::Rgba), 0, 0), expected);
        assert_eq!(row(&gray.into_channels(Channels::GrayAlpha), 255, 0), expected);
        assert_eq!(row(&wide, 0, 0), expected);
    }
}
