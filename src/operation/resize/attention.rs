//! Where to crop so that what people look at stays: faces and skin, what is set off from its background, the upper end of it
//! most, things that stand out by colour, detail.
//!
//! In the manner of smartcrop.js (Wagner 2013) and the `attention` crop of libvips: a small copy is scored cell by cell,
//! and the window with the highest score wins. Integers throughout.

use super::{barrier::barriers, geometry::Placement};
use crate::operation::face::Place;
use crate::{
    control::Run,
    error::Result,
    picture::{Picture, Samples},
};

/// Cells on the longer side of the map.
const CELLS: u64 = 160;
/// Samples of a cell along one side.
const PROBES: u64 = 4;

/// Barriers up to the first are none, and beyond that by the second no more is worth more.
const BARRIER: (i32, i32) = (40, 128);

/// Moves the region of `placement`, in a source of this `size`, over the most of `picture`, which shows that source at any
/// size, and in which there are `faces`.
pub(super) fn settle(
    picture: &Picture,
    size: (u32, u32),
    placement: Placement,
    faces: &[Place],
    run: Run<'_>,
) -> Result<Placement> {
    let map = Map::new(picture, run)?;
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let cells =
        |region: f64, source: f64, cells: usize| ((region / source * cells as f64).round() as usize).clamp(1, cells);
    let window = (cells(placement.region.width, width, map.width), cells(placement.region.height, height, map.height));
    let (x, y) = best_window(&map.scores(faces, window.1), map.width, map.height, window);
    // The last place of the window is the last of the region too, whatever was rounded.
    let place =
        |at: usize, free: usize, slack: f64| if free == 0 { slack / 2.0 } else { slack * at as f64 / free as f64 };
    let left = place(x, map.width - window.0, (width - placement.region.width).max(0.0));
    let top = place(y, map.height - window.1, (height - placement.region.height).max(0.0));
    Ok(placement.beginning_at(left, top))
}

/// A small copy of a picture over middle gray, 0 to 255.
struct Map {
    width: usize,
    height: usize,
    rgb: Vec<[i32; 3]>,
}

impl Map {
    fn new(picture: &Picture, run: Run<'_>) -> Result<Self> {
        let (width, height) = (u64::from(picture.width()), u64::from(picture.height()));
        let longest = width.max(height);
        let cells = |side: u64| (side * CELLS.min(longest) / longest).max(1);
        let (columns, rows) = (cells(width), cells(height));
        let mut rgb = Vec::with_capacity((columns * rows) as usize);
        for row in 0..rows {
            run.check()?;
            for column in 0..columns {
                let x = (column * width / columns, (column + 1) * width / columns);
                let y = (row * height / rows, (row + 1) * height / rows);
                rgb.push(cell(picture, x, y));
            }
        }
        Ok(Self { width: columns as usize, height: rows as usize, rgb })
    }

    fn luma(&self) -> Vec<i32> {
        self.rgb.iter().map(|&[r, g, b]| (54 * r + 183 * g + 19 * b) >> 8).collect()
    }

    /// What each cell is worth to a window of so many rows.
    fn scores(&self, faces: &[Place], rows: usize) -> Vec<i64> {
        let detail = self.detail();
        let rarity = self.rarity();
        let skin = self.skin();
        let apart = self.apart();
        let tops = self.tops(&apart, rows);
        // What lies before a background counts, and little else.
        let look = |i: usize| i64::from((2 * detail[i] + 3 * rarity[i] + skin[i]) * (16 + apart[i]));
        let mut scores: Vec<i64> = (0..self.rgb.len()).map(|i| look(i) + 480 * i64::from(tops[i])).collect();
        // A face is worth more than all else together, however large that is.
        let all = scores.iter().sum::<i64>();
        for face in faces {
            let [left, top, width, height] = face.pixels(self.width as u32, self.height as u32).map(|at| at as usize);
            let cell = 1 + all / (width * height).max(1) as i64;
            for row in scores.chunks_exact_mut(self.width).skip(top).take(height) {
                row[left..left + width].iter_mut().for_each(|score| *score += cell);
            }
        }
        scores
    }

    /// How far each cell is set off from the background, 0 to 128.
    fn apart(&self) -> Vec<i32> {
        let (least, most) = BARRIER;
        barriers(&self.rgb, self.width).into_iter().map(|barrier| (barrier - least).clamp(0, most)).collect()
    }

    /// The same, the less the more of it lies above, in a window of so many rows: there are heads, and feet may go.
    fn tops(&self, apart: &[i32], rows: usize) -> Vec<i32> {
        let half = (16 * rows as i32).max(1);
        let mut above = vec![0; self.width];
        let top = |(at, &apart): (usize, &i32)| {
            let above = &mut above[at % self.width];
            let top = apart * half / (half + *above);
            *above += apart;
            top
        };
        apart.iter().enumerate().map(top).collect()
    }

