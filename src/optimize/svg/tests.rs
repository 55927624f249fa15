mod sheets;
mod units;

use super::*;
use crate::{
    control::{Unattended, Watch},
    limits::Limits,
};

fn settings<'a>(pictures: &'a Pictures, limits: &'a Limits) -> Settings<'a> {
    Settings {
        tolerance: search::EXACT,
        lossy: false,
        gentle: false,
        kinds: false,
        cubics: false,
        single: false,
        keep_ids: false,
        unsteady: search::EXACT,
        sheets: true,
        embedded: None,
        pictures,
        run: Run { limits, control: &Unattended },
    }
}

fn tree(text: &str) -> Tree {
    let text = text.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
    build::build(&svg::document(&text, Run { limits: &Limits::default(), control: &Unattended }).unwrap())
}

fn text(tree: &Tree) -> String {
    write::write(tree).replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

#[test]
fn every_rule_does_what_its_example_says_and_does_it_once() {
    let (pictures, limits) = (Pictures::default(), Limits::default());
    let mut wrong = Vec::new();
    for rule in SVG_RULES {
        let mut tree = tree(rule.before);
        for _ in 0..2 {
            (rule.apply)(&mut tree, &settings(&pictures, &limits)).unwrap();
            let text = text(&tree);
            if text != rule.after {
                wrong.push(format!("{}: {text}", rule.name));
            }
        }
        assert_ne!(rule.before, rule.after, "{}", rule.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn path_data_stay_where_no_others_are_shorter() {
    let (pictures, limits) = (Pictures::default(), Limits::default());
    let precise =
        Settings { tolerance: search::EXACT / 4096.0, gentle: true, single: true, ..settings(&pictures, &limits) };
    let rule = SVG_RULES.iter().find(|rule| rule.name == "paths").unwrap();
    let done = |data: &str| {
        let mut tree = tree(&format!("<svg viewBox=\"0 0 99 99\"><path d=\"{data}\"/></svg>"));
        (rule.apply)(&mut tree, &precise).unwrap();
        text(&tree)
    };
    // Which add up to .64 and 9.080001 in single precision.
    let short = "m0 .1v33.54l9.1 1.7l3 9.98l.02-45.68";
    assert!(done(short).contains(short), "{}", done(short));
    let long = "M 0.00 0.10 L 9.00 0.10";
    assert!(!done(long).contains(long));
}

fn optimised(inner: &str) -> String {
    optimised_to(Goal::Lossless, [90, 9], inner)
}

fn optimised_to(goal: Goal, [width, height]: [u32; 2], inner: &str) -> String {
    let text = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\">{inner}</svg>");
    let (codecs, limits) = (Codecs::default(), Limits::default());
    let fonts = Fonts::new();
    let task = Vector { codecs: &codecs, text: &text, goal, keep_ids: false, fonts: &fonts, size: None };
    let done = optimise(&task, Run { limits: &limits, control: &Unattended }).unwrap().done;
    assert!(done.score >= 90.0 && done.warnings.is_empty(), "{done:?}");
    let text = String::from_utf8(done.bytes).unwrap();
    text[text.find('>').unwrap() + 1..].trim_end_matches("</svg>").to_owned()
}

#[test]
fn numbers_too_coarse_for_the_larger_size_become_a_little_finer_not_exact() {
    let shapes = "<path fill=\"#b87205\" d=\"M30.64277 43.76349 28.04543 49.47402 21.94863 46.845 20.28789 39.47539 27.60129 \
                  39.41986Z\"/><path fill=\"#54630f\" d=\"M43.04329 30.35987 37.84422 34.18622 32.03389 33.67804 32.84553 \
                  27.63139 38.04477 25.91627Z\"/><path fill=\"#99b9cf\" d=\"M48.7323 57.61854 48.10814 67.13568 38.591 \
                  71.49868 29.52533 66.6842 27.86762 57.61854 29.6716 48.69914 38.591 47.46044 49.59383 46.61571Z\"/>";
    let text = optimised_to(Goal::Smart(Preset::Medium), [100, 100], shapes);
    // Three decimals; four are 41 bytes more.
    assert!(text.len() < 300, "{}: {text}", text.len());
}

#[test]
fn what_changes_over_time_keeps_what_it_changes() {
    let moving = "<path id=\"a\" fill=\"red\" d=\"M0 0h9v9z\"><animate attributeName=\"fill\" values=\"red;blue\" dur=\"1s\" \
                  repeatCount=\"indefinite\"/></path><set href=\"#a\" attributeName=\"opacity\" to=\"0\" begin=\"a.click\"/>";
    let text = optimised(moving);
    for part in ["id=\"a\"", "fill=\"red\"", "values=\"red;blue\"", "href=\"#a\"", "begin=\"a.click\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let hidden = "<g display=\"none\"><set attributeName=\"display\" to=\"inline\" begin=\"1s\"/><path d=\"M0 0h9v9z\"/></g><path d=\"M20 0h9v9z\"/>";
    assert!(optimised(hidden).contains("display=\"none\""), "{}", optimised(hidden));
}

#[test]
fn what_is_used_elsewhere_still_inherits_there() {
    let used = "<g fill=\"red\"><path id=\"a\" d=\"M0 0h5v9z\"/><path d=\"M10 0h5v9z\"/></g><use href=\"#a\" x=\"20\" fill=\"blue\"/><use href=\"#a\" x=\"40\"/>";
    let text = optimised(used);
    assert!(text.contains("fill=\"#00f\"") || text.contains("fill=\"blue\""), "{text}");
    assert!(!text.contains("<path id=\"a\" fill"), "{text}");
}

#[test]
fn a_pattern_that_shapes_share_is_declared_around_them_but_never_paints_itself() {
    let pattern = "<pattern id='p' width='8' height='8' patternUnits='userSpaceOnUse'><use href='#t'/></pattern>";
    let shapes = "<path fill='url(#p)' d='M0 0h9v9z'/>".repeat(9);
    let svg = optimised(&format!("<defs><circle id='t' r='3' fill='red'/>{pattern}</defs>{shapes}"));
    assert_eq!(svg.matches("url(#").count(), 0, "{svg}");
    assert!(svg.contains("fill=\"#000\""), "{svg}");
}

#[test]
fn what_is_hidden_at_first_keeps_its_shape_for_when_it_comes() {
    let star = "M8 .25a.75.75 0 01.673.418l1.882 3.815 4.21.612a.75.75 0 01.416 1.279l-3.046 2.97Z";
    let hidden = |style: &str, animation: &str| {
        format!("{style}<g class=\"a\" opacity=\"0\">{animation}<path d=\"{star}\"/></g><path d=\"M40 20h50v60z\"/>")
    };
    let sheet = hidden("<style>.a{animation:k 1s forwards}@keyframes k{to{opacity:1}}</style>", "");
    let smil = hidden("", "<animate attributeName=\"opacity\" to=\"1\" dur=\"1s\" fill=\"freeze\"/>");
    for inner in [sheet, smil] {
        let text = optimised_to(Goal::Smart(Preset::High), [100, 100], &inner);
        assert!(text.contains("01.67"), "{text}");
    }
}

#[test]
fn text_and_what_it_hangs_on_is_exact() {
    let text = optimised(
        "<g transform=\"translate(1.23456789 2)\"><text x=\"1.23456789\" y=\"5\" font-size=\"3.3333333\"> a <tspan>b</tspan> c</text></g>",
    );
    for part in ["x=\"1.23456789\"", "font-size=\"3.3333333\"", "> a <tspan>b</tspan> c<"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_title_and_names_for_readers_stay() {
    let named = "<title>Hill</title><desc>A hill.</desc><g role=\"img\" aria-label=\"x\" aria-labelledby=\"t\"><path id=\"t\" d=\"M0 0h9v9z\"/></g>";
    let text = optimised(named);
    for part in [
        "<title>Hill</title>",
        "<desc>A hill.</desc>",
        "role=\"img\"",
        "aria-label=\"x\"",
        "aria-labelledby=\"a\"",
        "id=\"a\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn down_to_low_renderers_get_the_kinds_of_shapes_that_they_got_before() {
    let circle =
        "<svg viewBox=\"0 0 90 90\"><path d=\"M90 45C90 70 70 90 45 90S0 70 0 45 20 0 45 0s45 20 45 45\"/></svg>";
    let (codecs, pictures, limits, fonts) = (Codecs::default(), Pictures::default(), Limits::default(), Fonts::new());
    let run = Run { limits: &limits, control: &Unattended };
    let count = |name: &str, document: &str, part: &str, kinds: bool| {
        let mut tree = tree(document);
        let rule = SVG_RULES.iter().find(|rule| rule.name == name).unwrap();
        (rule.apply)(&mut tree, &Settings { tolerance: 9.0, kinds, ..settings(&pictures, &limits) }).unwrap();
        text(&tree).matches(part).count()
    };
    let paths = "<svg viewBox=\"0 0 90 90\"><path d=\"M0 0h9v9z\"/><path d=\"M40 0h9v9z\"/></svg>";
    let cases = [("shapes", "<svg viewBox=\"0 0 90 90\"><rect width=\"9\" height=\"8\"/></svg>", "<rect", [0, 1])];
    for (rule, document, part, expected) in cases.into_iter().chain([("merge", paths, "<path", [1, 2])]) {
        assert_eq!([false, true].map(|kinds| count(rule, document, part, kinds)), expected, "{rule}");
    }
    assert!(count("paths", circle, "a", false) > count("paths", circle, "a", true));
    for (goal, kinds) in
        [(Goal::Lossless, true), (Goal::Smart(Preset::Low), true), (Goal::Smart(Preset::Medium), false)]
    {
        let task = Vector { codecs: &codecs, text: "", goal, keep_ids: false, fonts: &fonts, size: None };
        assert_eq!(Settings::exact(&tree(circle), &task, &pictures, run).kinds, kinds);
    }
}

#[test]
fn relative_numbers_do_not_drift_where_a_browser_would_show_it() {
    // Upper edges just between two of the steps in which coverage is counted, at a width of 1024.
    let bars = (0..100).map(|n| format!("M5 {}.0125H95v.4H5z", n + 1)).collect::<String>();
    let text =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 102.4 102.4\"><path d=\"{bars}\"/></svg>");
    let (codecs, pictures, limits, fonts) =
        (Codecs::default(), Pictures::default(), Limits::default(), Fonts::default());
    let run = Run { limits: &limits, control: &Unattended };
    let mut seen = witness::Witness::new(&text, &fonts, run).unwrap();
    let plain = finished(&tree(&text), &settings(&pictures, &limits), &|_| true).unwrap();
    let drifted = seen.in_browsers(&plain, run).unwrap();
    assert!(seen.small(&plain, run).unwrap() == 100.0 && drifted < search::NEAR_SCORE, "{drifted}");
    let goal = Goal::Smart(Preset::Low);
    let task = Vector { codecs: &codecs, text: &text, goal, keep_ids: false, fonts: &fonts, size: None };
    let done = optimise(&task, run).unwrap().done;
    let near = seen.in_browsers(std::str::from_utf8(&done.bytes).unwrap(), run).unwrap();
    assert!(near >= search::NEAR_SCORE && done.bytes.len() < text.len(), "{near}");
}

#[test]
fn digits_against_drift_are_written_only_where_it_shows() {
    let dot = "c-1.105469 0-2 .894531-2 2s.894531 2 2 2c1.101562 0 2-.894531 2-2s-.898438-2-2-2z";
    let dots = format!("<path d=\"m5.996094 1{dot}m0 6{dot}m6 6{dot}\"/>");
    let text = optimised_to(Goal::Smart(Preset::Low), [20, 20], &dots);
    assert!(text.contains("zm6 6"), "no longer absolute: {text}");
}

#[test]
fn an_empty_link_beside_a_name_is_no_reference() {
    let text = optimised(
        "<linearGradient id=\"a\"><stop/></linearGradient><linearGradient id=\"b\" href=\"\" aria-labelledby=\"a\"/><path fill=\"url(#b)\" d=\"M0 0h9v9z\"/>",
    );
    assert!(text.contains("<path"), "{text}");
}

#[test]
fn the_fill_of_an_animation_is_no_paint() {
    let animation = "<animate attributeName=\"width\" from=\"0\" to=\"90\" dur=\"1s\" fill=\"freeze\"/>";
    let frozen = format!("<rect height=\"9\">{animation}</rect>");
    for (inner, sheet) in [(frozen.clone(), ""), (frozen.repeat(9), "<style>*{fill:red}</style>")] {
        let text = optimised(&format!("{sheet}{inner}"));
        let many = inner.matches("freeze").count();
        assert_eq!(text.matches("fill=\"freeze\"").count(), many, "{text}");
    }
}

#[test]
fn declarations_stay_beside_nested_rules() {
    let sheet = "@media all{rect{fill:red;&amp;:hover{fill:blue;stroke:red}stroke-width:2;}}";
    let spaced = sheet.replace('{', " {\n ").replace(":red", " : red ");
    let text = optimised(&format!("<style>{spaced}</style><rect width=\"9\" height=\"8\"/>"));
    assert!(text.contains(sheet), "{text}");
}

#[test]
fn text_inherits_what_only_styles_say() {
    let cases = [
        ("<g style=\"font:10px sans-serif\"><text y=\"9\">a</text></g>", "font:10px sans-serif"),
        ("<g style=\"white-space:pre\"><a><text y=\"9\">a</text></a></g>", "white-space:pre"),
        (
            "<g style=\"line-height:2\"><foreignObject width=\"9\" height=\"9\"><p xmlns=\"http://www.w3.org/1999/xhtml\">a</p></foreignObject></g>",
            "line-height:2",
        ),
        ("<g style=\"font:9px serif;text-anchor:end\"><text y=\"9\">a</text></g>", "text-anchor:end"),
        ("<defs><text id=\"t\" y=\"9\">a</text></defs><use href=\"#t\" style=\"line-height:2\"/>", "line-height:2"),
        ("<text y=\"9\" font-size=\"10\" style=\"font-size:20\">a</text>", "font-size=\"10\""),
    ];
    for (inner, kept) in cases {
        let text = optimised(inner);
        assert!(text.contains(kept), "{inner}: {text}");
    }
    let idle = optimised("<text y=\"9\">a</text><path style=\"line-height:2\" d=\"M0 0h9v9z\"/>");
    assert!(!idle.contains("line-height"), "{idle}");
}

#[test]
fn transforms_stay_with_the_origin_they_turn_around() {
    for inner in [
        "<path transform-origin=\"9 9\" transform=\"rotate(90)\" d=\"M20.25 0h9v4z\"/>",
        "<g transform=\"translate(1 2)\"><path transform-origin=\"5 5\" transform=\"scale(2)\" d=\"M9.5 0h9v4z\"/></g>",
        "<path transform-origin=\"9 9\" transform=\"rotate(45)\" d=\"M20.25 0h9v4z\"/><path transform-origin=\"9 5\" transform=\"rotate(45)\" d=\"M30.25 0h9v4z\"/>",
    ] {
        let text = optimised(inner);
        let origins = inner.matches("transform-origin").count();
        assert_eq!(text.matches("transform-origin").count(), origins, "{text}");
        assert_eq!(text.matches("transform=").count(), inner.matches("transform=").count(), "{text}");
    }
}

#[test]
fn what_an_ancestor_paints_later_is_kept_for_it() {
    let painted =
        |inner: &str| optimised(&format!("<g><set attributeName=\"stroke\" to=\"red\" begin=\"1s\"/>{inner}</g>"));
    let text = painted("<path transform=\"scale(4)\" d=\"M0 0H9V9H0Z\"/>");
    assert!(text.contains("scale(4)") && text.contains("z\""), "{text}");
    let text = painted("<path stroke=\"none\" transform=\"scale(4)\" d=\"M0 0H9V9H0Z\"/>");
    assert!(!text.contains("scale(4)"), "{text}");
}

#[test]
fn what_is_important_stays_above_animations() {
    let moving = |style: &str| {
        optimised(&format!(
            "<rect width=\"9\" height=\"8\" style=\"fill:red{style}\"><animate attributeName=\"fill\" to=\"blue\" dur=\"1s\"/></rect>"
        ))
    };
    assert!(moving("!important").contains("style=\"fill:red!important\""), "{}", moving("!important"));
    assert!(!moving("").contains("style"), "{}", moving(""));
}

#[test]
fn animations_among_definitions_stay() {
    let text = optimised(
        "<defs><animate href=\"#r\" attributeName=\"width\" to=\"90\" dur=\"1s\"/></defs><rect id=\"r\" width=\"9\" height=\"8\"/>",
    );
    assert!(text.contains("<animate"), "{text}");
}

#[test]
fn what_is_used_elsewhere_takes_nothing_over_from_its_groups_and_gives_them_nothing() {
    let text = optimised("<g fill=\"red\"><text id=\"t\">x</text></g><use href=\"#t\" fill=\"blue\"/>");
    assert!(text.contains("<g fill=\"red\">"), "{text}");
    let turned = "transform=\"rotate(45.678 12.34 5.678)\" d=\"M20 0h9v9z\"";
    let text = optimised(&format!(
        "<path id=\"a\" stroke=\"red\" {turned}/><path stroke=\"red\" {turned}/><use href=\"#a\" x=\"9\"/>"
    ));
    assert!(text.contains("<path id=\"a\"") && !text.contains("<g transform"), "{text}");
}

#[test]
fn a_target_of_pointers_stays_in_its_link() {
    let text = optimised(
        "<a href=\"https://example.com/\"><rect width=\"9\" height=\"9\" fill=\"none\" pointer-events=\"all\"/></a><path d=\"M20 0h9v9z\"/>",
    );
    assert!(text.contains("pointer-events=\"all\"") && text.contains("https://example.com/"), "{text}");
}

/// Stops what asks whether to go on.
fn stopped() -> Watch {
    let watch = Watch::default();
    watch.cancel();
    watch
}

#[test]
fn definitions_are_followed_once_and_only_as_long_as_the_host_wants() {
    let chain = |count: usize| {
        let one = |n: usize| format!("<linearGradient id=\"g{n}\" href=\"#g{}\"/>", n + 1);
        tree(&format!("<svg>{}<path d=\"M0 0h9v9z\"/></svg>", (0..count).map(one).collect::<String>()))
    };
    let (pictures, limits) = (Pictures::default(), Limits::default());
    let rule = SVG_RULES.iter().find(|rule| rule.name == "definitions").unwrap();
    let watch = stopped();
    let run = Run { limits: &limits, control: &watch };
    let asked = (rule.apply)(&mut chain(3), &Settings { run, ..settings(&pictures, &limits) });
    assert!(matches!(asked, Err(crate::Error::Stopped(_))), "{asked:?}");
    let mut long = chain(20_000);
    (rule.apply)(&mut long, &settings(&pictures, &limits)).unwrap();
    assert_eq!(text(&long), "<svg><path d=\"M0 0h9v9z\"/></svg>");
    let mut circle = tree("<svg><mask id=\"a\" mask=\"url(#b)\"/><mask id=\"b\" mask=\"url(#a)\"/></svg>");
    (rule.apply)(&mut circle, &settings(&pictures, &limits)).unwrap();
    assert_eq!(text(&circle), "<svg/>");
}

#[test]
fn what_hangs_on_text_is_found_as_long_as_the_host_wants() {
    let hanging = tree(
        "<svg><text mask=\"url(#m)\">x</text><mask id=\"m\"><path fill=\"url(#g)\"/></mask><linearGradient id=\"g\"><stop/></linearGradient><path/></svg>",
    );
    let (limits, watch) = (Limits::default(), stopped());
    let found = style::textual(&hanging, Run { limits: &limits, control: &Unattended }).unwrap();
    let free: Vec<&str> =
        hanging.elements().iter().filter(|id| !found[id.index()]).map(|id| hanging.name(*id)).collect();
    assert_eq!(free, ["path"]);
    let asked = style::textual(&hanging, Run { limits: &limits, control: &watch });
    assert!(matches!(asked, Err(crate::Error::Stopped(_))));
}

#[test]
fn what_browsers_pass_over_takes_nothing_from_elsewhere_and_hides_nothing() {
    let path = |attributes: &str, x: u32| format!("<path {attributes} d=\"M{x} 0h5v9z\"/>");
    let red = (0..3).map(|n| path("fill=\"red\"", n * 9)).collect::<String>();
    for wrong in ["undefined", "rgb(1,2)", "#F0", "null;"] {
        let alone = optimised(&(red.clone() + &path("", 50)));
        assert_eq!(optimised(&(red.clone() + &path(&format!("fill=\"{wrong}\""), 50))), alone, "{wrong}");
        let parent = format!("<g fill=\"lime\">{}</g>", path(&format!("fill=\"{wrong}\""), 0));
        assert_eq!(optimised(&parent), optimised(&path("fill=\"lime\"", 0)), "{wrong}");
        let styled = format!(
            "<g fill=\"lime\">{}</g>",
            path(&format!("style=\"fill:blue;fill:{}\"", wrong.trim_end_matches(';')), 0)
        );
        assert_eq!(optimised(&styled), optimised(&path("fill=\"blue\"", 0)), "{wrong}");
    }
    let fallback = ruled("styles", "<svg><style>.a{fill:red;fill:oklch(60% .2 200)}</style><path class=\"a\"/></svg>");
    assert_eq!(fallback, "<svg><path fill=\"red\" style=\"fill:oklch(60% .2 200)\"/></svg>");
    let unitless = ruled("styles", "<svg><style>rect{width:50;height:8px}</style><rect width=\"9\"/></svg>");
    assert_eq!(unitless, "<svg><rect width=\"9\" style=\"height:8px\"/></svg>");
}

/// What one rule makes of a document.
fn ruled(name: &str, document: &str) -> String {
    let (pictures, limits) = (Pictures::default(), Limits::default());
    let rule = SVG_RULES.iter().find(|rule| rule.name == name).unwrap();
    let mut tree = tree(document);
    (rule.apply)(&mut tree, &settings(&pictures, &limits)).unwrap();
    text(&tree)
}

#[test]
fn rectangles_without_markers_stay_that() {
    let marker = "<marker id=\"m\"><circle r=\"1\"/></marker>";
    let rect = "<rect x=\"20\" width=\"6\" height=\"6\" marker-end=\"url(#m)\"/>";
    let document = format!("<svg viewBox=\"0 0 90 9\">{marker}{rect}</svg>");
    assert_eq!(ruled("shapes", &document), document);
    assert!(!ruled("shapes", &document.replace(" marker-end", " class")).contains("<rect"));
}

#[test]
fn paths_with_inherited_markers_stay_apart() {
    let paths = "<path d=\"M0 0h5v5z\"/><path d=\"M50 0h5v5z\"/>";
    let document = format!("<svg viewBox=\"0 0 90 9\"><g marker-start=\"url(#m)\">{paths}</g></svg>");
    assert_eq!(ruled("merge", &document), document);
    assert_eq!(ruled("merge", &document.replace("url(#m)", "none")).matches("<path").count(), 1);
}

#[test]
fn strokes_join_others_of_their_look_that_they_do_not_touch() {
    let bar = |x: u32, more: &str| format!("<path {more}d=\"M{x} 2v5\"/>");
    let paths = |stroke: &str, paths: &str| {
        let document = format!("<svg viewBox=\"0 0 90 9\"><g fill=\"none\" stroke=\"red\" {stroke}>{paths}</g></svg>");
        ruled("merge", &document).matches("<path").count()
    };
    let three = bar(10, "") + &bar(15, "") + &bar(60, "");
    assert_eq!(paths("", &three), 1);
    assert_eq!(paths("stroke-width=\"3\"", &three), 2, "the third joins the first across the second");
    assert_eq!(paths("stroke-linejoin=\"round\" stroke-width=\"2\"", &three), 1);
    assert_eq!(paths("stroke-linejoin=\"miter\" stroke-width=\"2\"", &three), 2, "corners reach further");
    assert_eq!(paths("stroke-width=\"3%\"", &three), 3);
    assert_eq!(paths("stroke-dasharray=\"2\"", &three), 3);
    assert_eq!(paths("", &three.replace("d=", "vector-effect=\"non-scaling-stroke\" d=")), 3);
    let inside = "<path d=\"M5 0h40v20h-40z\"/><path d=\"M20 10h9\"/>";
    assert_eq!(paths("", inside), 1);
    assert_eq!(paths("", &inside.replace("d=", "fill=\"blue\" d=")), 2);
    let filled = (bar(10, "") + &bar(11, "") + &bar(60, "")).replace("d=", "fill=\"blue\" d=");
    assert_eq!(paths("", &filled), 2, "the third may not lie below the second any more");
}

#[test]
fn the_class_of_the_root_is_for_the_page_around() {
    let looks = "<path fill=\"#123456\" stroke=\"#654321\"/>".repeat(3);
    let text = ruled("classes", &format!("<svg class=\"a icon\">{looks}</svg>"));
    assert!(text.contains("<svg class=\"a icon\">") && text.contains(".b{fill") && !text.contains(".a{"), "{text}");
}

/// What rules leave as it is, since browsers draw it otherwise than what would be shorter.
#[test]
fn rules_leave_alone_what_means_something_else_elsewhere() {
    const KEPT: [(&str, &str); 19] = [
        ("hidden", "<g style=\"stroke:var(--c,#c00)\"><path fill=\"none\" d=\"M0 0h9\"/></g>"),
        ("defaults", "<g style=\"marker:url(#m)\"><path marker-end=\"none\" d=\"M5 5h9\"/></g>"),
        (
            "defaults",
            "<g><set attributeName=\"marker-end\" to=\"url(#m)\"/><path marker-end=\"none\" d=\"M5 5h9\"/></g>",
        ),
        ("hidden", "<path d=\"M5 5\" marker-start=\"url(#m)\"/>"),
        ("properties", "<g style=\"font:9px a;fill:red\"><text fill=\"#00f\">a</text><text fill=\"#00f\">b</text></g>"),
        ("properties", "<svg x=\"2em\" font-size=\"40\"><path/></svg>"),
        ("properties", "<path id=\"q\" d=\"M0 0h9v9z\"/><clipPath><use href=\"#q\" clip-rule=\"evenodd\"/></clipPath>"),
        ("groups", "<g font-size=\"40\"><text font-size=\"2em\">a</text></g>"),
        ("groups", "<g letter-spacing=\"1em\"><text font-size=\"9\">a</text></g>"),
        ("groups", "<g fill=\"red\"><path fill=\"inherit\" d=\"M0 0h9v9z\"/></g>"),
        ("groups", "<clipPath><g><path d=\"M0 0h9v9z\"/></g></clipPath>"),
        (
            "groups",
            "<clipPath id=\"k\"/><g clip-path=\"url(#k)\"><path/><path/></g><g clip-path=\"url(#k)\"><path style=\"mix-blend-mode:multiply\"/></g>",
        ),
        ("transforms", "<linearGradient id=\"a\" href=\"#b\" gradientTransform=\"translate(0)\"/>"),
        ("transforms", "<path id=\"p\" transform=\"translate(20)\" d=\"M0 0h9v9\"/><mpath href=\"#p\"/>"),
        (
            "definitions",
            "<linearGradient id=\"a\"/><linearGradient id=\"b\"><set href=\"#a\" attributeName=\"x2\" to=\"1\"/></linearGradient><path fill=\"url(#a)\"/><path fill=\"url(#b)\"/>",
        ),
        (
            "definitions",
            "<defs fill=\"red\"><pattern id=\"a\"><path/></pattern></defs><defs fill=\"#00f\"><pattern id=\"b\"><path/></pattern></defs><path fill=\"url(#a)\"/><path fill=\"url(#b)\"/>",
        ),
        (
            "gradients",
            "<linearGradient id=\"a\"><stop/><set attributeName=\"x2\" to=\".1\"/></linearGradient><linearGradient id=\"b\" href=\"#a\"/>",
        ),
        (
            "gradients",
            "<linearGradient id=\"a\" gradientTransform=\"scale(3)\"/><linearGradient href=\"#a\" x1=\"0\" y1=\"0\" x2=\"9\" y2=\"0\" gradientTransform=\"scale(2)\"/>",
        ),
        ("styles", "<text style=\"font-kerning:none\">a</text><foreignObject>b</foreignObject>"),
    ];
    let document = |inner: &str| format!("<svg viewBox=\"0 0 90 9\">{inner}</svg>");
    let done = KEPT.map(|(rule, inner)| (rule, ruled(rule, &document(inner)), document(inner)));
    let changed: Vec<_> = done.iter().filter(|(_, after, before)| after != before).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn a_focus_is_looked_for_along_no_endless_way() {
    let chain = |count: usize| {
        let one =
            |n: usize| format!("<radialGradient id=\"g{n}\" fx=\".5\" cx=\".5\" href=\"#g{}\"/>", (n + 1) % count);
        format!("<svg>{}</svg>", (0..count).map(one).collect::<String>())
    };
    assert_eq!(ruled("gradients", &chain(40_000)), chain(40_000));
    let alone = ruled("gradients", "<svg><radialGradient fx=\".5\" cx=\".5\"/></svg>");
    assert_eq!(alone, "<svg><radialGradient cx=\".5\"/></svg>");
}

#[test]
fn numbers_are_as_exact_as_the_largest_that_they_may_be_drawn() {
    let grows = |inner: &str| screen::grows_unseen(&tree(&format!("<svg>{inner}</svg>")));
    assert!(grows("<g style=\"transform:translate(1px,1px) scale(100)\"/>"));
    assert!(grows("<style>@keyframes a{to{scale:9}}</style>"));
    assert!(grows("<animate attributeName=\"viewBox\"/>"));
    assert!(!grows("<g style=\"fill:red\" transform=\"scale(9)\"/><style>a{fill:red}</style>"));
}

#[test]
fn selectors_that_no_browser_understands_pick_nothing() {
    let styled = |sheet: &str| ruled("styles", &format!("<svg><style>{sheet}</style><path class=\"b\"/></svg>"));
    let none = styled(".a{fill:red}");
    for sheet in [".a{fill:red};.b{fill:lime}", ".a{fill:red}}.b{fill:lime}", ".b,{fill:lime}", ",.b{fill:lime}"] {
        assert_eq!(styled(sheet), none, "{sheet}");
    }
    assert!(styled(".a,.b{fill:lime}").contains("lime"));
}
