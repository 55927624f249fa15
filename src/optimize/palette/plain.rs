//! Plain areas: what is drawn in one colour, where a wrong one is seen before any score tells.

use crate::{control::Run, error::Result};

/// The side of the least area.
const SIDE: usize = 4;
/// The greatest step of a gradient, in any channel.
const SOFT: u8 = 3;
/// Rows between two questions whether to go on.
const ROWS: usize = 64;

/// Which pixels lie in areas of their colour, and in no gradient.
pub(super) fn plain(pixels: &[[u8; 4]], width: usize, run: Run<'_>) -> Result<Vec<bool>> {
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
                (0..SIDE).for_each(|up| plain[at + 1 - SIDE - up * width..=at - up * width].fill(true));
            }
        }
    }
    for at in 0..pixels.len() {
        if at % (ROWS * width) == 0 {
            run.check()?;
        }
        let left = (at % width > 0).then(|| at - 1);
        for other in [left, at.checked_sub(width)].into_iter().flatten() {
            if soft(pixels[at], pixels[other]) {
                (plain[at], plain[other]) = (false, false);
            }
        }
    }
    Ok(plain)
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
        let pixels: Vec<_> = (0..WIDTH * 8).map(|at| [value(at % WIDTH, at / WIDTH), 0, 0, 255]).collect();
        let run = Run { limits: &Limits::default(), control: &Unattended };
        let plain = plain(&pixels, WIDTH, run).unwrap();
        (0..plain.len()).filter(|at| plain[*at]).map(|at| (at % WIDTH, at / WIDTH)).collect()
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
    fn steps_of_a_gradient_are_not_plain_where_they_meet() {
        let stairs = |step: u8| plains(move |x, _| if x < 6 { 100 } else { 100 + step });
        assert_eq!(stairs(SOFT + 1).len(), WIDTH * 8);
        assert!(stairs(SOFT).iter().all(|(x, _)| *x < 5 || *x > 6) && stairs(SOFT).len() == (WIDTH - 2) * 8);
    }
}
