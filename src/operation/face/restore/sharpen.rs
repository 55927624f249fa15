//! Blur taken back.

use crate::{
    control::Run,
    error::Result,
    operation::field::{Field, gaussian},
};

/// The largest blur that is taken back, in pixels: beyond it there is nothing left to find.
const LARGEST: f32 = 1.8;
/// Of the blur, how much detail is smoothed again.
const FINEST: f32 = 0.5;
/// How carefully blur is taken back.
pub(super) struct Care {
    /// Less blur than this, in pixels, is none.
    pub(super) least: f32,
    /// How often the guess is corrected.
    pub(super) rounds: usize,
    /// Detail of about so many codes is taken for what noise and blocks have left.
    pub(super) grain: f32,
}

/// The field as it would be without a normal blur of `blur` pixels, by P. H. van Cittert's correction (*Zum Einfluss der
/// Spaltbreite auf die Intensitätsverteilung in Spektrallinien*, Zeitschrift für Physik 69, 1931): what blurring takes from the
/// guess is given back to it. Of that, what is finer than the blur could leave or as small as grain is left out, so that neither
/// noise nor blocks get stronger.
pub(super) fn sharpened(field: &Field, blur: f32, care: &Care, run: Run<'_>) -> Result<Field> {
    if blur < care.least {
        return Ok(field.clone());
    }
    let kernel = gaussian(blur.min(LARGEST));
    let mut guess = field.clone();
    for _ in 0..care.rounds {
        let blurred = guess.convolved(&kernel, run)?;
        for ((guess, seen), blurred) in guess.values.iter_mut().zip(&field.values).zip(&blurred.values) {
            *guess += seen - blurred;
        }
    }
    // Comes in by degrees.
    let share = ((blur - care.least) / care.least).min(1.0);
    let grain = care.grain * care.grain;
    // What the blur has left nothing of comes back as a mesh, made of roundings.
    let detail =
        guess.with(field, |after, before| after - before).convolved(&gaussian(FINEST * blur.min(LARGEST)), run)?;
    Ok(field.with(&detail, |before, detail| before + share * detail * (detail * detail / (detail * detail + grain))))
}
