//! Faces made clearer, by measurement and classical filters.

mod by_model;
mod cosine;
mod denoise;
mod lattice;
mod measure;
mod sharpen;
mod skin;

use std::{fmt::Debug, panic, sync::Arc, thread};

pub use by_model::RestoreByModel;
use cosine::Block;
use sharpen::Care;

use crate::{
    control::Run,
    error::Result,
    operation::{
        Model,
        blocks::blocks,
        field::{Field, gaussian, slope},
    },
};

/// A face and what is around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Crop {
    /// Pixels from left to right, at least 1.
    pub width: usize,
    /// Pixels from top to bottom, at least 1.
    pub height: usize,
    /// Red, green and blue codes of sRGB, 0 to 1, row by row.
    pub pixels: Vec<[f32; 3]>,
    /// The middle of the face, in pixels of the crop.
    pub middle: (f32, f32),
    /// The side of the square from brows to chin, in pixels.
    pub side: f32,
}

impl Crop {
    /// Goes a `share` of the way to another of its size.
    fn mix(&mut self, other: &Self, share: f32) {
        for (pixel, other) in self.pixels.iter_mut().flatten().zip(other.pixels.iter().flatten()) {
            *pixel += (other - *pixel) * share;
        }
    }
}

/// Makes a face clearer: what a host may put a trained model of its own behind.
///
/// What comes back is laid over the face by a soft mask, as strongly as the request asks.
pub trait Restore: Debug + Send + Sync {
    /// The crop, of the same size, with a clearer face. Nothing outside of it is seen, and nothing kept from crop to crop.
    ///
    /// # Errors
    /// As of [`Operation`](crate::operation::Operation).
    fn restore(&self, crop: Crop, run: Run<'_>) -> Result<Crop>;
}

/// The restoration of this crate: measures noise, blocks of JPEG and blur, and takes back as much of each as there is; gives
/// light to a face that lacks it, and evens the colour of skin.
#[derive(Debug, Clone, Default)]
pub struct Classic {
    /// Takes noise and blocks out, where there are any; `None` leaves them to the filter of this crate. Of scale 1.
    pub denoise: Option<Arc<dyn Model>>,
    /// Takes noise out where there are no blocks; `None` leaves that to `denoise`. Of scale 1.
    pub grain: Option<Arc<dyn Model>>,
    /// Takes out blur, and noise or what JPEG has made of it, at once where they are together; `None` leaves them to one filter
    /// after another. Of scale 1.
    pub restore: Option<Arc<dyn Model>>,
}

/// Sides of faces, in pixels, between which all of this comes in: in smaller ones features are as fine as noise is.
const SMALL: (f32, f32) = (32.0, 56.0);

/// The luminance table of JPEG (ITU-T T.81, K.1), turned as our frequencies are: what noise of blocks is like.
const QUANTA: Block = [
    [16.0, 12.0, 14.0, 14.0, 18.0, 24.0, 49.0, 72.0],
    [11.0, 12.0, 13.0, 17.0, 22.0, 35.0, 64.0, 92.0],
    [10.0, 14.0, 16.0, 22.0, 37.0, 55.0, 78.0, 95.0],
    [16.0, 19.0, 24.0, 29.0, 56.0, 64.0, 87.0, 98.0],
    [24.0, 26.0, 40.0, 51.0, 68.0, 81.0, 103.0, 112.0],
    [40.0, 58.0, 57.0, 87.0, 109.0, 104.0, 121.0, 100.0],
    [51.0, 60.0, 69.0, 80.0, 103.0, 113.0, 120.0, 103.0],
    [61.0, 55.0, 56.0, 62.0, 77.0, 92.0, 101.0, 99.0],
];
/// What blocks of a code are worth of it; below so many codes there are none; more than so much is never taken.
const BLOCKS: (f32, f32, f32) = (0.09, 0.3, 0.25);
/// Below these codes there is skin and no noise: luma, luma that JPEG has smoothed, chroma.
const FLOORS: [f32; 3] = [2.4, 1.6, 0.8];
/// How much stronger noise is than it seems where JPEG has taken the weaker half of it.
const CODED: f32 = 1.2;
/// Where our own filter comes in for a network, in codes of noise.
const NOISY: (f32, f32) = (1.0, 2.0);
/// Where one network comes in for all: pixels of blur, and by how many it is smoothed to be measured; blocks of JPEG, or codes of
/// noise, and below which there is skin that was blurred.
const SOFT: (f32, f32) = (0.45, 0.7);
const SMOOTHED: f32 = 1.0;
const SOFT_BLOCKS: (f32, f32) = (0.02, 0.05);
const SOFT_NOISE: (f32, f32) = (0.5, 1.5);
const SOFT_FLOOR: f32 = 1.0;
/// How far around a pixel of half the size luma and chroma are compared, as a standard deviation; and below which variance of
/// luma, in codes, it says nothing.
const AROUND: f32 = 2.0;
const FAINT: f32 = 4.0;
/// Slopes of edges, in codes over two pixels.
const EDGES: f32 = 12.0;

impl Restore for Classic {
    fn restore(&self, crop: Crop, run: Run<'_>) -> Result<Crop> {
        let trust = slope(crop.side, SMALL);
        if trust == 0.0 {
            return Ok(crop);
        }
        let (seen, before) = (split(&crop), crop.clone());
        let luma = seen[0].clone();
        let damage = Damage::of(&seen[0], run)?;
        let share = if self.restore.is_some() { damage.soft(&seen[0], run)? } else { 0.0 };
        let whole = self.restore.as_deref().filter(|_| share > 0.0);
        let whole = whole.map(|model| by_model::cleaned(model, crop.clone(), run)).transpose()?;
        let mut clear = match whole {
            Some(whole) if share == 1.0 => whole,
            None => self.filtered(crop, seen, &damage, run)?,
            Some(whole) => {
                let mut clear = self.filtered(crop, seen, &damage, run)?;
                clear.mix(&whole, share);
                clear
            }
        };
        let lattice = lattice::share(&luma, &split(&clear)[0]);
        let left = lattice.max(1.0 - trust);
        if left > 0.0 {
            clear.mix(&before, left);
        }
        skin::lift(&mut clear);
        Ok(clear)
    }
}

impl Classic {
    /// One filter after another.
    fn filtered(&self, mut crop: Crop, seen: [Field; 3], damage: &Damage, run: Run<'_>) -> Result<Crop> {
        let share = damage.share();
        let denoise = self.denoise.as_deref().filter(|_| share > 0.0);
        let [luma, blue, red] = match self.grain.as_deref().filter(|_| share > 0.0).or(denoise) {
            Some(model) if damage.blocks == 0.0 => {
                let clean = split(&by_model::cleaned(model, crop.clone(), run)?);
                [0, 1, 2].map(|n: usize| seen[n].with(&clean[n], |seen, clean| seen + (clean - seen) * share))
            }
            _ => cleaned(seen, denoise, damage, run)?,
        };
        let blur = measure::blur(&luma, EDGES, run)?;
        let luma = sharpen::sharpened(&luma, blur, &damage.care(), run)?;
        let [blue, red] = skin::evened([&blue, &red], &crop, damage.evened(), run)?;
        join(&mut crop, &luma, &blue, &red);
        Ok(crop)
    }
}

/// Without noise and blocks: luma by a network, if there is one, where there were blocks alone, and by our own filter as far as
/// there was noise before them, as networks leave what JPEG has made of that. Chroma is cleaned at half the size, where JPEG
/// mostly has it, by a network if there is one.
fn cleaned(seen: [Field; 3], model: Option<&dyn Model>, damage: &Damage, run: Run<'_>) -> Result<[Field; 3]> {
    let by_model = model.filter(|_| damage.blocks > 0.0 && damage.deviation < NOISY.1);
    let noisy = by_model.map_or(1.0, |_| slope(damage.deviation, NOISY));
    let (luma, clean) = thread::scope(|scope| -> Result<_> {
        let luma = || match noisy {
            0.0 => Ok(seen[0].clone()),
            _ => denoise::luma(&seen[0], &damage.sizes(), damage.blocks > 0.0, run),
        };
        let another = (run.limits.threads > 1).then(thread::Builder::new);
        let beside = another.and_then(|thread| thread.spawn_scoped(scope, luma).ok());
        let clean = clean_chroma(&seen, model, run)?;
        let luma = beside.map_or_else(luma, |luma| luma.join().unwrap_or_else(|why| panic::resume_unwind(why)))?;
        Ok((luma, clean))
    })?;
    let share = if model.is_some() { damage.share() } else { 1.0 };
    let luma = match by_model {
        Some(model) => {
            let [by_model, ..] = split(&by_model::cleaned(model, together(&seen), run)?);
            let by_model = seen[0].with(&by_model, |seen, clean| seen + (clean - seen) * share);
            luma.with(&by_model, |own, by_model| by_model + (own - by_model) * noisy)
        }
        None => luma,
    };
    let guide = if clean.iter().any(Option::is_some) { Some(Guide::of(&luma, run)?) } else { None };
    let [_, mut blue, mut red] = seen;
    for (plane, half) in [&mut blue, &mut red].into_iter().zip(clean) {
        if let (Some(half), Some(guide)) = (half, &guide) {
            *plane = plane.with(&guide.along(&half, run)?, |seen, clean| seen + (clean - seen) * share);
        }
    }
    Ok([luma, blue, red])
}

/// Both planes of chroma without noise, at half the size; `None` for one that has none.
fn clean_chroma(seen: &[Field; 3], model: Option<&dyn Model>, run: Run<'_>) -> Result<[Option<Field>; 2]> {
    let Some(model) = model else { return Ok([chroma(&seen[1], run)?, chroma(&seen[2], run)?]) };
    let [_, blue, red] = split(&by_model::cleaned(model, together(&seen.each_ref().map(Field::halved)), run)?);
    Ok([Some(blue), Some(red)])
}

/// Luma and chroma as a picture.
fn together([luma, blue, red]: &[Field; 3]) -> Crop {
    let (width, height) = (luma.width, luma.height);
    let mut whole = Crop { width, height, pixels: vec![[0.0; 3]; width * height], middle: (0.0, 0.0), side: 0.0 };
    join(&mut whole, luma, blue, red);
    whole
}

/// Luma as chroma is enlarged along it.
struct Guide {
    /// Its half, the mean around each place and the variance.
    half: Field,
    mean: Field,
    variance: Field,
    /// What the half lacks.
    detail: Field,
}

impl Guide {
    fn of(luma: &Field, run: Run<'_>) -> Result<Self> {
        let half = luma.halved();
        let mean = around(&half, run)?;
        let variance = around(&product(&half, &half), run)?.with(&product(&mean, &mean), |a, b| (a - b).max(0.0));
        let detail = luma.with(&half.doubled(luma.width, luma.height), |luma, coarse| luma - coarse);
        Ok(Self { half, mean, variance, detail })
    }

