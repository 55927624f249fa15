//! A roll-off of lights that would clip.

/// Linear light of 0 to `white` into 0 to 1: unchanged up to `knee`, then E. Reinhard's curve with a white point
/// (*Photographic Tone Reproduction for Digital Images*, SIGGRAPH 2002, eq. 4), whose slope goes on from 1. Nothing changes
/// where `white` is at most 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shoulder {
    pub knee: f64,
    pub white: f64,
}

impl Shoulder {
    pub(super) fn at(&self, light: f64) -> f64 {
        if self.white <= 1.0 || light <= self.knee {
            return light;
        }
        let span = 1.0 - self.knee;
        let (over, white) = ((light - self.knee) / span, (self.white - self.knee) / span);
        // The curve meets 1 at a white of 1 with a slope of 1 only in the limit: a small white is let in by degrees.
        let curve = over * (1.0 + over / (white * white)) / (1.0 + over);
        let line = over / white;
        let share = ((self.white - 1.0) / self.knee).min(1.0);
        self.knee + span * (line + (curve - line) * share.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_white_point_becomes_one_and_the_way_there_only_rises() {
        for white in [1.01, 1.2, 2.0, 9.0] {
            let shoulder = Shoulder { knee: 0.6, white };
            let steps: Vec<f64> = (0..=500).map(|n| shoulder.at(f64::from(n) / 500.0 * white)).collect();
            assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{white}");
            assert!((steps[500] - 1.0).abs() < 1e-9, "{white}");
        }
        assert_eq!(Shoulder { knee: 0.6, white: 1.0 }.at(0.9), 0.9);
        assert_eq!(Shoulder { knee: 0.6, white: 5.0 }.at(0.5), 0.5);
    }
}
