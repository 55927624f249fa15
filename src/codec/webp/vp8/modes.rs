//! How macroblocks are predicted (RFC 6386, sections 10, 11 and 19.3).

use super::{
    boolean::{EVEN, Reader, Writer},
    header::SEGMENTS,
    tables::SUBBLOCK_MODES,
};

/// The prediction of whole luma or chroma blocks of a macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The mean of what is above and to the left.
    Mean,
    /// Columns go on.
    Vertical,
    /// Rows go on.
    Horizontal,
    /// Rows and columns go on, less the corner.
    TrueMotion,
}

/// The prediction of a subblock of 4x4, by its place in the tree of modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubMode {
    Mean,
    TrueMotion,
    Vertical,
    Horizontal,
    DownRight,
    VerticalRight,
    DownLeft,
    VerticalLeft,
    HorizontalDown,
    HorizontalUp,
}

/// All of them, in the order of their probabilities.
const SUB_MODES: [SubMode; 10] = [
    SubMode::Mean,
    SubMode::TrueMotion,
    SubMode::Vertical,
    SubMode::Horizontal,
    SubMode::DownRight,
    SubMode::VerticalRight,
    SubMode::DownLeft,
    SubMode::VerticalLeft,
    SubMode::HorizontalDown,
    SubMode::HorizontalUp,
];

/// The tree of the modes of subblocks: where to go on for no and yes, or the mode, as its complement.
const TREE: [[i8; 2]; 9] = [[!0, 1], [!1, 2], [!2, 3], [4, 6], [!3, 5], [!4, !5], [!6, 7], [!7, 8], [!8, !9]];

/// How luma is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Luma {
    Whole(Mode),
    Subblocks([SubMode; 16]),
}

/// What a macroblock says before its coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Macroblock {
    pub(super) segment: u8,
    pub(super) luma: Luma,
    pub(super) chroma: Mode,
}

/// The modes around, which tell the odds of those to come.
#[derive(Debug)]
pub(super) struct Surroundings {
    above: Vec<[SubMode; 4]>,
    left: [SubMode; 4],
}

impl Surroundings {
    /// Those of a picture of `across` macroblocks a row.
    pub(super) fn new(across: usize) -> Self {
        Self { above: vec![[SubMode::Mean; 4]; across], left: [SubMode::Mean; 4] }
    }

    /// Begins a row of macroblocks.
    pub(super) fn next_row(&mut self) {
        self.left = [SubMode::Mean; 4];
    }

    /// Calls `mode` for each subblock with the odds there and remembers what it answers.
    fn each(&mut self, x: usize, mut mode: impl FnMut(usize, &[u8; 9]) -> SubMode) {
        for at in 0..16 {
            let (above, left) = (&mut self.above[x][at % 4], &mut self.left[at / 4]);
            let (rows, _) = SUBBLOCK_MODES.as_chunks::<9>();
            let mode = mode(at, &rows[10 * *above as usize + *left as usize]);
            (*above, *left) = (mode, mode);
        }
    }

    fn fill(&mut self, x: usize, mode: Mode) {
        let mode = match mode {
            Mode::Mean => SubMode::Mean,
            Mode::Vertical => SubMode::Vertical,
            Mode::Horizontal => SubMode::Horizontal,
            Mode::TrueMotion => SubMode::TrueMotion,
        };
        self.above[x] = [mode; 4];
        self.left = [mode; 4];
    }
}

/// Probabilities of what macroblocks say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chances {
    /// Of the segments' tree, if there is a map of them.
    pub(super) segments: Option<[u8; 3]>,
    /// That a macroblock has coefficients, if it says so.
    pub(super) coded: Option<u8>,
}

impl Chances {
    /// Those that fit best: of `segments` so many macroblocks each, and of so many macroblocks with and without coefficients.
    pub(super) fn fitting(segments: Option<[u32; SEGMENTS]>, coded: u32, skipped: u32) -> Self {
        let segments = segments.map(|[a, b, c, d]| [chance(a + b, c + d), chance(a, b), chance(c, d)]);
        Self { segments, coded: (skipped > 0).then(|| chance(coded, skipped)) }
    }
}