    /// Chroma of twice the size, whose detail is that of luma as far as they go together around there: what the guided filter of
    /// K. He, J. Sun and X. Tang (ECCV 2010) says of the two at half the size.
    fn along(&self, chroma: &Field, run: Run<'_>) -> Result<Field> {
        let means = product(&self.mean, &around(chroma, run)?);
        let covariance = around(&product(&self.half, chroma), run)?.with(&means, |a, b| a - b);
        let slope = covariance.with(&self.variance, |covariance, variance| covariance / (variance + FAINT));
        let (width, height) = (self.detail.width, self.detail.height);
        let added = product(&slope.doubled(width, height), &self.detail);
        Ok(chroma.doubled(width, height).with(&added, |chroma, added| chroma + added))
    }
}

fn around(field: &Field, run: Run<'_>) -> Result<Field> {
    field.convolved(&gaussian(AROUND), run)
}

fn product(one: &Field, other: &Field) -> Field {
    one.with(other, |a, b| a * b)
}

/// What was done to luma before it came here.
struct Damage {
    /// What seems to be noise, some of which may be skin.
    seen: Block,
    /// Standard deviation by frequency, in codes.
    noise: Block,
    /// Its mean.
    deviation: f32,
    /// Blocks of JPEG, as a share of its table; 0 without.
    blocks: f32,
}

impl Damage {
    fn of(luma: &Field, run: Run<'_>) -> Result<Self> {
        let blocks = blocks(luma, run)?;
        let coded = blocks > BLOCKS.1;
        let seen = measure::noise(luma, run)?;
        let noise = measure::judged(seen, FLOORS[usize::from(coded)])
            .map(|row| row.map(|value| if coded { CODED * value } else { value }));
        let blocks = if coded { (blocks * BLOCKS.0).min(BLOCKS.2) } else { 0.0 };
        Ok(Self { seen, deviation: deviation(&noise), noise, blocks })
    }

