//! Where the pixels of a resized picture come from, as pure arithmetic.

use super::{Anchor, Fit, Gravity, Resize};
use crate::error::{Error, Result, Violation};

/// Part of the source, in source pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A `region` of the source, scaled to `scaled`, and put on a canvas with its left top corner `at`. Sizes are width and
/// height in pixels, all at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    pub(super) region: Region,
    pub(super) scaled: (u32, u32),
    pub(super) canvas: (u32, u32),
    pub(super) at: (u32, u32),
}

impl Placement {
    /// Places a source of `width` x `height` as `resize` asks. Gravities that look at the picture crop from the middle here,
    /// and move the region later.
    pub(super) fn new(resize: &Resize, width: u32, height: u32) -> Result<Self> {
        let source = (width, height);
        match resize.fit {
            Fit::Inside => {
                let scaled = inside(resize, source)?;
                Ok(Self::whole(source, scaled, scaled))
            }
            Fit::Stretch => {
                let (w, h) = both(resize)?;
                let scaled = if resize.enlarge { (w, h) } else { (w.min(width), h.min(height)) };
                Ok(Self::whole(source, scaled, scaled))
            }
            Fit::Pad => {
                let canvas = both(resize)?;
                Ok(Self::whole(source, inside(resize, source)?, canvas))
            }
            Fit::Cover => Ok(cover(both(resize)?, source, resize)),
        }
    }

    fn whole((width, height): (u32, u32), scaled: (u32, u32), canvas: (u32, u32)) -> Self {
        let region = Region { left: 0.0, top: 0.0, width: width.into(), height: height.into() };
        let at = ((canvas.0 - scaled.0) / 2, (canvas.1 - scaled.1) / 2);
        Self { region, scaled, canvas, at }
    }

    /// Whether every result pixel is a source pixel, as it is.
    pub(super) fn is_unscaled(&self) -> bool {
        let same = |side: f64, scaled: u32| side.total_cmp(&f64::from(scaled)).is_eq();
        same(self.region.width, self.scaled.0) && same(self.region.height, self.scaled.1)
    }

    /// Whether the canvas is larger than what is put on it.
    pub(super) fn is_padded(&self) -> bool {
        self.canvas != self.scaled
    }

    /// Moves the region so that it begins at `left`, `top`; to whole pixels where nothing is scaled, which would
    /// otherwise blur.
    pub(super) fn beginning_at(self, left: f64, top: f64) -> Self {
        let (left, top) = if self.is_unscaled() { (left.floor(), top.floor()) } else { (left, top) };
        Self { region: Region { left, top, ..self.region }, ..self }
    }

    /// Width and height that the whole source would have at this scale, rounded up.
    pub(super) fn scaled_source(&self, width: u32, height: u32) -> (u32, u32) {
        let side =
            |scaled: u32, source: u32, region: f64| (f64::from(scaled) * f64::from(source) / region).ceil() as u32;
        (side(self.scaled.0, width, self.region.width), side(self.scaled.1, height, self.region.height))
    }
}

/// The size inside the box that keeps the aspect: one side is the box's, the other is rounded to the nearest.
fn inside(resize: &Resize, (width, height): (u32, u32)) -> Result<(u32, u32)> {
    let follow = |side: u32, along: u32, across: u32| {
        let rounded = (2 * u128::from(side) * u128::from(across) + u128::from(along)) / (2 * u128::from(along));
        u32::try_from(rounded).unwrap_or(u32::MAX).max(1)
    };
    let (w, h) = match (side(resize.width)?, side(resize.height)?) {
        (Some(w), Some(h)) if u64::from(w) * u64::from(height) <= u64::from(h) * u64::from(width) => {
            (w, follow(w, width, height).min(h))
        }
        (Some(w), Some(h)) => (follow(h, height, width).min(w), h),
        (Some(w), None) => (w, follow(w, width, height)),
        (None, Some(h)) => (follow(h, height, width), h),
        (None, None) => return Err(wrong("resize", "needs a width, a height or both")),
    };
    let enlarges = w > width || h > height;
    Ok(if enlarges && !resize.enlarge { (width, height) } else { (w, h) })
}

/// Without enlarging, a box that the source cannot cover is filled as far as the source reaches.
fn cover((w, h): (u32, u32), (width, height): (u32, u32), resize: &Resize) -> Placement {
    let (sw, sh) = (f64::from(width), f64::from(height));
    let (canvas, size) = if !resize.enlarge && (w > width || h > height) {
        let canvas = (w.min(width), h.min(height));
        (canvas, (f64::from(canvas.0), f64::from(canvas.1)))
    } else if u64::from(w) * u64::from(height) >= u64::from(h) * u64::from(width) {
        ((w, h), (sw, (f64::from(h) * sw / f64::from(w)).min(sh)))
    } else {
        ((w, h), ((f64::from(w) * sh / f64::from(h)).min(sw), sh))
    };
    let place = |anchor, slack: f64| match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => slack / 2.0,
        Anchor::End => slack,
    };
    let (across, down) = match resize.gravity {
        Gravity::Fixed(across, down) => (across, down),
        Gravity::Smart | Gravity::Face | Gravity::Faces => (Anchor::Middle, Anchor::Middle),
    };
    let region = Region { left: 0.0, top: 0.0, width: size.0, height: size.1 };
    Placement { region, scaled: canvas, canvas, at: (0, 0) }
        .beginning_at(place(across, sw - size.0), place(down, sh - size.1))
}

fn both(resize: &Resize) -> Result<(u32, u32)> {
    match (side(resize.width)?, side(resize.height)?) {
        (Some(w), Some(h)) => Ok((w, h)),
        (None, _) => Err(wrong("resize.width", "is required by this mode")),
        (_, None) => Err(wrong("resize.height", "is required by this mode")),
    }
}

