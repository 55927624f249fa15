//! Plain areas, and lines upon them: what is drawn in one colour, where a wrong one is seen before any score tells.

use crate::{control::Run, error::Result};

/// The side of the least area.
const SIDE: usize = 4;
/// The length of the least line, and the greatest thickness.
const LINE: (usize, usize) = (16, 3);
/// The greatest step of a gradient, in any channel.
const SOFT: u8 = 3;
/// Rows between two questions whether to go on.
const ROWS: usize = 64;

/// How far around a pixel those are that say whether it lies in an area.
pub(crate) const REACH: usize = SIDE;
/// The same for areas and lines upon them.
pub(crate) const FAR: usize = LINE.0 + LINE.1 + 1 + REACH;

/// What a pixel lies in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ground {
    /// Detail, or a gradient.
    #[default]
    Busy,
    /// An area of its colour.
    Area,
    /// A line of one colour between areas.
    Line,
    /// One of several lines side by side between areas, as along smooth edges.
    Edge,
}

impl Ground {
    /// Whether a wrong colour is seen.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::Area | Self::Line)
    }

    /// Whether it shows where a colour is mixed of others.
    pub(crate) fn is_thin(self) -> bool {
        matches!(self, Self::Line | Self::Edge)
    }
}

/// What the pixels of a picture lie in.
pub(crate) fn grounds(pixels: &[[u8; 4]], width: usize, run: Run<'_>) -> Result<Vec<Ground>> {
    let plain = areas(pixels, width, run)?;
    let mut grounds: Vec<Ground> = plain.iter().map(|&plain| if plain { Ground::Area } else { Ground::Busy }).collect();
    lines(pixels, &plain, width, run)?.into_iter().for_each(|(at, ground)| grounds[at] = ground);
    Ok(grounds)
}

/// Which pixels lie in areas of their colour, and in no gradient.
pub(crate) fn areas(pixels: &[[u8; 4]], width: usize, run: Run<'_>) -> Result<Vec<bool>> {
    let mut plain = vec![false; pixels.len()];
    if width < SIDE {
        return Ok(plain);
    }
    // Equal pixels to the left of each, itself counted, and rows above that end in as many.
    let mut rows = vec![0usize; width];
    for (y, row) in pixels.chunks_exact(width).enumerate() {
        if y % ROWS == 0 {
            run.check()?;
        }
        let mut equal = 0;
        for x in 0..width {
            equal = if x > 0 && row[x] == row[x - 1] { equal + 1 } else { 1 };
            let at = y * width + x;
            let goes_on = y > 0 && pixels[at - width] == row[x];
            rows[x] = if equal < SIDE { 0 } else { 1 + if goes_on { rows[x] } else { 0 } };
            if rows[x] >= SIDE {
                // The squares that end to the left and above are filled.
                let wide = if x > 0 && rows[x - 1] >= SIDE { 1 } else { SIDE };
                let high = if rows[x] > SIDE { 1 } else { SIDE };
                (0..high).for_each(|up| plain[at + 1 - wide - up * width..=at - up * width].fill(true));
            }
        }
    }
    for (y, row) in pixels.chunks_exact(width).enumerate() {
        if y % ROWS == 0 {
            run.check()?;
        }
        for x in 0..width {
            let at = y * width + x;
            if x > 0 && soft(row[x], row[x - 1]) {
                (plain[at], plain[at - 1]) = (false, false);
            }
            if y > 0 && soft(row[x], pixels[at - width]) {
                (plain[at], plain[at - width]) = (false, false);
            }
        }
    }
    Ok(plain)
}

/// The pixels of upright and level lines that lie between plain areas, and in none.
fn lines(pixels: &[[u8; 4]], plain: &[bool], width: usize, run: Run<'_>) -> Result<Vec<(usize, Ground)>> {
    let height = pixels.len() / width;
    let mut found = Vec::new();
    // Pixels in level lines, and in upright ones.
    let (mut level, mut upright) = (vec![false; pixels.len()], vec![false; pixels.len()]);
    // Pixels above each that equal it, itself counted.
    let mut above = vec![0usize; width];
    for (y, row) in pixels.chunks_exact(width).enumerate() {
        if y % ROWS == 0 {
            run.check()?;
        }
        let start = y * width;
        let mut ended = 0;
        for x in 0..width {
            if x + 1 == width || row[x + 1] != row[x] {
                if x + 1 - ended >= LINE.0 {
                    level[start + ended..=start + x].fill(true);
                }
                ended = x + 1;
            }
            let at = start + x;
            above[x] = if y > 0 && pixels[at - width] == row[x] { above[x] + 1 } else { 1 };
            if pixels.get(at + width).is_none_or(|below| *below != row[x]) && above[x] >= LINE.0 {
                (0..above[x]).for_each(|up| upright[at - up * width] = true);
            }
        }
    }
    for y in 0..height {
        if y % ROWS == 0 {
            run.check()?;
        }
        for x in 0..width {
            let at = y * width + x;
            // What is plain mostly is a large part of the picture.
            if plain[at] {
                continue;
            }
            let ways = [(&level, width, (y, height)), (&upright, 1, (x, width))];
            for (lines, step, place) in ways.into_iter().filter(|(lines, ..)| lines[at]) {
                if is_thin(|other| pixels[other] == pixels[at], plain, (at, step), place) {
                    found.push((at, Ground::Line));
                    break;
                }
                // A line the other way comes behind it, and holds.
                if is_thin(|other| lines[other] && !plain[other], plain, (at, step), place) {
                    found.push((at, Ground::Edge));
                }
            }
        }
    }
    Ok(found)
}

