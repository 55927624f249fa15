//! Dashes of strokes where `pathLength` says how long a shape is (SVG 2, 9.6.1), which usvg does not read.

use std::collections::HashMap;

use roxmltree::{Document, Node, NodeId};
use svgtypes::{Length, LengthUnit, NumberListParser, PointsParser, SimplePathSegment, SimplifyingPathParser};

use super::{edits::Edits, style::Style};
use crate::{control::Run, error::Result, limits::within};

/// The properties of dashes, which elements inherit.
const PROPERTIES: [&str; 2] = ["stroke-dasharray", "stroke-dashoffset"];
/// Lines by which the length of a curve is measured: of a quarter of a circle they fall short by 1/10,000.
const LINES: u32 = 32;

type Point = (f64, f64);

/// `text` with the dashes of shapes that say how long they are in units of the document; `None` where there are none.
///
/// # Errors
/// As of [`Style`].
pub(super) fn mended(text: &str, document: &Document<'_>, run: Run<'_>) -> Result<Option<String>> {
    if !text.contains("pathLength") {
        return Ok(None);
    }
    let said =
        |node: Node<'_, '_>| node.attribute("pathLength")?.trim().parse().ok().filter(|length: &f64| *length > 0.0);
    let mut inherited = Inherited { style: Style::new(document.root_element(), run)?, known: HashMap::new() };
    let (mut edits, mut bytes) = (Edits::of(text), text.len() as u64);
    for node in document.descendants() {
        let Some(said) = said(node) else { continue };
        let [dashes, offset] = inherited.of(node, run)?;
        let Some(dashes) = dashes else { continue };
        let Some(times) = length(node, run)?.map(|length| length / said).filter(|times| times.is_finite()) else {
            continue;
        };
        let [Some(dashes), Some(offset)] = [dashes, offset.unwrap_or("0")].map(|list| scaled(list, times)) else {
            continue;
        };
        let own = node.attribute("style").unwrap_or_default();
        let style = format!("{own};stroke-dasharray:{dashes};stroke-dashoffset:{offset}");
        bytes += style.len() as u64;
        within("SVG text in bytes, with dashes", bytes, run.limits.svg_text_bytes)?;
        edits.set(node, "style", style.trim_start_matches(';'));
    }
    Ok(edits.done())
}

/// What elements have of the properties.
struct Inherited<'a> {
    style: Style<'a>,
    known: HashMap<NodeId, [Option<&'a str>; 2]>,
}

impl<'a> Inherited<'a> {
    fn of(&mut self, node: Node<'a, '_>, run: Run<'_>) -> Result<[Option<&'a str>; 2]> {
        let unknown: Vec<_> = node.ancestors().take_while(|node| !self.known.contains_key(&node.id())).collect();
        let above = node.ancestors().find_map(|node| self.known.get(&node.id()));
        let mut values = above.copied().unwrap_or_default();
        for node in unknown.into_iter().rev().filter(Node::is_element) {
            let declared = self.style.of(node, run)?;
            for (value, name) in values.iter_mut().zip(PROPERTIES) {
                let declared = declared.iter().rev().find(|(declared, _)| *declared == name).map(|(_, value)| *value);
                let own = declared.or_else(|| node.attribute(name)).map(str::trim);
                *value = own.filter(|own| *own != "inherit").or(*value);
            }
            self.known.insert(node.id(), values);
        }
        Ok(values)
    }
}

/// A list of plain lengths, each so many times as long; `None` for anything else.
fn scaled(list: &str, times: f64) -> Option<String> {
    let numbers = NumberListParser::from(list.replace("px", " ").as_str())
        .map(|number| number.ok().map(|number| (number * times).to_string()))
        .collect::<Option<Vec<_>>>()?;
    (!numbers.is_empty()).then(|| numbers.join(" "))
}

/// How long the outline of a shape is; `None` where that is not known.
fn length(node: Node<'_, '_>, run: Run<'_>) -> Result<Option<f64>> {
    let number = |name: &str| match node.attribute(name).map(str::parse::<Length>) {
        None => Some(0.0),
        Some(Ok(length)) if matches!(length.unit, LengthUnit::None | LengthUnit::Px) => Some(length.number),
        Some(_) => None,
    };
    let numbers = |names: [&str; 4]| -> Option<Vec<f64>> { names.into_iter().map(number).collect() };
    Ok(match node.tag_name().name() {
        "path" => Some(of_path(node.attribute("d").unwrap_or_default(), run)?),
        "line" => numbers(["x1", "y1", "x2", "y2"]).map(|at| distance((at[0], at[1]), (at[2], at[3]))),
        name @ ("polyline" | "polygon") => {
            let mut points: Vec<Point> = PointsParser::from(node.attribute("points").unwrap_or_default()).collect();
            points.extend(points.first().copied().filter(|_| name == "polygon"));
            Some(points.windows(2).map(|pair| distance(pair[0], pair[1])).sum())
        }
        "circle" => number("r").map(|r| around(r, r)),
        "ellipse" => number("rx").zip(number("ry")).map(|(rx, ry)| around(rx, ry)),
        "rect" => numbers(["width", "height", "rx", "ry"]).map(|sides| {
            let (has_x, has_y) = (node.has_attribute("rx"), node.has_attribute("ry"));
            let rx = if has_x { sides[2] } else { sides[3] }.min(sides[0] / 2.0);
            let ry = if has_y { sides[3] } else { sides[2] }.min(sides[1] / 2.0);
            2.0 * (sides[0] + sides[1] - 2.0 * (rx + ry)) + around(rx, ry)
        }),
        _ => None,
    })
}