fn side(side: Option<u32>) -> Result<Option<u32>> {
    if side == Some(0) { Err(wrong("resize", "needs sides of at least 1 pixel")) } else { Ok(side) }
}

fn wrong(path: &str, allowed: &str) -> Error {
    Error::Request { violations: vec![Violation { path: path.into(), value: None, allowed: allowed.into() }] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resize(fit: Fit, width: Option<u32>, height: Option<u32>, enlarge: bool) -> Resize {
        Resize {
            width,
            height,
            fit,
            gravity: Gravity::Fixed(Anchor::Middle, Anchor::Middle),
            enlarge,
            background: [0; 4],
        }
    }

    fn canvas(fit: Fit, width: u32, height: u32, enlarge: bool, source: (u32, u32)) -> (u32, u32) {
        Placement::new(&resize(fit, Some(width), Some(height), enlarge), source.0, source.1).unwrap().canvas
    }

    #[test]
    fn the_side_that_is_not_given_follows_rounded_and_never_vanishes() {
        let of = |w, h, source: (u32, u32)| {
            Placement::new(&resize(Fit::Inside, w, h, true), source.0, source.1).unwrap().scaled
        };
        assert_eq!(of(Some(100), None, (300, 200)), (100, 67));
        assert_eq!(of(None, Some(100), (300, 200)), (150, 100));
        assert_eq!(of(Some(1), None, (10_000, 10)), (1, 1));
        assert_eq!(of(Some(u32::MAX), None, (1, u32::MAX)), (u32::MAX, u32::MAX));
        assert!(Placement::new(&resize(Fit::Inside, None, None, true), 3, 3).is_err());
        assert!(Placement::new(&resize(Fit::Inside, Some(0), None, true), 3, 3).is_err());
    }

    #[test]
    fn inside_fills_the_box_on_one_side() {
        assert_eq!(canvas(Fit::Inside, 100, 100, true, (300, 200)), (100, 67));
        assert_eq!(canvas(Fit::Inside, 100, 100, true, (20, 30)), (67, 100));
        assert_eq!(canvas(Fit::Inside, 100, 100, false, (20, 30)), (20, 30));
        assert_eq!(canvas(Fit::Inside, 15, 100, false, (20, 30)), (15, 23));
    }

    #[test]
    fn without_enlarging_no_side_of_the_picture_grows() {
        assert_eq!(canvas(Fit::Cover, 150, 150, false, (200, 100)), (150, 100));
        assert_eq!(canvas(Fit::Cover, 300, 50, false, (200, 100)), (200, 50));
        assert_eq!(canvas(Fit::Cover, 300, 300, false, (200, 100)), (200, 100));
        assert_eq!(canvas(Fit::Cover, 50, 50, false, (200, 100)), (50, 50));
        assert_eq!(canvas(Fit::Stretch, 300, 50, false, (200, 100)), (200, 50));
        let padded = Placement::new(&resize(Fit::Pad, Some(300), Some(300), false), 200, 100).unwrap();
        assert_eq!((padded.canvas, padded.scaled, padded.at), ((300, 300), (200, 100), (50, 100)));
    }

    #[test]
    fn cover_crops_only_the_excess_side_and_by_gravity() {
        let mut asked = resize(Fit::Cover, Some(50), Some(50), true);
        let region = |asked: &Resize| Placement::new(asked, 300, 200).unwrap().region;
        assert_eq!(region(&asked), Region { left: 50.0, top: 0.0, width: 200.0, height: 200.0 });
        asked.gravity = Gravity::Fixed(Anchor::End, Anchor::Start);
        assert_eq!(region(&asked), Region { left: 100.0, top: 0.0, width: 200.0, height: 200.0 });
    }

    #[test]
    fn a_crop_without_scaling_begins_at_a_whole_pixel() {
        let placement = Placement::new(&resize(Fit::Cover, Some(100), Some(50), true), 201, 50).unwrap();
        assert!(placement.is_unscaled());
        assert_eq!(placement.region.left, 50.0);
    }

    #[test]
    fn modes_that_need_both_sides_name_the_missing_one() {
        for fit in [Fit::Cover, Fit::Stretch, Fit::Pad] {
            let error = Placement::new(&resize(fit, Some(5), None, true), 9, 9).unwrap_err();
            assert_eq!(error.to_string(), "resize.height is required by this mode");
        }
    }

    #[test]
    fn every_placement_stays_inside_its_source_and_its_canvas() {
        let sides = [1u32, 2, 3, 7, 64, 99, 1000, 16_383];
        for fit in [Fit::Inside, Fit::Cover, Fit::Stretch, Fit::Pad] {
            for (&sw, &sh) in sides.iter().flat_map(|a| sides.iter().map(move |b| (a, b))) {
                for (&w, &h) in sides.iter().flat_map(|a| sides.iter().map(move |b| (a, b))) {
                    for enlarge in [false, true] {
                        let p = Placement::new(&resize(fit, Some(w), Some(h), enlarge), sw, sh).unwrap();
                        let r = p.region;
                        assert!(r.left >= 0.0 && r.left + r.width <= f64::from(sw) + 1e-9, "{p:?}");
                        assert!(r.top >= 0.0 && r.top + r.height <= f64::from(sh) + 1e-9, "{p:?}");
                        assert!(p.at.0 + p.scaled.0 <= p.canvas.0 && p.at.1 + p.scaled.1 <= p.canvas.1, "{p:?}");
                        assert!(p.scaled.0 >= 1 && p.scaled.1 >= 1);
                        assert!(enlarge || (p.scaled.0 <= sw && p.scaled.1 <= sh), "{p:?}");
                        assert!(p.canvas.0 <= w && p.canvas.1 <= h);
                    }
                }
            }
        }
    }
}
