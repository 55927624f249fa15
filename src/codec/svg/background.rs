//! The colour behind a document, which browsers paint on its whole canvas and usvg leaves out.

use std::str::FromStr;

use resvg::tiny_skia::Color;
use roxmltree::Document;

use super::{css::split, style::Style};
use crate::{control::Run, error::Result};

/// What the root of a document declares as its `background`, if that is a colour.
///
/// # Errors
/// As of [`Style::new`].
pub(super) fn background(document: &Document<'_>, run: Run<'_>) -> Result<Option<Color>> {
    if !document.input_text().contains("background") {
        return Ok(None);
    }
    let root = document.root_element();
    let mut found = None;
    for (name, value) in Style::new(root, run)?.of(root, run)? {
        match name {
            "background" => found = layered(value),
            "background-color" => found = colour(value),
            _ => {}
        }
    }
    Ok(found)
}

/// The colour of a shorthand, which may stand in the last of its layers beside much else.
fn layered(value: &str) -> Option<Color> {
    split(split(value, ',').last()?, ' ').into_iter().find_map(colour)
}

fn colour(value: &str) -> Option<Color> {
    let color = svgtypes::Color::from_str(value).ok()?;
    Some(Color::from_rgba8(color.red, color.green, color.blue, color.alpha))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, limits::Limits};

    #[test]
    fn the_last_of_what_the_root_declares_counts() {
        let background = |text: &str| {
            let limits = Limits::default();
            let run = Run { limits: &limits, control: &Unattended };
            let color = background(&Document::parse(text).unwrap(), run).unwrap();
            color
                .map(|color| color.to_color_u8())
                .map(|color| [color.red(), color.green(), color.blue(), color.alpha()])
        };
        let (white, half) = (Some([255; 4]), Some([1, 2, 3, 128]));
        assert_eq!(background("<svg style='width:9px;background:#FFFFFF;'/>"), white);
        assert_eq!(background("<svg style='background: no-repeat url(\"a b,c\") , rgba(1, 2, 3, .5) fixed'/>"), half);
        assert_eq!(
            background("<svg class='a'><style>svg{background:red}.a{background-color:white!important}</style></svg>"),
            white
        );
        assert_eq!(
            background("<svg id='a' style='background:red'><style>#a{background:white}</style></svg>"),
            Some([255, 0, 0, 255])
        );
        assert_eq!(background("<svg style='background-color:white;background:none'/>"), None);
        assert_eq!(background("<svg><g style='background:red'/><style>g{background:red}</style></svg>"), None);
    }
}