/// The probability in 256ths that fits so many noes and yeses.
pub(super) fn chance(no: u32, yes: u32) -> u8 {
    let (no, all) = (u64::from(no), u64::from(no) + u64::from(yes));
    (no * 256 + all / 2).checked_div(all).map_or(u8::MAX, |chance| chance.clamp(1, 255) as u8)
}

impl Macroblock {
    /// Reads the macroblock in column `x`, and whether it has coefficients.
    pub(super) fn read(reader: &mut Reader<'_>, chances: Chances, around: &mut Surroundings, x: usize) -> (Self, bool) {
        let segment = chances.segments.map_or(0, |[top, low, high]| {
            if reader.bit(top) { 2 + u8::from(reader.bit(high)) } else { u8::from(reader.bit(low)) }
        });
        let coded = !chances.coded.is_some_and(|chance| reader.bit(chance));
        let luma = if !reader.bit(145) {
            let mut modes = [SubMode::Mean; 16];
            around.each(x, |at, odds| {
                modes[at] = sub_mode(reader, odds);
                modes[at]
            });
            Luma::Subblocks(modes)
        } else {
            let mode = match reader.bit(156) {
                true if reader.bit(EVEN) => Mode::TrueMotion,
                true => Mode::Horizontal,
                false if reader.bit(163) => Mode::Vertical,
                false => Mode::Mean,
            };
            around.fill(x, mode);
            Luma::Whole(mode)
        };
        let chroma = if !reader.bit(142) {
            Mode::Mean
        } else if !reader.bit(114) {
            Mode::Vertical
        } else if !reader.bit(183) {
            Mode::Horizontal
        } else {
            Mode::TrueMotion
        };
        (Self { segment, luma, chroma }, coded)
    }

    /// Writes what [`Self::read`] reads.
    pub(super) fn write(
        &self,
        writer: &mut Writer,
        coded: bool,
        chances: Chances,
        around: &mut Surroundings,
        x: usize,
    ) {
        if let Some([top, low, high]) = chances.segments {
            writer.bit(self.segment >= 2, top);
            writer.bit(self.segment % 2 == 1, if self.segment >= 2 { high } else { low });
        }
        if let Some(chance) = chances.coded {
            writer.bit(!coded, chance);
        }
        match self.luma {
            Luma::Subblocks(modes) => {
                writer.bit(false, 145);
                around.each(x, |at, odds| {
                    write_sub_mode(writer, modes[at], odds);
                    modes[at]
                });
            }
            Luma::Whole(mode) => {
                writer.bit(true, 145);
                let sideways = matches!(mode, Mode::Horizontal | Mode::TrueMotion);
                writer.bit(sideways, 156);
                writer.bit(matches!(mode, Mode::TrueMotion | Mode::Vertical), if sideways { EVEN } else { 163 });
                around.fill(x, mode);
            }
        }
        writer.bit(self.chroma != Mode::Mean, 142);
        if self.chroma != Mode::Mean {
            writer.bit(self.chroma != Mode::Vertical, 114);
            if self.chroma != Mode::Vertical {
                writer.bit(self.chroma != Mode::Horizontal, 183);
            }
        }
    }
}

fn sub_mode(reader: &mut Reader<'_>, odds: &[u8; 9]) -> SubMode {
    let mut at = 0i8;
    while at >= 0 {
        let node = at as usize;
        at = TREE[node][usize::from(reader.bit(odds[node]))];
    }
    SUB_MODES[!at as usize]
}

fn write_sub_mode(writer: &mut Writer, mode: SubMode, odds: &[u8; 9]) {
    // From the leaf up to the root, then down again.
    let (mut path, mut length, mut wanted) = ([(0, false); TREE.len()], 0, !(mode as i8));
    while let Some(node) = TREE.iter().position(|ways| wanted != 0 && ways.contains(&wanted)) {
        path[length] = (node, TREE[node][1] == wanted);
        length += 1;
        wanted = node as i8;
    }
    for &(node, way) in path[..length].iter().rev() {
        writer.bit(way, odds[node]);
    }
}
