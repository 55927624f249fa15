//! The space in which colours are compared: Oklab, premultiplied by alpha, so that squared distances are means of those over black
//! and over white, with a little more for alpha.

use crate::optimize::oklab::{LINEAR, linear, oklab};

/// Lightness over middle gray but for that gray's, green-red and blue-yellow, all times alpha, and weighted alpha.
pub(super) type Point = [f32; 4];

/// Lightness of middle gray.
const MIDDLE: f32 = 0.5;
/// Length of the alpha axis. By [`MIDDLE`] of it, lightness would differ over black by the sum of the first and the last axis, and
/// over white by their difference; shadows of windows, which are black, take fewer bytes with more.
const ALPHA_AXIS: f32 = 0.565;

/// From straight 8-bit sRGB with alpha.
pub(super) fn point(colour: [u8; 4]) -> Point {
    let [light, a, b] = oklab([colour[0], colour[1], colour[2]].map(|c| LINEAR[usize::from(c)]));
    let alpha = f32::from(colour[3]) / 255.0;
    [light * alpha - alpha * MIDDLE, a * alpha, b * alpha, alpha * ALPHA_AXIS]
}

/// Back to straight 8-bit sRGB; colours outside it are clipped.
pub(super) fn colour(point: Point) -> [u8; 4] {
    let alpha = (point[3] / ALPHA_AXIS).clamp(0.0, 1.0);
    let alpha_8 = (alpha * 255.0 + 0.5) as u8;
    if alpha_8 == 0 {
        return [0; 4];
    }
    let [r, g, b] = linear([point[0] / alpha + MIDDLE, point[1] / alpha, point[2] / alpha]).map(encoded);
    [r, g, b, alpha_8]
}

/// The 8-bit sRGB value whose linear light is nearest.
fn encoded(linear: f32) -> u8 {
    let above = LINEAR.partition_point(|&value| value < linear).min(255);
    let below = above.saturating_sub(1);
    if linear - LINEAR[below] < LINEAR[above] - linear { below as u8 } else { above as u8 }
}

/// Squared distance.
pub(super) fn distance(p: Point, q: Point) -> f32 {
    let d = [p[0] - q[0], p[1] - q[1], p[2] - q[2], p[3] - q[3]];
    (d[0] * d[0] + d[1] * d[1]) + (d[2] * d[2] + d[3] * d[3])
}

/// Points sorted along the axis on which they lie farthest apart, so that the nearest of many is found among few, a vector at a
/// time.
#[derive(Debug, Clone)]
pub(super) struct Points {
    axis: usize,
    chunks: Vec<Chunk>,
    /// Where the last of each chunk lies on the axis.
    ends: Vec<f32>,
}

/// Points looked at together.
const LANES: usize = 8;

#[derive(Debug, Clone)]
struct Chunk {
    axes: [[f32; LANES]; 4],
    /// Their indices before they were sorted.
    places: [u32; LANES],
    /// Where the first and the last lie on the axis.
    ends: [f32; 2],
}

impl Points {
    pub(super) fn new(points: &[Point]) -> Self {
        let spread = |axis: usize| {
            let along = points.iter().map(|point| point[axis]);
            along.clone().fold(f32::MIN, f32::max) - along.fold(f32::MAX, f32::min)
        };
        let axis = (1..4).fold(0, |best, axis| if spread(axis) > spread(best) { axis } else { best });
        let mut places: Vec<u32> = (0..points.len() as u32).collect();
        let along = |place: u32| points[place as usize][axis];
        places.sort_unstable_by(|&one, &other| along(one).total_cmp(&along(other)).then(one.cmp(&other)));
        let chunks: Vec<_> = places.chunks(LANES).map(|places| Chunk::new(points, places, axis)).collect();
        let ends = chunks.iter().map(|chunk| chunk.ends[1]).collect();
        Self { axis, chunks, ends }
    }

    /// Index and squared distance of the nearest point, the first of equals. There must be one.
    pub(super) fn nearest(&self, to: Point) -> (usize, f32) {
        let along = to[self.axis];
        // What is farther on the axis alone is farther in all, also as rounded.
        let beyond = |end: f32, best: (f32, u32)| (end - along) * (end - along) > best.0;
        let (below, above) = self.chunks.split_at(self.ends.iter().filter(|&&end| end < along).count());
        let mut best = (f32::MAX, u32::MAX);
        let (mut below, mut above) = (below.iter().rev(), above.iter());
        if let Some(here) = above.next() {
            best = here.nearest(to, best);
        }
        for chunk in &mut below {
            if beyond(chunk.ends[1], best) {
                break;
            }
            best = chunk.nearest(to, best);
        }
        for chunk in &mut above {
            if beyond(chunk.ends[0], best) {
                break;
            }
            best = chunk.nearest(to, best);
        }
        (best.1 as usize, best.0)
    }
}