    /// Noise of the finest size and of the next, where it is half as strong; nothing for what has none.
    fn sizes(&self) -> Vec<Block> {
        if self.deviation + self.blocks == 0.0 {
            return Vec::new();
        }
        let mut both = vec![[[0.0; 8]; 8]; 2];
        for (v, u) in (0..64).map(|n| (n / 8, n % 8)) {
            let block = self.blocks * QUANTA[v][u];
            both[0][v][u] = (self.noise[v][u] * self.noise[v][u] + block * block).sqrt();
            both[1][v][u] = 0.5 * (self.noise[v / 2][u / 2] + self.blocks * QUANTA[0][0]);
        }
        both
    }

    /// Of what a network takes away: noise and blocks come in by degrees.
    fn share(&self) -> f32 {
        (self.deviation / 3.0 + self.blocks * 8.0).min(1.0)
    }

    /// How surely there was blur before noise or JPEG: what one network takes back better than filters do, one after another.
    /// It comes in by degrees.
    fn soft(&self, luma: &Field, run: Run<'_>) -> Result<f32> {
        // Smoothed first, since noise has steep edges.
        let blur = measure::blur(&luma.convolved(&gaussian(SMOOTHED), run)?, EDGES, run)?;
        let soft = slope((blur * blur - SMOOTHED * SMOOTHED).max(0.0).sqrt(), SOFT);
        let coded = slope(self.blocks, SOFT_BLOCKS);
        if soft == 0.0 || coded == 1.0 {
            return Ok(soft);
        }
        // Blurred skin has little of what noise is told from.
        let noise = deviation(&measure::judged(self.seen, SOFT_FLOOR));
        Ok(soft * slope(noise, SOFT_NOISE).max(coded))
    }

