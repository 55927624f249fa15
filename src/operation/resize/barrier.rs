//! What is set off from the edges of a picture, as subjects are from their background.
//!
//! The minimum barrier distance of J. Zhang et al., *Minimum Barrier Salient Object Detection at 80 FPS* (ICCV 2015), by raster
//! scans: of all ways from a cell to the left, upper or right edge, the least range of colours that is met on one. Ground,
//! walls and skies reach an edge through colours of their own, however rough they are; subjects that the lower edge cuts
//! reach none.

/// Scans, there and back in turn.
const SCANS: usize = 3;
/// Farther than any.
const FAR: i32 = i32::MAX;

/// The best way from an edge known so far: the range of colours on it.
#[derive(Clone, Copy)]
struct Way {
    low: [i32; 3],
    high: [i32; 3],
    barrier: i32,
}

impl Way {
    /// Going on to a cell.
    fn to(self, cell: [i32; 3]) -> Self {
        let low = std::array::from_fn(|n| self.low[n].min(cell[n]));
        let high = std::array::from_fn(|n| self.high[n].max(cell[n]));
        let barrier = (0..3).fold(0, |most, n| most.max(high[n] - low[n]));
        Self { low, high, barrier }
    }
}

/// For each cell of a picture `width` wide, 0 where it is like what reaches the edges, to 255.
pub(super) fn barriers(rgb: &[[i32; 3]], width: usize) -> Vec<i32> {
    // At half the size, which texture hardly survives.
    let (half_width, half) = halved(rgb, width);
    let coarse = coarse(&half, half_width);
    let at = |place: usize| coarse[place / width / 2 * half_width + place % width / 2];
    (0..rgb.len()).map(at).collect()
}

fn coarse(rgb: &[[i32; 3]], width: usize) -> Vec<i32> {
    let height = rgb.len() / width;
    let is_edge = |at: usize| at < width || [0, width - 1].contains(&(at % width));
    let way =
        |(at, &cell): (usize, &[i32; 3])| Way { low: cell, high: cell, barrier: if is_edge(at) { 0 } else { FAR } };
    let mut ways: Vec<Way> = rgb.iter().enumerate().map(way).collect();
    let mut step = |at: usize, from: usize| {
        if ways[from].barrier < ways[at].barrier {
            let way = ways[from].to(rgb[at]);
            if way.barrier < ways[at].barrier {
                ways[at] = way;
            }
        }
    };
    for scan in 0..SCANS {
        let back = scan % 2 == 1;
        for n in 0..rgb.len() {
            let at = if back { rgb.len() - 1 - n } else { n };
            let (x, y) = (at % width, at / width);
            match back {
                false if y > 0 => step(at, at - width),
                true if y + 1 < height => step(at, at + width),
                _ => {}
            }
            match back {
                false if x > 0 => step(at, at - 1),
                true if x + 1 < width => step(at, at + 1),
                _ => {}
            }
        }
    }
    ways.into_iter().map(|way| way.barrier).collect()
}

/// Half as wide and high, rounded up, and the new width.
fn halved(rgb: &[[i32; 3]], width: usize) -> (usize, Vec<[i32; 3]>) {
    let height = rgb.len() / width;
    let (across, down) = (width.div_ceil(2), height.div_ceil(2));
    let cell = |x: usize, y: usize| rgb[y.min(height - 1) * width + x.min(width - 1)];
    let half = (0..across * down).map(|at| {
        let (x, y) = (at % across * 2, at / across * 2);
        let four = [cell(x, y), cell(x + 1, y), cell(x, y + 1), cell(x + 1, y + 1)];
        std::array::from_fn(|n| four.iter().map(|cell| cell[n]).sum::<i32>() / 4)
    });
    (across, half.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 40;

    fn of(paint: impl Fn(usize, usize) -> i32) -> impl Fn(usize, usize) -> i32 {
        let rgb: Vec<[i32; 3]> = (0..SIDE * SIDE).map(|at| [paint(at % SIDE, at / SIDE); 3]).collect();
        let barriers = barriers(&rgb, SIDE);
        move |x, y| barriers[y * SIDE + x]
    }

    #[test]
    fn what_stands_before_a_background_is_set_off_by_its_contrast_also_where_the_lower_edge_cuts_it() {
        let barriers = of(|x, y| if (12..28).contains(&x) && y >= 14 { 150 } else { 30 });
        assert_eq!([barriers(20, 20), barriers(20, SIDE - 1), barriers(4, 30)], [120, 120, 0]);
    }

    #[test]
    fn a_slope_of_light_and_rough_ground_are_not() {
        let sky = of(|_, y| 5 * y as i32);
        assert!((0..SIDE * SIDE).all(|at| sky(at % SIDE, at / SIDE) == 0));
        let ground = of(|x, y| 100 + ((x * 7 + y * 13) % 5 * 8) as i32);
        assert!((0..SIDE * SIDE).all(|at| ground(at % SIDE, at / SIDE) <= 24));
    }

    #[test]
    fn the_smallest_pictures_are_all_edge() {
        assert_eq!(barriers(&[[9; 3]], 1), [0]);
        assert_eq!(barriers(&[[9; 3], [200; 3], [40; 3]], 1), [0; 3]);
    }
}
