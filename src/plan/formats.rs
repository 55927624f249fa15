//! The formats that `smallest` chooses among.

use std::sync::Arc;

use super::{goal, refuse_work_on_pixels};
use crate::{
    codec::Info,
    format::Format,
    operation::Operation,
    optimize::Goal,
    picture::Depth,
    request::{Compression, Optimize, Output, OutputFormat, Request, ResizeMode},
};

/// The same request for each format that can hold its result as faithfully as that of the source, which comes first. All
/// have the goal that it would have in the format of the source.
pub(crate) fn of_formats(
    request: &Request,
    info: &Info,
    operations: &[Arc<dyn Operation>],
) -> impl Iterator<Item = Request> {
    let goal = goal(request, info, info.format, true);
    let preset = if goal == Goal::Lossless { Compression::Lossless } else { Compression::Medium };
    let optimize = request.optimize.or(Some(Optimize::preset(preset)));
    let drawn = refuse_work_on_pixels(request, operations).is_err();
    formats(request, info, goal, drawn).into_iter().map(move |format| {
        let output = Output { format, ..request.output.clone() };
        Request { optimize, output, ..request.clone() }
    })
}

/// The formats; an SVG has to be `drawn` where pixels are worked on.
fn formats(request: &Request, info: &Info, goal: Goal, drawn: bool) -> Vec<OutputFormat> {
    if info.format == Format::Svg {
        // It is sharp at any size, which no pixels are.
        return if drawn { vec![OutputFormat::Png, OutputFormat::Webp] } else { vec![OutputFormat::Auto] };
    }
    let exact = matches!(goal, Goal::Lossless | Goal::Quality(100));
    let lossy = info.lossless == Some(false);
    let deep = info.depth() == Depth::Sixteen;
    let padded = request.resize.as_ref().is_some_and(|resize| {
        resize.mode == ResizeMode::Pad && resize.background.is_none_or(|background| background.0[3] < u8::MAX)
    });
    let own = |formats: &[Format]| formats.contains(&info.format);
    let others = [
        (OutputFormat::Webp, !own(&[Format::Webp]) && !(exact && (deep || lossy))),
        // What was coded with loss is hardly ever smaller without.
        (OutputFormat::Png, !own(&[Format::Png, Format::Apng]) && !lossy),
        (OutputFormat::Jpeg, !own(&[Format::Jpeg]) && !exact && !info.alpha && !padded && info.frames == 1),
    ];
    let others = others.into_iter().filter(|(_, holds)| *holds).map(|(format, _)| format);
    std::iter::once(OutputFormat::Auto).chain(others).collect()
}
