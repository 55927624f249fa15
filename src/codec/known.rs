//! What is known of colours.

use super::sequence::{NOTHING, Pixel};

/// What was worked out of colours, until another comes in a colour's place: mostly one follows that is known.
pub(crate) struct Known<T> {
    places: Vec<(Pixel, T)>,
    bits: u32,
}

impl<T: Copy> Known<T> {
    /// Bits of a place at most.
    const MOST_BITS: u32 = 14;

    /// What `nothing` has, for about so many pixels.
    pub(crate) fn new(nothing: T, pixels: usize) -> Self {
        let bits = pixels.max(2).ilog2().min(Self::MOST_BITS);
        Self { places: vec![(NOTHING, nothing); 1 << bits], bits }
    }

    /// What `work` says of a colour, or said before.
    pub(crate) fn of(&mut self, colour: Pixel, work: impl FnOnce() -> T) -> T {
        // Multiplied by what splits a range most evenly (D. Knuth, The Art of Computer Programming, 6.4).
        let at = u32::from_le_bytes(colour).wrapping_mul(0x9E37_79B1) >> (u32::BITS - self.bits);
        let place = &mut self.places[at as usize];
        if place.0 != colour {
            *place = (colour, work());
        }
        place.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_colour_is_said_of_no_other() {
        let mut known = Known::new(None, 4);
        let mut asked = 0;
        for _ in 0..2 {
            for gray in 0..=u8::MAX {
                let said = known.of([gray; 4], || {
                    asked += 1;
                    Some(gray)
                });
                assert_eq!(said, if gray == 0 && asked == 0 { None } else { Some(gray) });
                assert_eq!(known.of([gray; 4], || unreachable!()), said);
            }
        }
        assert_eq!(asked, 2 * 256 - 1);
    }
}
