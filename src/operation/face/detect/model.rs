//! The trained numbers of the funnel, read from the file that SeetaFace ships them in.
//!
//! Little-endian 32-bit words: the number of levels of the funnel; of each level its number of models; of each model its
//! number of stages, the stages, and the models of the level before whose windows it takes. A stage is of kind 0 (boosted
//! features: places, thresholds, tables of votes) or 1 (a perceptron over features, layer by layer).

use super::{
    boosted::{BINS, Boosted, GROUP},
    perceptron::{CELL_VALUES, Layer, PATCHES, Perceptron},
};

/// The funnel: boosted classifiers side by side, then perceptrons one after another.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) boosted: Vec<Boosted>,
    pub(super) perceptrons: Vec<Perceptron>,
}

impl Model {
    /// `None` if the bytes are not such a file, or its funnel has another shape.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut words = Words(bytes);
        let (mut boosted, mut perceptrons) = (Vec::new(), Vec::new());
        for level in 0..words.count()? {
            let models = words.count()?;
            for _ in 0..models {
                for _ in 0..words.count()? {
                    match (level, words.count()?) {
                        (0, 0) => boosted.push(words.boosted()?),
                        (1.., 1) if models == 1 => perceptrons.push(words.perceptron()?),
                        _ => return None,
                    }
                }
                // Every level takes all windows of the one before; the first, which has none, says -1.
                for _ in 0..i32::from_le_bytes(words.word()?) {
                    words.word()?;
                }
            }
        }
        (words.0.is_empty() && !boosted.is_empty() && !perceptrons.is_empty()).then_some(Self { boosted, perceptrons })
    }
}

/// What is not read yet.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn word(&mut self) -> Option<[u8; 4]> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*word)
    }

    fn count(&mut self) -> Option<usize> {
        // No number in the file is larger than its bytes.
        usize::try_from(i32::from_le_bytes(self.word()?)).ok().filter(|&count| count <= 1 << 20)
    }

    fn float(&mut self) -> Option<f32> {
        self.word().map(f32::from_le_bytes)
    }

    fn floats(&mut self, count: usize) -> Option<Vec<f32>> {
        (0..count).map(|_| self.float()).collect()
    }

    fn boosted(&mut self) -> Option<Boosted> {
        let (count, bins) = (self.count()?, self.count()?);
        let places = (0..count).map(|_| Some((self.count()?, self.count()?))).collect::<Option<Vec<_>>>()?;
        let thresholds = self.floats(count)?;
        let votes = self.floats(count * (bins + 1))?;
        let fits = bins + 1 == BINS && count % GROUP == 0;
        fits.then(|| Boosted::new(&places, &thresholds, &votes))?
    }

    fn perceptron(&mut self) -> Option<Perceptron> {
        let (layers, features) = (self.count()?, self.count()?);
        let numbers = (0..features).map(|_| self.count()?.checked_sub(1)).collect::<Option<Vec<_>>>()?;
        let threshold = self.float()?;
        let mut inputs = self.count()?;
        if inputs != features * CELL_VALUES || numbers.iter().any(|&number| number >= PATCHES) {
            return None;
        }
        let mut stack = Vec::new();
        for _ in 1..layers {
            let outputs = self.count()?;
            let (weights, biases) = (self.floats(inputs * outputs)?, self.floats(outputs)?);
            stack.push(Layer { inputs, weights, biases });
            inputs = outputs;
        }
        (inputs == 4).then_some(Perceptron { features: numbers, threshold, layers: stack })
    }
}
