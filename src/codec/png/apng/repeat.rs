//! Which of the pixels that stay as they are to draw again: those with which the drawing repeats itself most.

use super::pixel::Colour;
use crate::{control::Run, error::Result};

/// The farthest that is looked back: a window of the indices that most such frames have.
const FARTHEST: usize = 1 << 15;
/// Repetitions of fewer pixels are none.
const LEAST: usize = 3;
/// Candidates with one hash that are looked at.
const CANDIDATES: usize = 24;
/// The longest repetition that is drawn at once.
const MOST: usize = 1 << 10;
/// A repetition that is not put off for a longer one behind it.
const LONG: usize = 64;
const HASH_BITS: u32 = 14;
const NONE: u32 = u32::MAX;

/// Pixels in the making.
struct Drawing<'a, C> {
    /// What is drawn at least, transparent where nothing changes.
    changed: &'a [C],
    wanted: &'a [C],
    width: usize,
    out: Vec<C>,
    /// The last position where three pixels with a hash began, and the one before for every position.
    heads: Vec<u32>,
    before: Vec<u32>,
    /// How far back the last repetition lay.
    last: usize,
}

/// `changed`, rows `width` long that are transparent where nothing changes, with some of these pixels as in `wanted`.
pub(super) fn repeating<C: Colour>(changed: &[C], wanted: &[C], width: usize, run: Run<'_>) -> Result<Vec<C>> {
    let (out, before) = (Vec::with_capacity(changed.len()), Vec::with_capacity(changed.len()));
    let heads = vec![NONE; 1 << HASH_BITS];
    let mut drawing = Drawing { changed, wanted, width, out, heads, before, last: 1 };
    while drawing.out.len() < changed.len() {
        run.check()?;
        let (length, distance) = drawing.longest();
        if length < LEAST {
            drawing.draw(changed[drawing.out.len()]);
            continue;
        }
        if length < LONG && drawing.out.len() + 1 < changed.len() {
            let out = drawing.out.len();
            drawing.out.push(changed[out]);
            let next = drawing.longest().0;
            drawing.out.truncate(out);
            if next > length + 1 {
                drawing.draw(changed[out]);
                continue;
            }
        }
        for _ in 0..length {
            drawing.draw(drawing.out[drawing.out.len() - distance]);
        }
        drawing.last = distance;
    }
    Ok(drawing.out)
}

impl<C: Colour> Drawing<'_, C> {
    fn draw(&mut self, pixel: C) {
        self.out.push(pixel);
        let Some(start) = self.out.len().checked_sub(LEAST) else { return };
        let hash = hash(&self.out[start..]);
        self.before.push(std::mem::replace(&mut self.heads[hash], start as u32));
    }

    /// Length and distance of the longest repetition that may be drawn next.
    fn longest(&self) -> (usize, usize) {
        let at = self.out.len();
        let mut best = (0, 0);
        let mut consider = |distance: usize| {
            if distance > 0 && distance <= at.min(FARTHEST) {
                let length = self.length(distance, best.0);
                if length > best.0 || (length == best.0 && distance < best.1) {
                    best = (length, distance);
                }
            }
        };
        [1, self.last, self.width].into_iter().for_each(&mut consider);
        for pixels in [self.changed, self.wanted] {
            let Some(next) = pixels.get(at..at + LEAST) else { continue };
            let mut candidate = self.heads[hash(next)];
            for _ in 0..CANDIDATES {
                if candidate == NONE || at - candidate as usize > FARTHEST {
                    break;
                }
                consider(at - candidate as usize);
                candidate = self.before[candidate as usize];
            }
        }
        best
    }

    /// How many pixels from `distance` back may be drawn next; 0 if the one at `known` may not.
    fn length(&self, distance: usize, known: usize) -> usize {
        let at = self.out.len();
        let fits = |offset: usize| {
            let pixel = self.out[at - distance + offset % distance];
            let changed = self.changed[at + offset];
            pixel == changed || (changed == C::default() && pixel == self.wanted[at + offset] && pixel.is_opaque())
        };
        let most = MOST.min(self.changed.len() - at);
        if known < most && !fits(known) {
            return 0;
        }
        (0..most).take_while(|&offset| fits(offset)).count()
    }
}

fn hash<C: Colour>(pixels: &[C]) -> usize {
    let mut hash = 0u32;
    for sample in pixels.iter().flat_map(|pixel| pixel.samples()) {
        hash = (hash ^ u32::from(sample)).wrapping_mul(0x9E37_79B1).rotate_left(5);
    }
    (hash.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::fixtures::run;

    #[test]
    fn pixels_that_stay_are_drawn_where_that_repeats_what_was_drawn() {
        let [nothing, a, b, c] = [[0; 4], [1, 0, 0, 255], [2, 0, 0, 255], [3, 0, 0, 255u8]];
        let wanted = [a, b, c, b, c, a, a, b, c, b, c, a];
        let changed = [a, b, c, b, c, a, a, nothing, c, nothing, c, a];
        assert_eq!(repeating(&changed, &wanted, 12, run()).unwrap(), wanted);
    }

    #[test]
    fn what_changes_is_drawn_and_what_stays_is_not_altered() {
        let colour = |value: u32| [value as u8, 0, 0, 255u8];
        let wanted: Vec<[u8; 4]> = (0..600u32).map(|at| colour(at * at % 7)).collect();
        let changed: Vec<[u8; 4]> =
            wanted.iter().zip(0..).map(|(&pixel, at)| if at * 5 % 11 < 6 { [0; 4] } else { pixel }).collect();
        let drawn = repeating(&changed, &wanted, 20, run()).unwrap();
        assert_eq!(drawn.len(), wanted.len());
        for ((drawn, changed), wanted) in drawn.iter().zip(&changed).zip(&wanted) {
            assert!(drawn == wanted || (drawn == changed && *changed == [0; 4]));
        }
        assert!(drawn.iter().filter(|&&pixel| pixel == [0; 4]).count() < 300);
    }
}
