//! Where elements are that move along a path (SMIL `animateMotion`).

use std::collections::{BTreeMap, HashMap};

use roxmltree::{Document, Node, NodeId};
use svgtypes::{NumberListParser, PointsParser, SimplePathSegment, SimplifyingPathParser};

use super::curves;

type Point = (f64, f64);

/// Both ends of a path, each with the way that leads through it.
type Ends = [(Point, Point); 2];

/// Bytes of path data that are read, in all, with what arcs in them become.
const READ: u64 = 1 << 24;

/// The paths of a document.
#[derive(Debug, Default)]
pub(super) struct Paths<'a, 'input> {
    /// Elements by their ids, once one is asked for.
    named: Option<BTreeMap<&'a str, Node<'a, 'input>>>,
    known: HashMap<NodeId, Option<Ends>>,
    read: u64,
}

impl<'a, 'input> Paths<'a, 'input> {
    /// The transformation that moves an element to where `motion` has it at its end, or at its beginning; `None` where that is
    /// not known.
    pub(super) fn place(&mut self, motion: Node<'a, 'input>, ended: bool) -> Option<String> {
        let ends = self.ends(motion)?;
        let numbers =
            |list: &str| NumberListParser::from(list.replace(';', " ").trim()).map_while(Result::ok).collect();
        let points: Option<Vec<f64>> = motion.attribute("keyPoints").map(numbers);
        let at = match (points.as_deref(), ended) {
            (None, ended) => f64::from(u8::from(ended)),
            (Some([.., last]), true) => *last,
            (Some([first, ..]), false) => *first,
            (Some([]), _) => return None,
        };
        let ((x, y), (dx, dy)) = [(0.0, ends[0]), (1.0, ends[1])].into_iter().find(|(end, _)| *end == at)?.1;
        let length = (dx * dx + dy * dy).sqrt();
        let back = match motion.attribute("rotate").map_or("0", str::trim) {
            "auto" => 1.0,
            "auto-reverse" => -1.0,
            angle => return angle.parse().ok().map(|angle: f64| format!("translate({x} {y}) rotate({angle}) ")),
        };
        let (cos, sin) = if length > 0.0 { (back * dx / length, back * dy / length) } else { (back, 0.0) };
        Some(format!("matrix({cos} {sin} {} {cos} {x} {y}) ", -sin))
    }

    fn ends(&mut self, motion: Node<'a, 'input>) -> Option<Ends> {
        if let Some(named) = motion.children().find(|child| child.tag_name().name() == "mpath") {
            let href = named.attributes().find(|attribute| attribute.name() == "href")?;
            let by_id = self.named.get_or_insert_with(|| by_id(motion.document()));
            let path = *by_id.get(href.value().trim().strip_prefix('#')?)?;
            if let Some(known) = self.known.get(&path.id()) {
                return *known;
            }
            let ends = path.attribute("d").and_then(|data| self.of_path(data));
            self.known.insert(path.id(), ends);
            return ends;
        }
        if let Some(data) = motion.attribute("path") {
            return self.of_path(data);
        }
        let list = motion.attribute("values").map(|values| values.replace(';', " "));
        let list = list.or_else(|| Some(format!("{} {}", motion.attribute("from")?, motion.attribute("to")?)));
        of_points(&PointsParser::from(list?.as_str()).collect::<Vec<_>>())
    }

    fn of_path(&mut self, data: &str) -> Option<Ends> {
        self.read = self.read.saturating_add(data.len() as u64).saturating_add(curves::arcs(data));
        (self.read <= READ).then(|| of_points(&points(data)))?
    }
}

/// The first counts of several with one id.
fn by_id<'a, 'input>(document: &'a Document<'input>) -> BTreeMap<&'a str, Node<'a, 'input>> {
    let mut named = BTreeMap::new();
    for (id, node) in document.descendants().filter_map(|node| Some((node.attribute("id")?, node))) {
        named.entry(id).or_insert(node);
    }
    named
}

/// The points that a path goes by.
fn points(data: &str) -> Vec<Point> {
    let (mut points, mut start) = (Vec::new(), (0.0, 0.0));
    for segment in SimplifyingPathParser::from(data).map_while(Result::ok) {
        match segment {
            SimplePathSegment::MoveTo { x, y } => {
                start = (x, y);
                points.push(start);
            }
            SimplePathSegment::LineTo { x, y } => points.push((x, y)),
            SimplePathSegment::CurveTo { x1, y1, x2, y2, x, y } => points.extend([(x1, y1), (x2, y2), (x, y)]),
            SimplePathSegment::Quadratic { x1, y1, x, y } => points.extend([(x1, y1), (x, y)]),
            SimplePathSegment::ClosePath => points.push(start),
        }
    }
    points
}

fn of_points(points: &[Point]) -> Option<Ends> {
    let (first, last) = (*points.first()?, *points.last()?);
    let way = |from: Point, to: Point| (to.0 - from.0, to.1 - from.1);
    let second = points.iter().find(|point| **point != first).unwrap_or(&first);
    let before = points.iter().rfind(|point| **point != last).unwrap_or(&last);
    Some([(first, way(first, *second)), (last, way(*before, last))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_their_motion_begins_or_ends() {
        let place = |motion: &str, ended: bool| {
            let text = format!("<svg><path id='p' d='M1 2q3 0 3 4'/>{motion}</svg>");
            let document = Document::parse(&text).unwrap();
            let motion = document.descendants().find(|node| node.tag_name().name() == "animateMotion").unwrap();
            Paths::default().place(motion, ended)
        };
        for (motion, begins, ends) in [
            ("<animateMotion path='M5 6h8z'/>", "translate(5 6) rotate(0) ", "translate(5 6) rotate(0) "),
            (
                "<animateMotion rotate='auto'><mpath href='#p'/></animateMotion>",
                "matrix(1 0 -0 1 1 2) ",
                "matrix(0 1 -1 0 4 6) ",
            ),
            (
                "<animateMotion rotate='auto-reverse' path='M0 0v9'/>",
                "matrix(-0 -1 1 -0 0 0) ",
                "matrix(-0 -1 1 -0 0 9) ",
            ),
            (
                "<animateMotion keyPoints='1;0' path='M1 1 2 2'/>",
                "translate(2 2) rotate(0) ",
                "translate(1 1) rotate(0) ",
            ),
            (
                "<animateMotion from='1,2' to='3,4' rotate='9'/>",
                "translate(1 2) rotate(9) ",
                "translate(3 4) rotate(9) ",
            ),
            ("<animateMotion values='1,2;3,4;5 6'/>", "translate(1 2) rotate(0) ", "translate(5 6) rotate(0) "),
        ] {
            assert_eq!([place(motion, false), place(motion, true)].map(Option::unwrap), [begins, ends], "{motion}");
        }
        for motion in [
            "<animateMotion/>",
            "<animateMotion to='3,4'/>",
            "<animateMotion path=''/>",
            "<animateMotion keyPoints='.5;1' path='M1 1 2 2'/>",
            "<animateMotion><mpath href='#none'/></animateMotion>",
            "<animateMotion path='M0 0A1e30 1e30 0 0 1 1 1e30'/>",
        ] {
            assert_eq!(place(motion, false), None, "{motion}");
        }
    }
}
