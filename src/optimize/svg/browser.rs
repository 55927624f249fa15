//! A document as browsers read it.
//!
//! They add up relative numbers of path data in single precision, and their rasterisers count coverage in steps (Skia: quarters
//! of a pixel down the page). Edges of simple drawings often lie just on such a step, and the last bit of a number decides
//! where they are drawn. With the sums spelled out, resvg, which adds in double precision, shows what a browser would.

use super::path::Path;
use crate::{codec::svg, control::Run, error::Result};

/// The same document with path data as they add up in single precision.
pub(super) fn read(text: &str, run: Run<'_>) -> Result<String> {
    let document = svg::document(text, run)?;
    let (mut read, mut done) = (String::with_capacity(2 * text.len()), 0);
    for attribute in document.descendants().filter_map(|node| node.attribute_node("d")) {
        run.check()?;
        let (value, range) = (attribute.value(), attribute.range_value());
        let raw = text.get(range.clone()).unwrap_or_default();
        // Line ends have become spaces, and references characters.
        let here = range.start >= done && raw.split_ascii_whitespace().eq(value.split_ascii_whitespace());
        let Some(path) = Path::parse_single(value).filter(|_| here) else { continue };
        read.push_str(&text[done..range.start]);
        read.push_str(&path.spelled());
        done = range.end;
    }
    read.push_str(&text[done..]);
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Unattended};

    #[test]
    fn only_path_data_change_and_say_where_single_precision_leads() {
        let limits = Limits::default();
        let run = Run { limits: &limits, control: &Unattended };
        let document = |data: &str| {
            format!(
                "<svg xmlns='http://www.w3.org/2000/svg'><path d='{data}' fill='red'/>m1 1h1<path d='m1 1&#104;1'/></svg>"
            )
        };
        assert_eq!(
            read(&document("m.1 0h.6\nq1 1 2 0t2 0z"), run).unwrap(),
            document("M0.1 0L0.70000005 0Q1.7 1 2.7 0Q3.7 -1 4.7 0Z")
        );
        assert_eq!(read(&document("M1 2 3"), run).unwrap(), document("M1 2 3"), "data in error stay");
    }
}
