//! Choosing colours: a median cut by variance, refined by k-means.

use super::{
    MOST, Palette, SEEN,
    histogram::{Bin, Histogram},
    hues::{keep_hues, keep_words},
    space::{Point, Points, colour, distance, point},
};
use crate::{control::Run, error::Result};

/// Rounds of k-means; most palettes have settled by then.
const ROUNDS: usize = 12;

/// The squared error over all its pixels from which a plain area has a colour of its own, as a squared distance in Oklab.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Missed(f32);

impl Missed {
    /// Of what has no target, or one of 70.
    pub(crate) const MOST: Self = Self(0.2);

    /// Of a target, the less the more must look the same.
    pub(crate) fn at(target: f64) -> Self {
        Self(Self::MOST.0 * ((100.0 - target) / 30.0).clamp(0.0, 1.0) as f32)
    }
}

/// A palette of at most `size` colours, 1 to 256.
pub(crate) fn cluster(histogram: &Histogram, size: usize, run: Run<'_>) -> Result<Palette> {
    if histogram.bins.len() <= size {
        return Ok(Palette { colours: histogram.bins.iter().map(|bin| bin.colour).collect() });
    }
    let mut centres = cut(&histogram.bins, size);
    let mut owners = vec![0u8; histogram.bins.len()];
    for _ in 0..ROUNDS {
        run.check()?;
        let index = Points::new(&centres);
        let mut moved = false;
        for (owner, bin) in owners.iter_mut().zip(&histogram.bins) {
            let nearest = index.nearest(bin.point).0 as u8;
            moved |= *owner != nearest;
            *owner = nearest;
        }
        if !moved {
            break;
        }
        centres = means(&histogram.bins, &owners, centres);
    }
    Ok(Palette { colours: settled(&histogram.bins, &owners, &centres) })
}

/// The same, and the colours of plain areas that would be drawn visibly wrong with it, and of whatever is thinner and would come out
/// in another hue; at most 256 in all.
pub(crate) fn faithful(histogram: &Histogram, size: usize, missed: Missed, run: Run<'_>) -> Result<Palette> {
    let Palette { mut colours } = cluster(histogram, size, run)?;
    let means = colours.len();
    let mut points: Vec<Point> = colours.iter().map(|&colour| point(colour)).collect();
    for &(plain, pixels) in &histogram.plain {
        if colours.len() == MOST {
            break;
        }
        let (here, wrong) = (point(plain), (missed.0 / pixels as f32).max(SEEN * SEEN));
        if points.iter().all(|&there| distance(there, here) > wrong) {
            colours.push(plain);
            points.push(here);
        }
    }
    keep_words(histogram, &mut colours, &mut points, (means, missed.0), run)?;
    keep_hues(histogram, &mut colours, &mut points, run)?;
    colours.sort_unstable();
    Ok(Palette { colours })
}

/// A group of bins while cutting.
struct Group {
    bins: Vec<Bin>,
    /// Weighted squared distance to the mean along the axis where it is greatest.
    spread: f32,
    axis: usize,
    mean: Point,
}

impl Group {
    fn new(bins: Vec<Bin>) -> Self {
        let mean = mean(bins.iter().map(|bin| (bin.point, bin.weight)));
        let mut spreads = [0f32; 4];
        for bin in &bins {
            for (axis, spread) in spreads.iter_mut().enumerate() {
                let d = bin.point[axis] - mean[axis];
                *spread += d * d * bin.weight;
            }
        }
        let axis = (0..4).fold(0, |best, axis| if spreads[axis] > spreads[best] { axis } else { best });
        let spread = if bins.len() > 1 { spreads[axis] } else { -1.0 };
        Self { bins, spread, axis, mean }
    }
}

