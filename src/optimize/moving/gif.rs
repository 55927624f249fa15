//! GIF: small errors that spare bits, as many as the target allows.

use super::{
    LEAST_FRAME, Moving, Scores, Viewed,
    clip::Clip,
    quantised::{Quantised, has_many_colours},
    viewed::compare,
};
use crate::{
    codec::{DecodeOptions, EncodeOptions, GifOptions},
    control::{Run, Stage},
    error::Result,
    format::Format,
    optimize::{
        Goal, Optimised,
        search::{Aim, Trial, solve},
        shortfall,
    },
    picture::Frames,
};

/// The coarsest loss, and the steps to an octave less of it. The knob that is solved for counts steps from there.
const COARSEST: f32 = 512.0;
const STEPS: [f32; 4] = [1.0, 0.840_896_4, 0.707_106_77, 0.594_603_54];
const FINEST: f64 = 44.0;
/// The score gained by a step, in the median.
const SLOPE: f64 = 2.2;
/// The step that scores 80 in the median.
const FIRST: f64 = 22.0;
/// The step with which `ultra` scores about 50 in the median.
const ULTRA: f64 = 11.0;
/// How far above the target a search ends.
const SLACK: f64 = 1.0;
/// Whole files that are written at most.
const ROUNDS: usize = 4;
/// Bytes of a lossy result that is coded again without loss.
const MOST_SQUEEZED: usize = 1 << 16;
/// Frames of a clip that are compared.
const COMPARED: u32 = 12;

pub(super) fn optimise(frames: &mut dyn Frames, task: &Moving<'_>, run: Run<'_>) -> Result<Optimised> {
    let as_stored = task.stored.is_some();
    let many = !as_stored && has_many_colours(frames, run)?;
    let writer = Writer { task, run, many };
    match task.goal {
        Goal::Lossless | Goal::Quality(100) => writer.finished(frames, 0.0),
        Goal::Quality(quality) => writer.finished(frames, loss(f64::from(quality) * FINEST / 100.0)),
        Goal::Smart(preset) => match preset.target() {
            Some(target) => writer.search(frames, target),
            None => writer.finished(frames, loss(ULTRA)),
        },
    }
}

/// The loss of so many steps from the coarsest; none at the finest.
fn loss(knob: f64) -> f32 {
    let steps = knob.clamp(0.0, FINEST).round() as usize;
    if steps as f64 >= FINEST {
        return 0.0;
    }
    COARSEST * STEPS[steps % STEPS.len()] / (1u32 << (steps / STEPS.len())) as f32
}

struct Writer<'a> {
    task: &'a Moving<'a>,
    run: Run<'a>,
    /// Frames have more colours than a table.
    many: bool,
}

impl Writer<'_> {
    /// The smallest file that reaches `target` in the mean and in every frame about so.
    fn search(&self, frames: &mut dyn Frames, target: f64) -> Result<Optimised> {
        let mut knob = self.outlook(frames, target)?;
        self.run.control.stage(Stage::Encode, 0.6);
        let mut best: Option<(Vec<u8>, Scores)> = None;
        let (mut low, mut high) = (-1.0, FINEST);
        for _ in 0..ROUNDS {
            let file = self.written(frames, loss(knob))?;
            let scores = self.scores(frames, &file)?;
            let surplus = (scores.mean - target).min(scores.least - (target - LEAST_FRAME));
            if surplus >= 0.0 {
                (high, best) = (knob, Some((file, scores)));
            } else {
                low = knob;
            }
            if (0.0..=SLACK + SLOPE).contains(&surplus) || high - low <= 1.0 {
                break;
            }
            let steps = (-(surplus - SLACK / 2.0) / SLOPE).round();
            let steps = if surplus < 0.0 { steps.max(1.0) } else { steps.min(-1.0) };
            knob = (knob + steps).clamp(low + 1.0, high - if best.is_some() { 1.0 } else { 0.0 });
        }
        match best {
            Some((file, scores)) => self.squeezed(file, scores.mean),
            None => {
                let found = self.finished(frames, 0.0)?;
                Ok(Optimised { warnings: shortfall(found.score, target).into_iter().collect(), ..found })
            }
        }
    }

    /// The knob with which a clip of the frames reaches `target`.
    fn outlook(&self, frames: &mut dyn Frames, target: f64) -> Result<f64> {
        let mut clip = Clip::new(frames, self.task.count);
        let count = clip.count();
        let viewed = Viewed::new(&mut clip, count, COMPARED, self.run)?;
        let first = FIRST + (target - 80.0) / SLOPE;
        let aim = Aim { target, slack: SLACK, low: 0.0, high: FINEST, first, slope: SLOPE, step: 1.0, trials: 4 };
        let found = solve(aim, |knob| {
            let file = self.written(&mut clip, loss(knob))?;
            let scores = viewed.score(&mut *self.decoded(&file)?, self.run)?;
            let score = scores.mean.min(scores.least + LEAST_FRAME);
            Ok(Trial { knob: knob.round(), score, file: () })
        })?;
        Ok(found.knob)
    }

    fn written(&self, frames: &mut dyn Frames, loss: f32) -> Result<Vec<u8>> {
        let options = EncodeOptions::Gif(GifOptions { loss });
        match self.many {
            true => {
                let mut frames = Quantised::new(frames);
                frames.restart()?;
                self.task.codecs.encode(&mut frames, &options, self.run)
            }
            false => {
                frames.restart()?;
                self.task.codecs.encode(frames, &options, self.run)
            }
        }
    }

    fn decoded<'b>(&'b self, file: &'b [u8]) -> Result<Box<dyn Frames + 'b>> {
        self.task.codecs.frames(Format::Gif, file, &DecodeOptions::default(), self.run)
    }

    fn scores(&self, frames: &mut dyn Frames, file: &[u8]) -> Result<Scores> {
        compare(frames, &mut *self.decoded(file)?, self.run)
    }

    /// The whole with a loss that is not searched.
    fn finished(&self, frames: &mut dyn Frames, loss: f32) -> Result<Optimised> {
        let bytes = self.written(frames, loss)?;
        let score = if loss > 0.0 || self.many { self.scores(frames, &bytes)?.mean } else { 100.0 };
        let many = self.many && loss <= 0.0;
        let warning = many.then(|| "a GIF frame holds 256 colours, and there were more".to_owned());
        Ok(Optimised { bytes, score, warnings: warning.into_iter().collect() })
    }
    /// The same frames in fewer bytes, if there are some. Larger files that were coded with loss have none to spare.
    fn squeezed(&self, file: Vec<u8>, score: f64) -> Result<Optimised> {
        let mut bytes = file;
        if bytes.len() <= MOST_SQUEEZED {
            let smaller = self.task.codecs.recompress(Format::Gif, &bytes, false, self.run)?;
            bytes = if smaller.len() < bytes.len() { smaller } else { bytes };
        }
        Ok(Optimised { bytes, score, warnings: Vec::new() })
    }
}
