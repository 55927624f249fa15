//! Hues that a palette of means has not: of letters, lines and small areas, whose loss is seen before any score tells.

use std::collections::BTreeMap;

use super::{
    MOST,
    histogram::{Bin, Histogram, MANY},
    space::{Point, Points, distance},
};
use crate::{control::Run, error::Result};

/// How far a hue may be off, as a distance in Oklab without lightness: more makes red of gray.
pub(super) const TINGED: f32 = 0.03;
/// The sum of such squared distances, over all pixels that one more colour would serve, from which it is worth its place.
const WORTH: f32 = 0.03;
/// Pixels of one colour that are seen to be of half as wrong a hue, as those of a word.
const WORD: u32 = 128;
/// The same of a mark, as a star, that is of a purer colour than the mean which stands for it: it takes the place of that, and never
/// one of its own.
const MARK: u32 = 32;
/// How far their colour may be off: more makes gray of white. And how much more of such errors words may have than areas.
const FADED: f32 = 0.05;
const THIN: f32 = 20.0;
/// The side of a cell of colours that are alike, in Oklab, and how many of the worst are tried as the next colour.
const CELL: f32 = 0.04;
const TRIED: usize = 32;

/// Without any hue.
const GRAY: Point = [0.0; 4];

/// The square of [`TINGED`]'s distance.
pub(super) fn tinge(one: Point, other: Point) -> f32 {
    let [a, b] = [one[1] - other[1], one[2] - other[2]];
    a * a + b * b
}

/// Whether a colour does not lie between the one nearest to it and another.
fn is_beyond(colour: Point, nearest: Point, other: Point) -> bool {
    let along = (0..4).map(|axis| (nearest[axis] - colour[axis]) * (other[axis] - colour[axis]));
    along.sum::<f32>() >= 0.0
}

/// Gives the most frequent colours the places of those of the first `means` that make a wrong colour of them, or places of their own
/// where the error is large, next to what is `missed` of areas, and nothing is farther out or they are more.
pub(super) fn keep_words(
    histogram: &Histogram,
    colours: &mut Vec<[u8; 4]>,
    points: &mut Vec<Point>,
    (means, missed): (usize, f32),
    run: Run<'_>,
) -> Result<()> {
    // Photographs have too many colours for one to be that of a line.
    if histogram.distinct > MANY {
        return Ok(());
    }
    let mut free = vec![true; means];
    let mut words: Vec<&Bin> = histogram.bins.iter().filter(|bin| bin.pixels >= MARK).collect();
    words.sort_unstable_by(|one, other| other.pixels.cmp(&one.pixels).then(one.colour.cmp(&other.colour)));
    let mut index = Points::new(points);
    for bin in words {
        run.check()?;
        let (at, far) = index.nearest(bin.point);
        if bin.pixels < WORD && tinge(bin.point, GRAY) <= tinge(points[at], GRAY) {
            continue;
        }
        // A mean may be of no hue that there is.
        let faded = far > FADED * FADED;
        let wrong = faded || tinge(points[at], bin.point) > TINGED * TINGED / 4.0;
        let much = faded && bin.pixels >= WORD && far * bin.pixels as f32 > THIN * missed;
        // What lies between others are smooth edges, which may come in steps, unless it is what these are the edges of.
        let outermost = || points.iter().all(|&point| is_beyond(bin.point, points[at], point));
        let is_less = |other: &Bin| other.colour == colours[at] && other.pixels < bin.pixels;
        let outnumbers = || histogram.bins.iter().any(is_less);
        if at < means && std::mem::take(&mut free[at]) && wrong {
            (colours[at], points[at]) = (bin.colour, bin.point);
        } else if much && colours.len() < MOST && (outnumbers() || outermost()) {
            colours.push(bin.colour);
            points.push(bin.point);
        } else {
            continue;
        }
        index = Points::new(points);
    }
    Ok(())
}