/// Splits the group with the greatest spread at its mean until there are `size`.
fn cut(bins: &[Bin], size: usize) -> Vec<Point> {
    let mut groups = vec![Group::new(bins.to_vec())];
    while groups.len() < size {
        let widest =
            (0..groups.len()).fold(0, |best, at| if groups[at].spread > groups[best].spread { at } else { best });
        if groups[widest].spread <= 0.0 {
            break;
        }
        let group = groups.swap_remove(widest);
        let at = group.mean[group.axis];
        let (low, high): (Vec<Bin>, Vec<Bin>) = group.bins.into_iter().partition(|bin| bin.point[group.axis] < at);
        if low.is_empty() || high.is_empty() {
            // All bins lie at the mean as far as f32 can tell.
            let rest = if low.is_empty() { high } else { low };
            groups.push(Group { spread: -1.0, ..Group::new(rest) });
            continue;
        }
        groups.push(Group::new(low));
        groups.push(Group::new(high));
    }
    groups.into_iter().map(|group| group.mean).collect()
}

fn mean(points: impl Iterator<Item = (Point, f32)>) -> Point {
    let (mut sum, mut total) = ([0f64; 4], 0f64);
    for (point, weight) in points {
        for (sum, &along) in sum.iter_mut().zip(&point) {
            *sum += f64::from(along) * f64::from(weight);
        }
        total += f64::from(weight);
    }
    sum.map(|axis| (axis / total.max(f64::MIN_POSITIVE)) as f32)
}

/// The mean of every owner's bins; owners without bins keep their centre.
fn means(bins: &[Bin], owners: &[u8], centres: Vec<Point>) -> Vec<Point> {
    let (mut sums, mut totals) = (vec![[0f64; 4]; centres.len()], vec![0f64; centres.len()]);
    for (bin, &owner) in bins.iter().zip(owners) {
        let (sum, weight) = (&mut sums[usize::from(owner)], f64::from(bin.weight));
        for (sum, &along) in sum.iter_mut().zip(&bin.point) {
            *sum += f64::from(along) * weight;
        }
        totals[usize::from(owner)] += weight;
    }
    let moved = |((centre, sum), total): ((Point, [f64; 4]), f64)| {
        if total > 0.0 { sum.map(|axis| (axis / total) as f32) } else { centre }
    };
    centres.into_iter().zip(sums).zip(totals).map(moved).collect()
}

/// Share of all weights from which colours that look the same are a plain area's.
const LARGE: f32 = 0.03;

/// Share of a cluster that is opaque from which its colour is.
const OPAQUE: f32 = 0.25;