impl Chunk {
    /// Of the points with these places in `points`.
    fn new(points: &[Point], places: &[u32], axis: usize) -> Self {
        // Lanes without a point are farther than any.
        let mut chunk = Self { axes: [[1e18; LANES]; 4], places: [u32::MAX; LANES], ends: [0.0; 2] };
        for (lane, &place) in places.iter().enumerate() {
            let point = points[place as usize];
            chunk.places[lane] = place;
            (0..4).for_each(|axis| chunk.axes[axis][lane] = point[axis]);
            chunk.ends = [chunk.axes[axis][0], point[axis]];
        }
        chunk
    }

    /// Squared distance and index of the nearest, if it is nearer than `best`, or as near and before it.
    #[inline(always)]
    fn nearest(&self, to: Point, best: (f32, u32)) -> (f32, u32) {
        let [x, y, z, w] = &self.axes;
        let mut found = [0.0; LANES];
        for (lane, found) in found.iter_mut().enumerate() {
            *found = distance([x[lane], y[lane], z[lane], w[lane]], to);
        }
        let least = found.iter().fold(f32::MAX, |least, &found| if found < least { found } else { least });
        if least > best.0 {
            return best;
        }
        let first = |(found, place): (f32, u32)| if found <= least { place } else { u32::MAX };
        let place = found.into_iter().zip(self.places).map(first).fold(u32::MAX, u32::min);
        if (least, place) < best { (least, place) } else { best }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gray_and_the_corners_of_the_cube_survive_the_way_there_and_back() {
        for value in 0..=255u8 {
            assert_eq!(colour(point([value, value, value, 255])), [value, value, value, 255]);
        }
        for corner in 0..8u8 {
            let c = [corner & 1, corner >> 1 & 1, corner >> 2].map(|bit| bit * 255);
            assert_eq!(colour(point([c[0], c[1], c[2], 255]))[..3], c);
        }
    }

    #[test]
    fn white_has_lightness_one_and_no_colour() {
        let [light, a, b, _] = point([255; 4]);
        assert!((light + MIDDLE - 1.0).abs() < 1e-3 && a.abs() < 1e-3 && b.abs() < 1e-3);
    }

    #[test]
    fn squared_distances_are_means_of_those_over_black_and_over_white_and_a_little_of_alpha() {
        let near = |p, q, meant: f32| assert!((distance(point(p), point(q)) - meant).abs() < 1e-3, "{p:?} {q:?}");
        let (half, more) = (128.0 / 255.0, ALPHA_AXIS * ALPHA_AXIS - MIDDLE * MIDDLE);
        near([255; 4], [0, 0, 0, 255], 1.0);
        // Lighter than nothing over black, and as light over white; and the other way round.
        near([255, 255, 255, 128], [0; 4], half * half * (0.5 + more));
        near([0, 0, 0, 128], [0; 4], half * half * (0.5 + more));
    }

    #[test]
    fn all_transparent_colours_are_one_point() {
        assert_eq!(point([1, 2, 3, 0]), point([200, 100, 0, 0]));
    }

    #[test]
    fn the_nearest_of_many_is_the_first_that_a_plain_search_finds() {
        let colour = |i: u32| [i * 7 % 256, i * 91 % 199, i * i % 256, 255 - i % 3 * 60].map(|value| value as u8);
        for count in [1, 5, 8, 37, 200] {
            // Every fifth is one that was there before.
            let points: Vec<Point> = (0..count).map(|i| point(colour(if i % 5 == 4 { i / 2 } else { i }))).collect();
            let index = Points::new(&points);
            for value in 0..=255u8 {
                let to = [point([value, value / 2, 255 - value, 255]), points[usize::from(value) % points.len()]];
                for to in to {
                    let squared = |i: usize| distance(points[i], to);
                    let plain = (0..points.len()).min_by(|&i, &j| squared(i).total_cmp(&squared(j))).unwrap();
                    assert_eq!(index.nearest(to), (plain, squared(plain)));
                }
            }
        }
    }
}
