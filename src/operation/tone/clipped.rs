//! Lights that were clipped under a cast.

/// Codes from which on a channel may be clipped, and is.
const CODES: (f64, f64) = (0.955, 0.99);

/// Gives back what clipping took from a channel that another gains on as the cast goes: how strong it was is lost, but once the
/// cast is gone it was at least as strong as the others, or it would not have been clipped before them. What is white stays white.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clipped {
    /// What becomes of the two codes; infinite of channels that lose nothing.
    from: [f32; 3],
    full: [f32; 3],
}

impl Clipped {
    /// `light` is what becomes of a channel's index and code, `loses` whether another gains on the channel. `None` if none does.
    pub(super) fn new(loses: [bool; 3], light: impl Fn(usize, f64) -> f64) -> Option<Self> {
        let of = |code| [0, 1, 2].map(|n: usize| if loses[n] { light(n, code) as f32 } else { f32::INFINITY });
        loses.contains(&true).then(|| Self { from: of(CODES.0), full: of(CODES.1) })
    }

    pub(super) fn restored(&self, pixel: [f32; 3]) -> [f32; 3] {
        // Few are.
        if (0..3).all(|channel| pixel[channel] <= self.from[channel]) {
            return pixel;
        }
        let [r, g, b] = pixel;
        let others = [g.max(b), r.max(b), r.max(g)];
        [0, 1, 2].map(|channel| {
            let (from, full) = (self.from[channel], self.full[channel]);
            let lost = others[channel] - pixel[channel];
            if pixel[channel] <= from || lost <= 0.0 {
                return pixel[channel];
            }
            pixel[channel] + lost * ((pixel[channel] - from) / (full - from).max(1e-6)).min(1.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::transfer;

    /// Of light with a quarter too much red.
    fn cooled() -> Clipped {
        let gains = [0.8, 1.0, 1.0];
        Clipped::new(gains.map(|gain| gain < 1.0), |channel, code| gains[channel] * transfer::decode(code)).unwrap()
    }

    #[test]
    fn a_channel_that_was_clipped_is_as_strong_as_the_others() {
        assert_eq!(cooled().restored([0.8, 0.95, 0.9]), [0.95, 0.95, 0.9]);
        assert_eq!(cooled().restored([0.8, 1.0, 1.0]), [1.0; 3]);
    }

    #[test]
    fn white_stays_so_though_one_channel_gains_on_both_others() {
        let gains = [0.8, 1.03, 1.6];
        let warm = Clipped::new([true, true, false], |channel, code| gains[channel] * transfer::decode(code)).unwrap();
        assert_eq!(warm.restored([0.8, 1.03, 1.6]), [1.6; 3]);
    }

    #[test]
    fn what_was_not_clipped_and_what_is_of_its_own_colour_stays() {
        for pixel in [[0.7, 0.95, 0.9], [0.8, 0.4, 0.2], [0.6, 1.0, 1.0]] {
            assert_eq!(cooled().restored(pixel), pixel);
        }
        assert!(Clipped::new([false; 3], |_, code| code).is_none());
    }

    #[test]
    fn there_is_no_step_between_the_two() {
        let steps: Vec<f32> = (0..=400).map(|n| cooled().restored([0.7 + n as f32 / 4000.0, 1.0, 1.0])[0]).collect();
        assert!(steps.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] - pair[0] < 0.01), "{steps:?}");
    }
}
