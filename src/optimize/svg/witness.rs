//! What the sanitised document looks like, for everything made of it to be compared with.

use super::browser;
use crate::{
    codec::svg::{Drawing, Fonts},
    control::Run,
    error::Result,
    optimize::metric::Reference,
    picture::{Channels, Picture, Samples},
};

/// The longer sides at which documents are compared, in pixels.
const SIDES: [u32; 2] = [1024, 2048];
/// What documents that are not opaque are seen over.
const GROUNDS: &[u8] = &[0, 128, 255];

/// The original, drawn at both sizes.
#[derive(Debug)]
pub(super) struct Witness<'a> {
    text: &'a str,
    fonts: &'a Fonts,
    small: View,
    /// Drawn when they are first needed: the smaller size as browsers read it; the larger size, and that averaged down to the
    /// smaller one.
    browser: Option<View>,
    large: Option<[View; 2]>,
}

#[derive(Debug)]
struct View {
    reference: Reference,
    exact: Picture,
}

impl<'a> Witness<'a> {
    pub(super) fn new(text: &'a str, fonts: &'a Fonts, run: Run<'_>) -> Result<Self> {
        let small = View::new(&Drawing::new(text, fonts, run)?, SIDES[0], run)?;
        Ok(Self { text, fonts, small, browser: None, large: None })
    }

    /// The score at the smaller size.
    pub(super) fn small(&self, text: &str, run: Run<'_>) -> Result<f64> {
        self.small.score(&self.small.draw(&Drawing::new(text, self.fonts, run)?, SIDES[0], run)?, run)
    }

    /// The same as browsers read it.
    pub(super) fn in_browsers(&mut self, text: &str, run: Run<'_>) -> Result<f64> {
        let drawing = |text: &str| Drawing::new(&browser::read(text, run)?, self.fonts, run);
        let browser = match &self.browser {
            Some(browser) => browser,
            None => &*self.browser.insert(View::new(&drawing(self.text)?, SIDES[0], run)?),
        };
        browser.score(&browser.draw(&drawing(text)?, SIDES[0], run)?, run)
    }

    /// The score at the larger size, and that of it averaged down to the smaller one, which is not looked at if the first is
    /// below `target`. Takes four times as long.
    pub(super) fn large(&mut self, text: &str, target: f64, run: Run<'_>) -> Result<[f64; 2]> {
        let [large, smooth] = match &mut self.large {
            Some(large) => large,
            none => {
                let large = View::new(&Drawing::new(self.text, self.fonts, run)?, SIDES[1], run)?;
                let smooth = View::of(halved(&large.exact)?, run)?;
                none.insert([large, smooth])
            }
        };
        let picture = large.draw(&Drawing::new(text, self.fonts, run)?, SIDES[1], run)?;
        let score = large.score(&picture, run)?;
        if score < target {
            return Ok([score; 2]);
        }
        // Coverage of edges comes in steps here, and averaged in finer ones, as other renderers have them.
        Ok([score, smooth.score(&halved(&picture)?, run)?])
    }
}

impl View {
    fn new(drawing: &Drawing, side: u32, run: Run<'_>) -> Result<Self> {
        Self::of(drawing.draw_by_side(side, None, run)?, run)
    }

    fn of(exact: Picture, run: Run<'_>) -> Result<Self> {
        Ok(Self { reference: Reference::over(GROUNDS, &exact, run)?, exact })
    }

    fn draw(&self, drawing: &Drawing, side: u32, run: Run<'_>) -> Result<Picture> {
        let layout = self.exact.layout();
        drawing.draw_by_side(side, Some((layout.width, layout.height)), run)
    }

    fn score(&self, picture: &Picture, run: Run<'_>) -> Result<f64> {
        if *picture == self.exact { Ok(100.0) } else { self.reference.score(picture, run) }
    }
}

/// Every two by two pixels averaged, weighed by their alpha.
fn halved(picture: &Picture) -> Result<Picture> {
    let (width, height) = (picture.layout().width as usize, picture.layout().height as usize);
    let (w, h) = (width.div_ceil(2), height.div_ceil(2));
    let pixels = picture.eight().unwrap_or_default();
    let mut half = Vec::with_capacity(w * h * 4);
    for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (2 * y, 2 * x))) {
        let mut sum = [0u32; 4];
        for (y, x) in [(y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1)] {
            let at = (y.min(height - 1) * width + x.min(width - 1)) * 4;
            let alpha = u32::from(pixels[at + 3]);
            (0..3).for_each(|c| sum[c] += u32::from(pixels[at + c]) * alpha);
            sum[3] += alpha;
        }
        let weight = sum[3].max(1);
        half.extend([0, 1, 2].map(|c| ((sum[c] + weight / 2) / weight) as u8));
        half.push(((sum[3] + 2) / 4) as u8);
    }
    Picture::new(w as u32, h as u32, Channels::Rgba, Samples::Eight(half))
}
