//! Light and evenness of a face.

use super::Crop;
use crate::{
    control::Run,
    error::Result,
    operation::{
        field::{Field, gaussian},
        shoulder::Shoulder,
        stops::{exp2, log2},
    },
    picture::transfer,
};

/// The brightest tenth of a face is at least this bright, as a code of 0 to 1; darker ones lack light. Dark skin in good light
/// has brighter highlights than that.
const LIT: f64 = 0.4;
/// What share of the stops that are lacking is given.
const GIVEN: f64 = 0.6;
/// Stops given at most.
const STOPS: f64 = 1.5;

/// Gives an under-exposed face light: a gain of linear light, the same for all of it.
pub(super) fn lift(crop: &mut Crop) {
    let half = 0.4 * crop.side;
    let within = |at: f32, middle: f32| (at - middle).abs() <= half;
    let luma = |[r, g, b]: [f32; 3]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
    let mut codes: Vec<f32> = Vec::new();
    let rows = crop.pixels.chunks_exact(crop.width).enumerate();
    for (_, row) in rows.filter(|(y, _)| within(*y as f32, crop.middle.1)) {
        codes.extend(
            row.iter().enumerate().filter(|(x, _)| within(*x as f32, crop.middle.0)).map(|(_, &pixel)| luma(pixel)),
        );
    }
    if codes.is_empty() {
        return;
    }
    let at = codes.len() * 9 / 10;
    let top = f64::from(*codes.select_nth_unstable_by(at, f32::total_cmp).1).max(0.02);
    if top >= LIT {
        return;
    }
    let lacking = log2(transfer::decode(LIT)) - log2(transfer::decode(top));
    let gain = exp2((lacking * GIVEN).min(STOPS));
    let shoulder = Shoulder { knee: 0.5, white: gain };
    let table: Vec<f32> = (0..=1024)
        .map(|step| transfer::encode(shoulder.at(transfer::decode(f64::from(step) / 1024.0) * gain)) as f32)
        .collect();
    for value in crop.pixels.iter_mut().flatten() {
        let place = value.clamp(0.0, 1.0) * 1024.0;
        let index = (place as usize).min(1023);
        *value = table[index] + (table[index + 1] - table[index]) * (place - index as f32);
    }
}

/// Codes of chroma off the face's own beyond which there is no skin: lips, eyes, hair.
const SKIN: f32 = 16.0;

/// Takes a share of what is uneven in the colour of skin, larger than a pore and smaller than a cheek, out of the two planes of
/// chroma. Luma, and with it pores, is not touched.
pub(super) fn evened(chroma: [&Field; 2], face: &Crop, share: f32, run: Run<'_>) -> Result<[Field; 2]> {
    let small = chroma.map(|field| field.halved().halved());
    let [a, b] = [0, 1].map(|n| median(&small[n], face.middle, face.side));
    let off = |value: f32, own: f32| ((value - own) / SKIN).powi(2);
    let skin = small[0].with(&small[1], |first, second| (1.0 - off(first, a) - off(second, b)).max(0.0));
    let kernel = gaussian((face.side / 64.0).clamp(0.5, 24.0));
    let weight = skin.convolved(&kernel, run)?;
    let even = |n: usize| -> Result<Field> {
        let (field, small): (&Field, &Field) = (chroma[n], &small[n]);
        let sum = small.with(&skin, |value, skin| value * skin).convolved(&kernel, run)?;
        let mean = sum.with(&weight, |sum, weight| sum / weight.max(1e-3));
        let apart = mean.with(small, |mean, value| share * (mean - value)).with(&skin, |apart, skin| apart * skin);
        let apart = apart.doubled(field.width.div_ceil(2), field.height.div_ceil(2)).doubled(field.width, field.height);
        Ok(field.with(&apart, |value, apart| value + apart))
    };
    Ok([even(0)?, even(1)?])
}

/// Of a field of a quarter of the size, around the middle of a face.
fn median(small: &Field, middle: (f32, f32), side: f32) -> f32 {
    let span = |middle: f32, length: usize| {
        let from = ((middle - 0.3 * side) / 4.0).clamp(0.0, (length - 1) as f32) as usize;
        let to = ((middle + 0.3 * side) / 4.0).clamp(0.0, (length - 1) as f32) as usize;
        from..=to
    };
    let rows = span(middle.1, small.height);
    let mut values: Vec<f32> = rows.flat_map(|y| small.row(y)[span(middle.0, small.width)].iter().copied()).collect();
    let at = values.len() / 2;
    *values.select_nth_unstable_by(at, f32::total_cmp).1
}