    /// How carefully blur is taken back.
    fn care(&self) -> Care {
        if self.deviation < 1.0 && self.blocks == 0.0 {
            Care { least: 0.45, rounds: 8, grain: 0.5 + 0.1 * self.deviation }
        } else {
            Care { least: 0.7, rounds: 3, grain: 0.5 + 0.1 * self.deviation + 4.0 * self.blocks }
        }
    }

    /// What share of the blotches of skin goes: they come with noise and blocks.
    fn evened(&self) -> f32 {
        0.06 + 0.34 * (self.deviation / 4.0 + self.blocks * 8.0).min(1.0)
    }
}

fn deviation(noise: &Block) -> f32 {
    (noise.iter().flatten().map(|deviation| deviation * deviation).sum::<f32>() / 64.0).sqrt()
}

/// Half the size of a plane of chroma without noise, by our own filter; `None` if there is no noise.
fn chroma(field: &Field, run: Run<'_>) -> Result<Option<Field>> {
    let noise = measure::judged(measure::noise(field, run)?, FLOORS[2]);
    if deviation(&noise) == 0.0 {
        return Ok(None);
    }
    let mut finest = [[0.0; 8]; 8];
    for (n, value) in finest.iter_mut().flatten().enumerate() {
        *value = 0.5 * noise[n / 16][n % 8 / 2];
    }
    let coarser = finest.map(|row| row.map(|value| value / 2.0));
    denoise::chroma(&field.halved(), &[finest, coarser], run).map(Some)
}

/// Luma and the two differences of colour of ITU-R BT.601, in codes of 0 to 255.
fn split(crop: &Crop) -> [Field; 3] {
    let mut fields = [0; 3].map(|_| Field::new(crop.width, crop.height));
    for (n, &[r, g, b]) in crop.pixels.iter().enumerate() {
        let luma = 0.299 * r + 0.587 * g + 0.114 * b;
        for (field, value) in fields.iter_mut().zip([luma, 0.564 * (b - luma), 0.713 * (r - luma)]) {
            field.values[n] = 255.0 * value;
        }
    }
    fields
}

fn join(crop: &mut Crop, luma: &Field, blue: &Field, red: &Field) {
    let planes = luma.values.iter().zip(&blue.values).zip(&red.values);
    for (pixel, ((&luma, &blue), &red)) in crop.pixels.iter_mut().zip(planes) {
        let (r, b) = (luma + red / 0.713, luma + blue / 0.564);
        let g = (luma - 0.299 * r - 0.114 * b) / 0.587;
        *pixel = [r, g, b].map(|code| (code / 255.0).clamp(0.0, 1.0));
    }
}
