//! How far the colours of a table are from each other.

use super::colour::{Point, add, distance, error};

/// Share of an error that counts by itself; the rest is counted with what was diffused to the pixel.
pub(super) const PLAIN: f32 = 0.4;

/// For each index what it shows less a colour, and how much of the squared distance counts by itself: without end where it
/// would mislead.
pub(super) type Apart = [(Point, f32); 256];

/// What other indices show beside the colour of one.
pub(super) struct Neighbours {
    /// Those that draw, by their distance, itself first; none of one that draws nothing itself.
    pub(super) near: Vec<(f32, u8)>,
    pub(super) apart: Box<Apart>,
}

impl Neighbours {
    /// Those of `index`, where indices have these `points`, and of these some are `drawn`.
    pub(super) fn of(index: u8, points: &[Point], drawn: &[u8]) -> Self {
        let from = points[usize::from(index)];
        let far = |&other: &u8| (distance(from, points[usize::from(other)]), other);
        let draws = drawn.binary_search(&index).is_ok();
        let mut near: Vec<_> = drawn.iter().filter(|_| draws).map(far).collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1 != index, a.1).cmp(&(b.1 != index, b.1))));
        let mut apart = Box::new([([0.0; 3], 0.0); 256]);
        for (apart, &shown) in apart.iter_mut().zip(points) {
            *apart = (add(shown, from, -1.0), PLAIN * error(shown, from));
        }
        Self { near, apart }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::colour::point, *};

    #[test]
    fn the_nearest_come_first_and_what_misleads_counts_without_end() {
        let colours =
            [[0, 0, 0, 255], [104, 104, 104, 255], [100, 100, 100, 255], [100, 100, 100, 255], [99, 99, 99, 255]];
        let points = colours.map(point);
        let Neighbours { near, apart } = Neighbours::of(3, &points, &[0, 1, 2, 3]);
        assert_eq!(near.iter().map(|near| near.1).collect::<Vec<_>>(), [3, 2, 1, 0]);
        assert!(Neighbours::of(4, &points, &[0, 1, 2, 3]).near.is_empty());
        assert_eq!([apart[3].1, apart[1].1, apart[0].1], [0.0, PLAIN * 16.0, f32::INFINITY]);
        assert_eq!((apart[1].0, apart[4].0), ([4.0, 0.0, 0.0], [-1.0, 0.0, 0.0]));
    }
}