fn of_path(data: &str, run: Run<'_>) -> Result<f64> {
    let (mut length, mut at, mut start) = (0.0, (0.0, 0.0), (0.0, 0.0));
    for segment in SimplifyingPathParser::from(data).map_while(std::result::Result::ok) {
        run.check()?;
        let from = at;
        match segment {
            SimplePathSegment::MoveTo { x, y } => (start, at) = ((x, y), (x, y)),
            SimplePathSegment::LineTo { x, y } => {
                at = (x, y);
                length += distance(from, at);
            }
            SimplePathSegment::CurveTo { x1, y1, x2, y2, x, y } => {
                at = (x, y);
                length += of_curve([from, (x1, y1), (x2, y2), at]);
            }
            SimplePathSegment::Quadratic { x1, y1, x, y } => {
                at = (x, y);
                let third = |end: Point| ((end.0 + 2.0 * x1) / 3.0, (end.1 + 2.0 * y1) / 3.0);
                length += of_curve([from, third(from), third(at), at]);
            }
            SimplePathSegment::ClosePath => {
                at = start;
                length += distance(from, at);
            }
        }
    }
    Ok(length)
}

/// Of a cubic curve, by points on it.
fn of_curve([a, b, c, d]: [Point; 4]) -> f64 {
    let point = |step: u32| {
        let t = f64::from(step) / f64::from(LINES);
        let s = 1.0 - t;
        let of = |a: f64, b: f64, c: f64, d: f64| s * s * (s * a + 3.0 * t * b) + t * t * (3.0 * s * c + t * d);
        (of(a.0, b.0, c.0, d.0), of(a.1, b.1, c.1, d.1))
    };
    (0..LINES).map(|step| distance(point(step), point(step + 1))).sum()
}

/// Of an ellipse, as four curves.
fn around(rx: f64, ry: f64) -> f64 {
    const HANDLE: f64 = 0.552_284_75;
    4.0 * of_curve([(rx, 0.0), (rx, ry * HANDLE), (rx * HANDLE, ry), (0.0, ry)])
}

fn distance(a: Point, b: Point) -> f64 {
    let (x, y) = (b.0 - a.0, b.1 - a.1);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    fn run() -> Run<'static> {
        static LIMITS: std::sync::LazyLock<Limits> = std::sync::LazyLock::new(Limits::default);
        Run { limits: &LIMITS, control: &Unattended }
    }

    fn dashed(inner: &str) -> Option<String> {
        let text = format!("<svg>{inner}</svg>");
        let mended = mended(&text, &Document::parse(&text).unwrap(), run()).unwrap()?;
        Some(mended["<svg>".len()..mended.len() - "</svg>".len()].to_owned())
    }

    #[test]
    fn dashes_are_as_long_as_the_shape_makes_them() {
        let line = "<line x2='30' y2='40' pathLength='5'";
        assert_eq!(
            dashed(&format!("{line} stroke-dasharray='1,2' stroke-dashoffset='.5'/>")).unwrap(),
            "<line style=\"stroke-dasharray:10 20;stroke-dashoffset:5\" x2='30' y2='40' pathLength='5' \
             stroke-dasharray='1,2' stroke-dashoffset='.5'/>"
        );
        let above = "<style>.a{stroke-dasharray:1px}</style><g class='a'><g stroke-dashoffset='2' fill='red'>";
        assert_eq!(
            dashed(&format!("{above}{line} style='fill:none'/></g></g>")).unwrap(),
            format!("{above}{line} style='fill:none;stroke-dasharray:10;stroke-dashoffset:20'/></g></g>")
        );
    }

    #[test]
    fn what_has_no_dashes_or_no_length_stays() {
        for shape in [
            "<path d='M0 0h9' pathLength='1'/>",
            "<path d='M0 0h9' pathLength='0' stroke-dasharray='1'/>",
            "<path d='M0 0h9' pathLength='1' stroke-dasharray='none'/>",
            "<path d='M0 0h9' pathLength='1' stroke-dasharray='5%'/>",
            "<circle r='5%' pathLength='1' stroke-dasharray='1'/>",
        ] {
            assert_eq!(dashed(shape), None, "{shape}");
        }
    }

    #[test]
    fn outlines_are_measured() {
        let turn = std::f64::consts::TAU;
        let cases = [
            ("<path d='M1 1h3v4z'/>", 12.0),
            ("<path d='M0 0l3 4m9 9v2'/>", 7.0),
            ("<path d='M10 0A10 10 0 0 1 -10 0'/>", 5.0 * turn),
            ("<path d='M0 0q5 0 10 0'/>", 10.0),
            ("<polyline points='0 0 3 4 3 6'/>", 7.0),
            ("<polygon points='0 0 3 0 3 4'/>", 12.0),
            ("<circle r='10'/>", 10.0 * turn),
            ("<ellipse rx='10px' ry='10'/>", 10.0 * turn),
            ("<rect width='20' height='10'/>", 60.0),
            (
                "<rect width='20' height='10' rx='9'/>",
                2.0 * (20.0 - 18.0) + 4.0 * of_curve([(9.0, 0.0), (9.0, 2.7614), (4.9706, 5.0), (0.0, 5.0)]),
            ),
        ];
        for (shape, expected) in cases {
            let document = Document::parse(shape).unwrap();
            let length = length(document.root_element(), run()).unwrap().unwrap();
            assert!((length - expected).abs() < expected / 1000.0, "{shape}: {length}, not {expected}");
        }
    }
}