/// Colours of 8 bits for the centres. A colour that makes up most of its cluster is taken as it is, so that flat areas
/// stay exactly what they were, and several that look the same are by their mean; what cannot be seen and what is opaque are not
/// drawn as nearly so.
fn settled(bins: &[Bin], owners: &[u8], centres: &[Point]) -> Vec<[u8; 4]> {
    let mut heaviest: Vec<Option<Bin>> = vec![None; centres.len()];
    let (mut totals, mut opaque) = (vec![0f32; centres.len()], vec![0f32; centres.len()]);
    let mut unseen = None;
    for (bin, &owner) in bins.iter().zip(owners) {
        let owner = usize::from(owner);
        totals[owner] += bin.weight;
        match bin.colour[3] {
            0 => unseen = Some(owner),
            u8::MAX => opaque[owner] += bin.weight,
            _ => {}
        }
        if heaviest[owner].is_none_or(|heaviest| bin.weight > heaviest.weight) {
            heaviest[owner] = Some(*bin);
        }
    }
    let alike = |owner: usize, bin: &Bin| {
        heaviest[owner].is_some_and(|heaviest| distance(bin.point, heaviest.point) <= SEEN * SEEN)
    };
    let all: f32 = totals.iter().sum();
    let mut cores = vec![Vec::new(); centres.len()];
    for (bin, &owner) in bins.iter().zip(owners).filter(|&(bin, &owner)| alike(owner.into(), bin)) {
        cores[usize::from(owner)].push((bin.point, bin.weight));
    }
    let mut colours: Vec<[u8; 4]> = Vec::with_capacity(centres.len());
    for (owner, (heaviest, &centre)) in heaviest.into_iter().zip(centres).enumerate() {
        let Some(heaviest) = heaviest else { continue };
        let (total, core) = (totals[owner], &cores[owner]);
        let weight: f32 = core.iter().map(|(_, weight)| weight).sum();
        let most = weight * 2.0 > total && weight > LARGE * all;
        let mut rounded = colour(if most { mean(core.iter().copied()) } else { centre });
        if opaque[owner] >= OPAQUE * total {
            rounded[3] = u8::MAX;
        }
        let dominant = heaviest.weight * 2.0 > total || distance(point(rounded), heaviest.point) < 1e-6;
        colours.push(match dominant {
            _ if unseen == Some(owner) => [0; 4],
            true => heaviest.colour,
            false => rounded,
        });
    }
    colours.sort_unstable();
    colours.dedup();
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::Unattended,
        limits::Limits,
        picture::{Channels, Picture, Samples},
    };

    #[test]
    fn of_a_fade_both_ends_are_kept() {
        let samples = (0..=255).flat_map(|alpha: u8| [90, 140, 200, alpha]).collect();
        let fade = Picture::new(256, 1, Channels::Rgba, Samples::Eight(samples)).unwrap();
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let colours = cluster(&Histogram::new(&fade, run).unwrap(), 100, run).unwrap().colours;
        assert!(colours.contains(&[0; 4]) && colours.iter().any(|colour| colour[3] == 255), "{colours:?}");
    }

    #[test]
    fn a_large_area_of_nearly_one_colour_keeps_it() {
        // Three that look the same, and what is left of the cluster.
        let colours = [[57, 7, 23, 255], [58, 8, 24, 255], [59, 9, 25, 255], [50, 30, 30, 255], [46, 34, 34, 255]];
        let bins = colours.map(|colour| Bin { colour, point: point(colour), pixels: 1, weight: 1.0 });
        let centre = mean(bins.iter().map(|bin| (bin.point, bin.weight)));
        assert!(colour(centre)[1] > 14, "nothing to be mended");
        assert_eq!(settled(&bins, &[0; 5], &[centre]), [[58, 8, 24, 255]]);
    }

    #[test]
    fn a_small_mark_among_many_grays_keeps_its_colour() {
        const RED: [u8; 4] = [255, 0, 0, 255];
        let marked = |at: usize| (at % 64 < 6 && at / 64 < 6).then_some([RED[0], RED[1], RED[2]]);
        let page = |at: usize| marked(at).unwrap_or([(at * 97 % 251) as u8; 3]);
        let page = Picture::new(64, 64, Channels::Rgb, Samples::Eight((0..64 * 64).flat_map(page).collect())).unwrap();
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let histogram = Histogram::new(&page, run).unwrap();
        assert!(!cluster(&histogram, 4, run).unwrap().colours.contains(&RED), "nothing to be mended");
        assert!(faithful(&histogram, 4, Missed::MOST, run).unwrap().colours.contains(&RED));
    }

    #[test]
    fn the_most_frequent_colour_is_drawn_in_its_own_hue_and_not_in_a_mean_that_none_has() {
        const WORDS: [u8; 4] = [101, 123, 131, 255];
        // Letters, and greens that are many together and seldom alone.
        let page = |at: usize| match at {
            0..300 => [WORDS[0], WORDS[1], WORDS[2]],
            300..900 => [(115 + at % 20) as u8, (152 + at % 17) as u8, (138 + at % 13) as u8],
            _ => [253, 246, 227],
        };
        let page = Picture::new(64, 64, Channels::Rgb, Samples::Eight((0..64 * 64).flat_map(page).collect())).unwrap();
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let histogram = Histogram::new(&page, run).unwrap();
        let drawn = |colours: &[[u8; 4]]| {
            let points: Vec<Point> = colours.iter().map(|&colour| point(colour)).collect();
            colours[Points::new(&points).nearest(point(WORDS)).0]
        };
        assert_ne!(drawn(&cluster(&histogram, 2, run).unwrap().colours), WORDS, "nothing to be mended");
        assert_eq!(drawn(&faithful(&histogram, 2, Missed::MOST, run).unwrap().colours), WORDS);
    }
}