/// Colours that are alike and would come out in another hue.
struct Cell {
    /// The most frequent.
    most: Bin,
    pixels: f32,
    /// Squared distance to the nearest colour of the palette, and that without lightness.
    far: f32,
    tinge: f32,
}

impl Cell {
    fn wrong(&self) -> f32 {
        if self.tinge > TINGED * TINGED { self.tinge * self.pixels } else { 0.0 }
    }

    /// How much less wrong it would be, were there this colour, too.
    fn spared(&self, with: Point) -> f32 {
        if distance(with, self.most.point) < self.far {
            self.wrong() - tinge(with, self.most.point) * self.pixels
        } else {
            0.0
        }
    }
}

/// Adds colours that set right the hue of the most pixels, as long as these are enough.
pub(super) fn keep_hues(
    histogram: &Histogram,
    colours: &mut Vec<[u8; 4]>,
    points: &mut Vec<Point>,
    run: Run<'_>,
) -> Result<()> {
    let index = Points::new(points);
    let mut cells: BTreeMap<[i32; 4], Cell> = BTreeMap::new();
    for bins in histogram.bins.chunks(1 << 10) {
        run.check()?;
        for &bin in bins {
            let (at, far) = index.nearest(bin.point);
            let tinge = tinge(points[at], bin.point);
            if tinge > TINGED * TINGED {
                let place = bin.point.map(|axis| (axis / CELL).floor() as i32);
                let cell = cells.entry(place).or_insert(Cell { most: bin, pixels: 0.0, far, tinge });
                cell.pixels += bin.pixels as f32;
                if bin.pixels > cell.most.pixels {
                    (cell.most, cell.far, cell.tinge) = (bin, far, tinge);
                }
            }
        }
    }
    let mut cells: Vec<Cell> = cells.into_values().collect();
    while colours.len() < MOST {
        run.check()?;
        cells.retain(|cell| cell.wrong() > 0.0);
        cells.sort_by(|one, other| other.wrong().total_cmp(&one.wrong()));
        let spared = |with: &Cell| cells.iter().map(|cell| cell.spared(with.most.point)).sum::<f32>();
        let tried = cells.iter().take(TRIED).map(|cell| (spared(cell), cell.most));
        let best = tried.max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((_, Bin { colour, point, .. })) = best.filter(|&(spared, _)| spared >= WORTH) else { break };
        colours.push(colour);
        points.push(point);
        for cell in &mut cells {
            let far = distance(point, cell.most.point);
            if far < cell.far {
                (cell.far, cell.tinge) = (far, tinge(point, cell.most.point));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::Missed, super::cluster::cluster, super::faithful, *};
    use crate::{
        control::Unattended,
        limits::Limits,
        optimize::palette::space::point,
        picture::{Channels, Picture, Samples},
    };

    /// A page of gray letters, some of them, `linked`, blue, with smooth edges that make every pixel's colour another.
    fn page(linked: usize) -> Histogram {
        let pixel = |at: usize| {
            let ink = (at * 7919 % 997) as f32 / 997.0;
            let mixed = |code: f32| (255.0 + (code - 255.0) * ink) as u8;
            match at {
                at if at % 5 > 1 => [255; 3],
                at if at < linked => [mixed(30.0), mixed(90.0), mixed(230.0)],
                _ => [mixed(40.0); 3],
            }
        };
        let samples = (0..96 * 96).flat_map(pixel).collect();
        let page = Picture::new(96, 96, Channels::Rgb, Samples::Eight(samples)).unwrap();
        Histogram::new(&page, Run { limits: &Limits::default(), control: &Unattended }).unwrap()
    }

    /// The greatest error of hue of a colour of the page.
    fn off(histogram: &Histogram, palette: &[[u8; 4]]) -> f32 {
        let points: Vec<Point> = palette.iter().map(|&colour| point(colour)).collect();
        let index = Points::new(&points);
        let wrong = histogram.bins.iter().map(|bin| tinge(points[index.nearest(bin.point).0], bin.point));
        wrong.fold(0.0, f32::max).sqrt()
    }

    #[test]
    fn letters_whose_every_pixel_is_of_another_blue_stay_blue() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let histogram = page(300);
        let means = cluster(&histogram, 6, run).unwrap().colours;
        assert!(off(&histogram, &means) > 0.1, "nothing to be mended");
        let kept = faithful(&histogram, 6, Missed::MOST, run).unwrap().colours;
        assert!(off(&histogram, &kept) < 0.06 && kept.len() < 16, "{kept:?}");
    }

    #[test]
    fn words_of_the_outermost_colour_keep_it_and_smooth_edges_do_not() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let samples = (0..96 * 96).map(|at| [60, 60, 60, 60, 60, 200, 200, 255, 130, 60][at % 10]).collect();
        let page = Picture::new(96, 96, Channels::Gray, Samples::Eight(samples)).unwrap();
        let histogram = Histogram::new(&page, run).unwrap();
        let kept = faithful(&histogram, 2, Missed::MOST, run).unwrap().colours;
        assert!(kept.contains(&[255; 4]) && !kept.contains(&[130, 130, 130, 255]), "{kept:?}");
    }

    #[test]
    fn lines_keep_their_colour_beside_a_plain_area_of_what_their_edges_are() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let [line, edge] = [[44, 160, 44], [79, 175, 79]];
        let pixel = |at: usize| match (at % 96, at / 96) {
            (80..90, 80..90) => edge,
            (x, y) if (x * 7 + y * 3) % 9 == 0 && x < 70 => line,
            (x, y) if (x * 5 + y) % 11 == 0 => [0; 3],
            _ => [255; 3],
        };
        let kept = |lines: bool| {
            let thin = |colour: [u8; 3]| if !lines && colour == line { [255; 3] } else { colour };
            let samples = (0..96 * 96).flat_map(|at| thin(pixel(at))).collect();
            let chart = Picture::new(96, 96, Channels::Rgb, Samples::Eight(samples)).unwrap();
            faithful(&Histogram::new(&chart, run).unwrap(), 2, Missed::at(80.0), run).unwrap().colours
        };
        assert!(kept(true).contains(&[44, 160, 44, 255]), "{:?}", kept(true));
        assert!(!kept(false).contains(&[44, 160, 44, 255]));
    }

    #[test]
    fn a_mark_keeps_its_pure_colour_whatever_its_rim() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let pixel = |at: usize| match (at % 96, at / 96) {
            (10..17, 10..17) => [255, 192, 0],
            // No two pixels of the rim are alike.
            (x @ 7..20, y @ 7..20) => [205 + x as u8, 155 + y as u8, 35],
            (40.., 40..) => [165; 3],
            _ => [255; 3],
        };
        let samples = (0..96 * 96).flat_map(pixel).collect();
        let page = Picture::new(96, 96, Channels::Rgb, Samples::Eight(samples)).unwrap();
        let histogram = Histogram::new(&page, run).unwrap();
        let mut colours = cluster(&histogram, 3, run).unwrap().colours;
        let mut points: Vec<Point> = colours.iter().map(|&colour| point(colour)).collect();
        assert!(!colours.contains(&[255, 192, 0, 255]), "nothing to be mended");
        keep_words(&histogram, &mut colours, &mut points, (3, f32::INFINITY), run).unwrap();
        assert!(colours.contains(&[255, 192, 0, 255]) && colours.len() == 3, "{colours:?}");
    }

    #[test]
    fn a_page_without_other_hues_gets_no_more_colours() {
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let histogram = page(0);
        let mut colours = cluster(&histogram, 6, run).unwrap().colours;
        let mut points: Vec<Point> = colours.iter().map(|&colour| point(colour)).collect();
        let before = colours.clone();
        keep_hues(&histogram, &mut colours, &mut points, run).unwrap();
        assert_eq!(colours, before);
    }
}