    /// Contrast to the four neighbours, 0 to 64: beyond that it is no more worth looking at.
    fn detail(&self) -> Vec<i32> {
        let (luma, w, h) = (self.luma(), self.width, self.height);
        let at = |x: usize, y: usize| luma[y * w + x];
        let mut detail = Vec::with_capacity(luma.len());
        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
            let sides = at(x.saturating_sub(1), y) + at((x + 1).min(w - 1), y);
            let ends = at(x, y.saturating_sub(1)) + at(x, (y + 1).min(h - 1));
            detail.push((4 * at(x, y) - sides - ends).abs().min(64));
        }
        detail
    }

    /// How far the hue and saturation are from the picture's mean, 0 to 64; a sea of one colour is worth nothing.
    fn rarity(&self) -> Vec<i32> {
        let chroma = |&[r, g, b]: &[i32; 3]| (r - g, (r + g) / 2 - b);
        let (sum_a, sum_b) =
            self.rgb.iter().map(chroma).fold((0i64, 0i64), |(a, b), c| (a + i64::from(c.0), b + i64::from(c.1)));
        let cells = self.rgb.len() as i64;
        let mean = ((sum_a / cells) as i32, (sum_b / cells) as i32);
        let far = |c: (i32, i32)| (c.0 - mean.0).abs() + (c.1 - mean.1).abs();
        self.rgb.iter().map(|rgb| ((far(chroma(rgb)) - 16) / 2).clamp(0, 64)).collect()
    }

    /// Likeness to skin, 0 to 255, the less the more of the picture is alike: then it is sand, wood or wall.
    fn skin(&self) -> Vec<i32> {
        let skin: Vec<i32> = self.rgb.iter().map(|&rgb| skin(rgb)).collect();
        let covered = skin.iter().filter(|&&likeness| likeness > 0).count() * 256 / skin.len();
        let weight = (320 - covered as i32).clamp(32, 256);
        skin.into_iter().map(|likeness| likeness * weight / 256).collect()
    }
}

/// The mean of a few pixels spread over `x` and `y`, both from and up to.
fn cell(picture: &Picture, x: (u64, u64), y: (u64, u64)) -> [i32; 3] {
    let count = picture.channels().count();
    let (gray, alpha) = (picture.channels().is_gray(), picture.channels().has_alpha());
    let row_samples = picture.layout().row_samples();
    let sample = |at: usize| match picture.samples() {
        Samples::Eight(samples) => i32::from(samples[at]),
        Samples::Sixteen(samples) => i32::from(samples[at] >> 8),
    };
    let probes = |(from, to): (u64, u64)| {
        let number = PROBES.min(to - from).max(1);
        (0..number).map(move |i| (from + (to - from) * (2 * i + 1) / (2 * number)) as usize)
    };
    let (mut sum, mut number) = ([0i32; 3], 0);
    for (column, row) in probes(y).flat_map(|row| probes(x).map(move |column| (column, row))) {
        let at = row * row_samples + column * count;
        let opacity = if alpha { sample(at + count - 1) } else { 255 };
        for (channel, sum) in sum.iter_mut().enumerate() {
            let value = sample(if gray { at } else { at + channel });
            *sum += (value * opacity + 128 * (255 - opacity)) / 255;
        }
        number += 1;
    }
    sum.map(|sum| sum / number)
}

/// The box of skin in YCbCr after Chai and Ngan (1999), graded by the distance to the mean direction of skin in RGB that
/// smartcrop.js uses.
fn skin([r, g, b]: [i32; 3]) -> i32 {
    let cb = 128 + (-38 * r - 74 * g + 112 * b) / 256;
    let cr = 128 + (112 * r - 94 * g - 18 * b) / 256;
    let length = i64::from(r * r + g * g + b * b).isqrt() as i32;
    if !(77..=127).contains(&cb) || !(133..=173).contains(&cr) || length < 90 {
        return 0;
    }
    let off = |channel: i32, mean: i32| 1000 * channel / length - mean;
    let (r, g, b) = (off(r, 780), off(g, 570), off(b, 440));
    let distance = i64::from(r * r + g * g + b * b).isqrt() as i32;
    ((200 - distance) * 255 / 200).clamp(0, 255)
}

/// Where a window of `size` cells is worth most. Its heart counts double, so that what matters is not cut by the rim,
/// and the middle of the picture, or the upper third of the room above and below, wins when little speaks against it.
fn best_window(scores: &[i64], width: usize, height: usize, (w, h): (usize, usize)) -> (usize, usize) {
    let sums = Sums::new(scores, width);
    let total = sums.within(0, 0, width, height);
    let (free_x, free_y) = (width - w, height - h);
    let (rim_x, rim_y) = (w / 6, h / 6);
    // Thousandths of the way from the preferred place to the far end; heads are above the middle of upright pictures.
    let off = |at: usize, free: usize, share: usize| {
        (share * at).abs_diff(free) as i64 * 1000 / (free.max(1) * (share - 1)) as i64
    };
    let worth = |x: usize, y: usize| {
        let heart = sums.within(x + rim_x, y + rim_y, w - 2 * rim_x, h - 2 * rim_y);
        let off = off(x, free_x, 2).max(off(y, free_y, 3));
        sums.within(x, y, w, h) + heart - total * off * off / 1_000_000 / 10
    };
    (0..=free_y)
        .flat_map(|y| (0..=free_x).map(move |x| (x, y)))
        .max_by_key(|&(x, y)| (worth(x, y), -off(x, free_x, 2) - off(y, free_y, 3)))
        .unwrap_or((0, 0))
}