/// Whether few pixels in a row go on with what one is in, `step` apart, of which it is the `place.0`th of `place.1`, with plain
/// ones, or the edge, at both ends.
fn is_thin(goes_on: impl Fn(usize) -> bool, plain: &[bool], (at, step): (usize, usize), place: (usize, usize)) -> bool {
    let before = (1..=place.0).find(|&far| !goes_on(at - far * step) || far > LINE.1);
    let behind = (1..place.1 - place.0).find(|&far| !goes_on(at + far * step) || far > LINE.1);
    let thick = before.unwrap_or(place.0 + 1) + behind.unwrap_or(place.1 - place.0) - 1;
    thick <= LINE.1
        && before.is_none_or(|far| plain[at - far * step])
        && behind.is_none_or(|far| plain[at + far * step])
}

fn soft(one: [u8; 4], other: [u8; 4]) -> bool {
    one != other && one.iter().zip(&other).all(|(one, other)| one.abs_diff(*other) <= SOFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    const WIDTH: usize = 12;

    fn plains(value: impl Fn(usize, usize) -> u8) -> Vec<(usize, usize)> {
        plains_of((WIDTH, 8), value)
    }

    fn plains_of((width, height): (usize, usize), value: impl Fn(usize, usize) -> u8) -> Vec<(usize, usize)> {
        let pixels: Vec<_> = (0..width * height).map(|at| [value(at % width, at / width), 0, 0, 255]).collect();
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let grounds = grounds(&pixels, width, run).unwrap();
        (0..grounds.len()).filter(|at| grounds[*at].is_plain()).map(|at| (at % width, at / width)).collect()
    }

    #[test]
    fn squares_of_four_are_plain_and_lines_of_three_are_not() {
        let noise = |x: usize, y: usize| ((x * 5 + y * 7) % 11 * 20) as u8;
        let square = |side: usize| {
            plains(move |x, y| if (3..3 + side).contains(&x) && (2..6).contains(&y) { 250 } else { noise(x, y) })
        };
        assert_eq!(square(4), (2..6).flat_map(|y| (3..7).map(move |x| (x, y))).collect::<Vec<_>>());
        assert_eq!(square(3), []);
    }

    #[test]
    fn long_lines_on_a_plain_ground_are_plain() {
        let (length, side) = (LINE.0, 30);
        let lines = |length: usize, thick: usize, beside: u8| {
            let on = move |x: usize, y: usize| (6..6 + length).contains(&x) && (10..10 + thick).contains(&y);
            let value = move |x: usize, y: usize| match on(x, y) {
                true => 200,
                false if y == 9 && beside != 0 && x.is_multiple_of(2) => beside,
                false => 240,
            };
            let found = |upright: bool| {
                let plain = plains_of((side, side), move |x, y| if upright { value(y, x) } else { value(x, y) });
                plain.into_iter().filter(|&(x, y)| if upright { on(y, x) } else { on(x, y) }).count()
            };
            assert_eq!(found(false), found(true));
            found(false)
        };
        assert_eq!([1, 2, 3].map(|thick| lines(length, thick, 0)), [1, 2, 3].map(|thick| thick * length));
        assert_eq!((lines(length - 1, 1, 0), lines(length, 1, 100)), (0, 0));
        let edge = plains_of((side, side), |_, y| if y == 0 { 200 } else { 240 });
        assert_eq!(edge.len(), side * side);
    }

    #[test]
    fn smooth_edges_of_three_columns_are_thin_and_those_of_four_are_gradients() {
        let side = 30;
        let edge = |columns: usize| {
            let value = move |x: usize| match x {
                x if x < 10 => 240,
                x if x < 10 + columns => 240 - (x - 9) as u8 * 20,
                _ => 90,
            };
            let pixels: Vec<_> = (0..side * side).map(|at| [value(at % side), 0, 0, 255]).collect();
            let grounds = grounds(&pixels, side, Run { limits: &Limits::default(), control: &Unattended }).unwrap();
            grounds.into_iter().filter(|ground| *ground == Ground::Edge && ground.is_thin()).count()
        };
        assert_eq!([2, 3, 4].map(edge), [2 * side, 3 * side, 0]);
    }

    #[test]
    fn what_is_far_away_has_no_say() {
        let (width, height) = (40, 90);
        let value = |at: usize| match (at % width, at / width) {
            (x, y) if x % 13 == 3 && y > 7 => 200,
            (x, y) if y % 23 == 9 && x > 5 => 90,
            (x, y) if (x + y * 3) % 37 == 5 => 20,
            (x, _) if x % 13 == 4 => 120,
            _ => 240,
        };
        let pixels: Vec<_> = (0..width * height).map(|at| [value(at), 0, 0, 255]).collect();
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let all = grounds(&pixels, width, run).unwrap();
        assert!([Ground::Busy, Ground::Area, Ground::Line, Ground::Edge].iter().all(|ground| all.contains(ground)));
        for rows in [0..1usize, 10..20, 33..34, 40..66, 80..90] {
            let around = rows.start.saturating_sub(FAR)..(rows.end + FAR).min(height);
            let some = grounds(&pixels[around.start * width..around.end * width], width, run).unwrap();
            let skipped = (rows.start - around.start) * width;
            assert!(some[skipped..][..rows.len() * width] == all[rows.start * width..rows.end * width], "{rows:?}");
        }
    }

    #[test]
    fn steps_of_a_gradient_are_not_plain_where_they_meet() {
        let stairs = |step: u8| plains(move |x, _| if x < 6 { 100 } else { 100 + step });
        assert_eq!(stairs(SOFT + 1).len(), WIDTH * 8);
        assert!(stairs(SOFT).iter().all(|(x, _)| *x < 5 || *x > 6) && stairs(SOFT).len() == (WIDTH - 2) * 8);
    }
}
