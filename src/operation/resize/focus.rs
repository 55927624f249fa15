//! Where to crop around faces.

use super::geometry::Placement;
use crate::{operation::face::Place, picture::Layout};

/// How far a head reaches beyond the square from brows to chin, in its sides: to the left and right, above, below.
const HEAD: (f64, f64, f64) = (0.3, 0.5, 0.3);

/// Moves the region of `placement` to the heads of `faces`, of which there is at least one: over the middle of all where they
/// fit, else over those that are most together.
pub(super) fn settle(placement: Placement, source: Layout, faces: &[Place]) -> Placement {
    let (width, height) = (f64::from(source.width), f64::from(source.height));
    let heads = |place: fn(&Place) -> (f64, f64), length: f64, (before, after): (f64, f64)| -> Vec<Head> {
        let head = |face: &Place| {
            let (middle, size) = place(face);
            let weight = face.size.0 * face.size.1;
            Head {
                from: (middle - size * (0.5 + before)) * length,
                to: (middle + size * (0.5 + after)) * length,
                weight,
            }
        };
        faces.iter().map(head).collect()
    };
    let across = heads(|face| (face.middle.0, face.size.0), width, (HEAD.0, HEAD.0));
    let down = heads(|face| (face.middle.1, face.size.1), height, (HEAD.1, HEAD.2));
    let left = window(&across, placement.region.width, width);
    let top = window(&down, placement.region.height, height);
    placement.beginning_at(left, top)
}

/// A head along one axis, in pixels.
#[derive(Debug, Clone, Copy)]
struct Head {
    from: f64,
    to: f64,
    /// What it counts: its area.
    weight: f64,
}

/// Where a window of `length` of a line of `whole` begins.
fn window(heads: &[Head], length: f64, whole: f64) -> f64 {
    let slack = (whole - length).max(0.0);
    let ends = heads.iter().flat_map(|head| [head.from, head.to - length, (head.from + head.to - length) / 2.0]);
    let seen = |at: f64, head: &Head| {
        let both = (head.to.min(at + length) - head.from.max(at)).max(0.0);
        both / (head.to - head.from).clamp(1e-9, length)
    };
    let worth = |at: f64| heads.iter().map(|head| head.weight * seen(at, head)).sum::<f64>();
    let mut best = (slack / 2.0, f64::MIN);
    for at in ends.map(|at| at.clamp(0.0, slack)) {
        let worth = worth(at);
        // A hair more is nothing: the first of equals stays, which is that of the largest face.
        if worth > best.1 * (1.0 + 1e-9) || best.1 == f64::MIN {
            best = (at, worth);
        }
    }
    // Over the middle of all that is wholly seen from there, which stays so.
    let whole = heads.iter().filter(|head| seen(best.0, head) > 1.0 - 1e-9);
    let (from, to) = whole.fold((f64::MAX, f64::MIN), |(from, to), head| (from.min(head.from), to.max(head.to)));
    if from > to { best.0 } else { ((from + to - length) / 2.0).clamp(0.0, slack) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(from: f64, to: f64) -> Head {
        Head { from, to, weight: (to - from) * (to - from) }
    }

    #[test]
    fn one_head_is_in_the_middle_unless_the_border_is_near() {
        assert_eq!(window(&[head(40.0, 60.0)], 30.0, 100.0), 35.0);
        assert_eq!(window(&[head(90.0, 98.0)], 30.0, 100.0), 70.0);
        assert_eq!(window(&[head(-6.0, 8.0)], 30.0, 100.0), 0.0);
    }

    #[test]
    fn heads_that_fit_together_are_all_seen() {
        let heads = [head(60.0, 80.0), head(20.0, 30.0), head(40.0, 50.0)];
        assert_eq!(window(&heads, 64.0, 100.0), 18.0);
    }

    #[test]
    fn of_heads_that_do_not_fit_the_weightier_group_is_seen() {
        let heads = [head(80.0, 95.0), head(5.0, 17.0), head(20.0, 32.0)];
        assert_eq!(window(&heads, 30.0, 100.0), 3.5);
        assert_eq!(window(&heads, 14.0, 100.0), 80.5);
    }
}
