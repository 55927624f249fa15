//! The search for the smallest file.

use super::{
    deflate::Deflater,
    filters::{Choice, Heuristic, Lines},
    forms::{Form, Indexed},
};
use crate::{
    control::Run,
    error::{Error, Result},
};

/// What an effort buys.
struct Plan {
    /// Level at which forms and filters are compared.
    compare: i32,
    /// Level of the result.
    level: i32,
    /// Fixed filters.
    fixed: &'static [u8],
    /// Filters by row.
    heuristics: &'static [Heuristic],
    /// Rows of context and level of the filters found by compressing.
    brute: Option<(usize, i32)>,
    /// How many of the best filters are compressed at the final level.
    finalists: usize,
}

use Heuristic::{Entropy, PairEntropy, Pairs, Sum};

impl Plan {
    fn of(effort: u8, indexed: bool) -> Self {
        let plan = |compare, level, fixed, heuristics, brute, finalists| Self {
            compare,
            level,
            fixed,
            heuristics,
            brute,
            finalists,
        };
        match (effort, indexed) {
            (0, true) => plan(5, 7, &[0], &[], None, 1),
            (0, false) => plan(5, 5, &[0], &[Sum], None, 1),
            (1, _) => plan(5, 10, &[0], &[Pairs], None, 1),
            (2, _) => plan(7, 11, &[0, 1], &[Entropy, Pairs], None, 1),
            (3, _) => plan(8, 11, &[0, 1], &[Entropy, Pairs, PairEntropy], Some((3, 1)), 1),
            (4, _) => plan(8, 12, &[0, 1, 2], &[Sum, Entropy, Pairs, PairEntropy], Some((4, 1)), 2),
            (5, _) => plan(9, 12, &[0, 1, 2, 3, 4], &[Sum, Entropy, Pairs, PairEntropy], Some((8, 1)), 4),
            _ => plan(9, 12, &[0, 1, 2, 3, 4], &[Sum, Entropy, Pairs, PairEntropy], Some((8, 5)), 12),
        }
    }
}

/// The pixels to be stored.
pub(super) enum Pixels<'a> {
    /// At most 256 colours, and the order of the palette that they came with.
    Few(Indexed, Option<&'a [[u8; 4]]>),
    /// Anything else.
    Many(Form),
}

/// The smallest file that `effort` (0 to 6) finds.
pub(super) fn smallest(
    pixels: Pixels<'_>,
    size: (u32, u32),
    interlaced: bool,
    effort: u8,
    run: Run<'_>,
) -> Result<Vec<u8>> {
    let form = match pixels {
        Pixels::Many(form) => form,
        Pixels::Few(indexed, hint) => best_form(&indexed, hint, size, interlaced, effort, run)?,
    };
    let lines = form.lines(size, interlaced);
    let zlib = compressed(&lines, &Plan::of(effort, form.depth < 8 || form.side_bytes() > 0), run)?;
    Ok(form.file(size, interlaced, &zlib))
}

/// Compares the forms at a low level, each with no filter and with one heuristic.
fn best_form(
    indexed: &Indexed,
    hint: Option<&[[u8; 4]]>,
    size: (u32, u32),
    interlaced: bool,
    effort: u8,
    run: Run<'_>,
) -> Result<Form> {
    let mut forms = indexed.orders(effort, hint);
    run.check()?;
    let direct = indexed.direct();
    if direct.depth <= forms[0].depth && direct.side_bytes() <= 14 && direct.colour.samples() == 1 {
        forms.insert(0, direct);
    } else if effort >= 1 {
        forms.push(direct);
    }
    if effort >= 3 {
        let unpacked: Vec<Form> = forms.iter().filter_map(Form::unpacked).collect();
        forms.extend(unpacked);
    }
    if effort == 0 {
        forms.truncate(1);
    }
    let mut deflater = Deflater::new(Plan::of(effort, true).compare);
    let mut best: Option<(usize, Form)> = None;
    let single = forms.len() == 1;
    for form in forms {
        if single {
            return Ok(form);
        }
        run.check()?;
        let lines = form.lines(size, interlaced);
        let side = form.side_bytes();
        let mut least = best.as_ref().map_or(usize::MAX, |(bytes, _)| *bytes);
        let mut better = false;
        for choice in std::iter::once(Choice::All(0)).chain(lines.choose(&[Pairs], run)?) {
            let bytes = side + deflater.length(&lines.filtered(&choice), least.saturating_sub(side));
            better |= bytes < least;
            least = least.min(bytes);
        }
        if better {
            best = Some((least, form));
        }
    }
    best.map(|(_, form)| form).ok_or_else(|| Error::internal("encoding PNG", "no form was tried"))
}

fn compressed(lines: &Lines, plan: &Plan, run: Run<'_>) -> Result<Vec<u8>> {
    let mut choices: Vec<Choice> = plan.fixed.iter().map(|&filter| Choice::All(filter)).collect();
    choices.extend(lines.choose(plan.heuristics, run)?);
    if let Some((context, level)) = plan.brute {
        choices.push(lines.choose_by_compressing(context, &mut Deflater::new(level), run)?);
    }
    let finalists = finalists(choices, lines, plan, run)?;
    let mut deflater = Deflater::new(plan.level);
    let mut best: Option<Vec<u8>> = None;
    for choice in finalists {
        run.check()?;
        let most = best.as_ref().map_or(usize::MAX, Vec::len);
        best = deflater.zlib(&lines.filtered(&choice), most).or(best);
    }
    best.ok_or_else(|| Error::internal("encoding PNG", "no filter was tried"))
}

/// The best choices by their size at the comparing level.
fn finalists(choices: Vec<Choice>, lines: &Lines, plan: &Plan, run: Run<'_>) -> Result<Vec<Choice>> {
    if choices.len() <= plan.finalists {
        return Ok(choices);
    }
    let mut deflater = Deflater::new(plan.compare);
    let mut ranked = Vec::with_capacity(choices.len());
    for choice in choices {
        run.check()?;
        ranked.push((deflater.length(&lines.filtered(&choice), usize::MAX), choice));
    }
    ranked.sort_by_key(|(bytes, _)| *bytes);
    Ok(ranked.into_iter().take(plan.finalists).map(|(_, choice)| choice).collect())
}