/// Sums over all rectangles that begin at the left top corner.
struct Sums {
    stride: usize,
    sums: Vec<i64>,
}

impl Sums {
    fn new(scores: &[i64], width: usize) -> Self {
        let stride = width + 1;
        let mut sums = vec![0; stride];
        for row in scores.chunks_exact(width) {
            let above = sums.len() - stride;
            let mut sum = 0;
            sums.push(0);
            for (x, score) in row.iter().enumerate() {
                sum += score;
                sums.push(sums[above + x + 1] + sum);
            }
        }
        Self { stride, sums }
    }

    fn within(&self, x: usize, y: usize, width: usize, height: usize) -> i64 {
        let at = |x: usize, y: usize| self.sums[y * self.stride + x];
        at(x + width, y + height) + at(x, y) - at(x + width, y) - at(x, y + height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        operation::{Anchor, Fit, Gravity, Resize},
        picture::Channels,
    };

    /// The region of a 100 x 100 crop from a picture of `width` x `height` painted by `paint`.
    fn region(width: u32, height: u32, paint: impl Fn(i32, i32) -> [u8; 3]) -> (f64, f64) {
        region_with(&[], width, height, paint)
    }

    fn region_with(faces: &[Place], width: u32, height: u32, paint: impl Fn(i32, i32) -> [u8; 3]) -> (f64, f64) {
        let pixels = (0..height as i32).flat_map(|y| (0..width as i32).map(move |x| (x, y)));
        let samples = pixels.flat_map(|(x, y)| paint(x, y)).collect();
        let picture = Picture::new(width, height, Channels::Rgb, Samples::Eight(samples)).unwrap();
        let gravity = Gravity::Fixed(Anchor::Start, Anchor::Start);
        let (side, fit) = (Some(100), Fit::Cover);
        let resize = Resize { width: side, height: side, fit, gravity, enlarge: false, background: [0; 4] };
        let placement = Placement::new(&resize, width, height).unwrap();
        let (limits, control) = (Limits::default(), Unattended);
        let run = Run { limits: &limits, control: &control };
        let placement = settle(&picture, (width, height), placement, faces, run).unwrap();
        (placement.region.left, placement.region.top)
    }

    fn within(x: i32, y: i32, centre: (i32, i32), radius: i32) -> bool {
        (x - centre.0).pow(2) + (y - centre.1).pow(2) <= radius * radius
    }

    #[test]
    fn a_coloured_textured_disc_in_any_corner_is_inside_the_crop() {
        for centre in [(30, 60), (370, 60), (200, 60)] {
            let (left, top) = region(400, 100, |x, y| match within(x, y, centre, 25) {
                true => [200, if (x / 4 + y / 4) % 2 == 0 { 60 } else { 20 }, 30],
                false => [120, 130, 140],
            });
            assert!(left <= f64::from(centre.0 - 25) && left + 100.0 >= f64::from(centre.0 + 25), "{centre:?}: {left}");
            assert_eq!(top, 0.0);
        }
    }

    #[test]
    fn a_face_is_inside_the_crop_however_much_else_there_is() {
        let face = Place { middle: (0.05, 0.5), size: (0.05, 0.2) };
        let (left, _) = region_with(&[face], 400, 100, |x, y| match (x > 280, (x / 10 + y / 10) % 2 == 0) {
            (true, true) => [224, 172, 140],
            (true, false) => [120, 20, 200],
            (false, _) => [120, 130, 140],
        });
        assert!(left <= 10.0, "{left}");
    }

    #[test]
    fn skin_is_preferred_over_as_much_gray_texture() {
        let (left, _) = region(400, 100, |x, y| {
            if within(x, y, (50, 50), 30) {
                if (x / 4 + y / 4) % 2 == 0 { [110, 110, 110] } else { [150, 150, 150] }
            } else if within(x, y, (340, 50), 30) {
                [224, 172, 140]
            } else {
                [90, 100, 90]
            }
        });
        assert!(left > 250.0, "{left}");
    }

    #[test]
    fn a_figure_keeps_its_head_and_rough_ground_is_left() {
        let (left, top) = region(100, 400, |x, y| match (x, y) {
            (38..62, 120..300) => [110, 100, 90],
            (_, 280..) => [if (x / 3 + y / 3) % 2 == 0 { 160 } else { 190 }, 120, 60],
            _ => [200, 205, 215],
        });
        assert!(left == 0.0 && (40.0..=120.0).contains(&top), "{top}");
    }

    #[test]
    fn a_flat_picture_is_cropped_in_the_middle_across_and_above_it_down() {
        assert_eq!(region(300, 100, |_, _| [90, 140, 200]), (100.0, 0.0));
        let (left, top) = region(100, 300, |_, _| [90, 140, 200]);
        assert!(left == 0.0 && (60.0..=70.0).contains(&top), "{top}");
    }
}
