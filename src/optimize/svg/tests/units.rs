//! What hangs on the units around it, and on the colours.

use super::*;

/// What `spread` makes of a group that is moved, with `inner` in it and `around` beside it.
fn spread(attributes: &str, inner: &str, around: &str) -> String {
    ruled(
        "spread",
        &format!("<svg viewBox=\"0 0 99 99\"><g transform=\"translate(4 8)\"{attributes}>{inner}</g>{around}</svg>"),
    )
}

#[test]
fn transforms_of_groups_go_down_only_to_what_nothing_else_shows_or_changes() {
    let path = "<path id=\"a\" d=\"m1 1h9v9\"/>";
    assert!(!spread("", path, "").contains("transform"));
    let stays = [
        ("", path, "<use href=\"#a\"/>"),
        ("", path, "<text><textPath href=\"#a\"/></text>"),
        ("", "<path d=\"m1 1h9v9\"><animate attributeName=\"opacity\" values=\"0;1\"/></path>", ""),
        ("", "<path d=\"m1 1h9v9\" style=\"mix-blend-mode:screen\"/>", ""),
        ("", "<svg><path d=\"m1 1h9v9\"/></svg>", ""),
        (" clip-path=\"url(#c)\"", path, "<clipPath id=\"c\"><path d=\"m0 0h5v5\"/></clipPath>"),
        (" transform-origin=\"5 5\"", path, ""),
    ];
    for (attributes, inner, around) in stays {
        let text = spread(attributes, inner, around);
        assert!(text.contains("<g transform=\"translate(4 8)\""), "{text}");
    }
}

#[test]
fn what_is_cut_or_painted_in_its_own_units_is_turned_with_them() {
    let gradient = "<linearGradient id=\"c\" gradientUnits=\"userSpaceOnUse\"><stop/></linearGradient>";
    for attribute in ["fill", "stroke", "mask", "filter"] {
        for shape in ["<path d=\"m1 1h9v9\"", "<rect x=\"1\" width=\"9\" height=\"9\" rx=\"1\""] {
            let text = spread("", &format!("{shape} {attribute}=\"url(#c)\"/>"), gradient);
            assert!(text.contains("transform=\"") && text.contains(shape), "{attribute}: {text}");
        }
    }
}

#[test]
fn colours_that_the_document_gives_are_written_where_they_are_asked_for() {
    let path = "<path fill=\"currentColor\"/>";
    let resolved = [
        (format!("<g color=\"red\">{path}</g>"), "<g><path fill=\"red\"/></g>"),
        (
            "<g color=\"red\"><linearGradient><stop stop-color=\"CurrentColor\"/></linearGradient></g>".to_owned(),
            "<g><linearGradient><stop stop-color=\"red\"/></linearGradient></g>",
        ),
        ("<path color=\"red\" fill=\"#00f\"/>".to_owned(), "<path fill=\"#00f\"/>"),
    ];
    for (inner, expected) in resolved {
        assert_eq!(ruled("colours", &format!("<svg>{inner}</svg>")), format!("<svg>{expected}</svg>"));
    }
    let kept = [
        format!("<svg color=\"red\">{path}</svg>"),
        format!("<svg>{path}</svg>"),
        "<svg><g color=\"red\" fill=\"currentColor\"><path color=\"#00f\"/></g></svg>".to_owned(),
        "<svg><g color=\"red\"><path id=\"a\" fill=\"currentColor\"/></g><use href=\"#a\"/></svg>".to_owned(),
        "<svg><g color=\"red\" fill=\"currentColor\"><use href=\"#a\"/></g><path id=\"a\" color=\"#00f\"/></svg>"
            .to_owned(),
        format!("<svg><g color=\"red\">{path}<set attributeName=\"color\" to=\"#00f\"/></g></svg>"),
        format!("<svg><g color=\"inherit\">{path}</g></svg>"),
    ];
    for document in kept {
        assert_eq!(ruled("colours", &document), document);
    }
}
