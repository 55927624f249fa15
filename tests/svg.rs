//! SVG from end to end: made smaller, made safe, resized, and told apart from pictures of pixels.

#![cfg(feature = "svg")]

mod pictures;

use lapidary::{Engine, Error, Format, Input, Outcome, Request, Unattended, sniff};
use pictures::score;

/// Wide, so that it is drawn quickly at the sizes where results are compared.
const DRAWING: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<!-- Created by hand -->
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1" width="100" height="10" viewBox="0 0 100 10">
  <metadata>Nothing of interest</metadata>
  <defs>
    <linearGradient id="gradient-of-the-sky" x1="0%" y1="0%" x2="0%" y2="100%">
      <stop offset="0" style="stop-color:#0000ff;stop-opacity:1"/>
      <stop offset="1.0" style="stop-color:#ffffff"/>
    </linearGradient>
    <path id="never-used" d="M 0 0 L 10 10"/>
  </defs>
  <rect x="0" y="0" width="100" height="10" style="fill:url(#gradient-of-the-sky)"/>
  <g fill="#ff0000" stroke="none">
    <g>
      <path d="M 10.000000,8.000000 C 10.000000,4.123456 20.123456,2.000000 30.000000,2.000000 L 30.000000,8.000000 Z"/>
      <path fill="#ff0000" d="M 60.0,8.0 L 70.0,2.0 L 80.0,8.0 Z"/>
    </g>
  </g>
</svg>
"##;

fn process(text: &[u8], json: &str) -> Result<Outcome, Error> {
    let request = Request::from_json(json.as_bytes()).unwrap();
    Engine::new().process(Input { bytes: text, name: Some("drawing.svg") }, &request, &Unattended)
}

fn text(outcome: &Outcome) -> String {
    String::from_utf8(outcome.bytes.clone()).unwrap()
}

const GREEN: [u8; 4] = [0, 255, 0, 255];

fn image_of(text: &str) -> image::RgbaImage {
    let png = r#"{"optimize":{"compression":"lossless"},"output":{"format":"png"}}"#;
    image::load_from_memory(&process(text.as_bytes(), png).unwrap().bytes).unwrap().to_rgba8()
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut packer = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let mut gz = vec![0; packer.gzip_compress_bound(text.len())];
    let length = packer.gzip_compress(text.as_bytes(), &mut gz).unwrap();
    gz.truncate(length);
    gz
}

#[test]
fn every_preset_shrinks_a_drawing_and_a_second_pass_changes_nothing() {
    let mut before = DRAWING.len();
    for preset in ["lossless", "low", "medium", "high", "ultra"] {
        let json = format!("{{\"optimize\":{{\"compression\":\"{preset}\"}}}}");
        let outcome = process(DRAWING.as_bytes(), &json).unwrap();
        assert!(outcome.bytes.len() <= before, "{preset}: {} after {before}", outcome.bytes.len());
        // A shorter name of the preset in the mark is all that a finer one may have over a coarser one.
        before = outcome.bytes.len() + 4;
        assert!(outcome.bytes.len() * 2 < DRAWING.len(), "{preset}: {}", text(&outcome));
        assert_eq!(process(&outcome.bytes, &json).unwrap().bytes, outcome.bytes, "{preset}");
        assert_eq!((outcome.output.format, outcome.output.width, outcome.output.height), (Format::Svg, 100, 10));
    }
}

#[test]
fn author_and_rights_survive_in_comments_and_in_pixels_unless_they_are_to_go() {
    let rights = "<rdf:RDF xmlns:rdf=\"urn:rdf\" xmlns:cc=\"urn:cc\" xmlns:dc=\"urn:dc\"><cc:Work><dc:date>1999</dc:date><dc:creator>\
        <cc:Agent><dc:title>Jo</dc:title></cc:Agent></dc:creator></cc:Work></rdf:RDF>";
    let source = DRAWING.replace("Nothing of interest", rights).replace("Created by hand", "! (c) 2024 Jo");
    for asked in ["{}", r#"{"optimize":{"compression":"lossless"},"output":{"metadata":["all"]}}"#] {
        let made = process(source.as_bytes(), asked).unwrap();
        let written = text(&made);
        assert!(written.contains("</svg><!--Author: Jo--><!--(c) 2024 Jo--><!--"), "{written}");
        assert!(!written.contains("1999") && !written.contains("metadata"), "{written}");
        assert_eq!(process(&made.bytes, asked).unwrap().bytes, made.bytes, "{asked}");
        let without = process(&made.bytes, r#"{"optimize":{},"output":{"metadata":[]}}"#).unwrap();
        assert!(!text(&without).contains("Jo"), "{}", text(&without));
    }
    let png = process(source.as_bytes(), r#"{"output":{"format":"png"}}"#).unwrap();
    assert!(png.bytes.windows(10).any(|bytes| bytes == b"(c) 2024 J"));
}

#[test]
fn scripts_go_whatever_is_asked_for_and_the_result_says_so() {
    let text_of =
        r##"<svg xmlns="http://www.w3.org/2000/svg"><script>x</script><path onclick="x" d="M0 0h9v9z"/></svg>"##;
    for json in ["{}", r#"{"optimize":{"compression":"lossless"}}"#, r#"{"resize":{"width":30}}"#] {
        let outcome = process(text_of.as_bytes(), json).unwrap();
        assert!(!text(&outcome).contains("script") && !text(&outcome).contains("onclick"), "{}", text(&outcome));
        assert_eq!(outcome.output.warnings.unwrap()[0], "removed for safety: onclick, script");
    }
}

#[test]
fn the_smallest_drawings_stay_as_they_are_unless_they_are_unsafe() {
    let tiny = r#"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>"#;
    assert_eq!(text(&process(tiny.as_bytes(), "{}").unwrap()), tiny);
    let led = format!("<?xml-stylesheet href=\"https://example.com\"?>{tiny}");
    assert!(!text(&process(led.as_bytes(), "{}").unwrap()).contains("example"));
}

#[test]
fn a_mark_vouches_for_nothing_that_acts() {
    let forged = r#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg><!--medium~f95d94-->"#;
    let outcome = process(forged.as_bytes(), "{}").unwrap();
    assert!(!text(&outcome).contains("script"), "{}", text(&outcome));
    assert_eq!(outcome.output.warnings.unwrap()[0], "removed for safety: script");
    let packed = gzipped(forged);
    let outcome = process(&packed, "{}").unwrap();
    assert_ne!(outcome.bytes, packed);
    assert_eq!(outcome.output.warnings.unwrap()[0], "removed for safety: script");
}

/// A source whose title takes four times as many bytes in the result.
fn smaller_than_its_result(inner: &str) -> String {
    let title = "<".repeat(200);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 90 9\"><title><![CDATA[{title}]]></title>{inner}<path d=\"M0 0h9v9z\"/></svg>"
    )
}

#[test]
fn what_acts_or_leads_elsewhere_is_not_delivered_however_small_its_source_is() {
    let attacks = [
        r#"<x xmlns="u"><script xmlns="http://www.w3.org/2000/svg">EVIL</script></x>"#,
        r#"<math xmlns="http://www.w3.org/1998/Math/MathML" onclick="EVIL"><mi href="EVIL">x</mi></math>"#,
        r#"<a href="https://example.com" xlink:href="javascript:EVIL"><path d="M20 0h9v9z"/></a>"#,
        r#"<path fill="url(//EVIL)" stroke="red" d="M20 0h9v9z"/>"#,
        r#"<foreignObject><p xmlns="http://www.w3.org/1999/xhtml" style="mask:url(//EVIL);color:red">x</p></foreignObject>"#,
        r#"<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'>%3Cscript>EVIL%3C/script>%3C/svg>"/></foreignObject>"#,
        r##"<foreignObject><p xmlns="http://www.w3.org/1999/xhtml" style='color:url("#a&#10;);background:url(https://EVIL/)'>x</p></foreignObject>"##,
        "<style>@media all{p{color:url(\"#a\n);background:url(https://EVIL/)}}</style>",
        "<style>@import 'https://EVIL'</style>",
        "<style>@media all{p{background:u<!-- -->rl(https://EVIL)}}</style>",
        r#"<style>@media all{a{b:"/*";background:url(//EVIL);c:"*/"}}</style>"#,
        r##"<style>@media all{p:before{content:"url('#" url(//EVIL) "')"}}</style>"##,
    ];
    for attack in attacks {
        let outcome = process(smaller_than_its_result(attack).as_bytes(), "{}").unwrap();
        assert!(!text(&outcome).contains("EVIL"), "{attack}\n{}", text(&outcome));
    }
    let formula = process(smaller_than_its_result(attacks[1]).as_bytes(), "{}").unwrap();
    assert_eq!(formula.output.warnings.unwrap()[0], "removed for safety: math");
    let harmless = smaller_than_its_result("<style>@media all{path{fill:red}}</style>");
    assert_eq!(text(&process(harmless.as_bytes(), "{}").unwrap()), harmless);
}

#[test]
fn what_is_mended_is_named_like_what_is_removed() {
    let cases = [
        (r#"<path fill="url(//a.b/c)" stroke="red" d="M0 0h9v9z"/>"#, "fill"),
        (r#"<path style="mask:url(//a.b/c);fill:red" d="M0 0h9v9z"/>"#, "style"),
        ("<style>@import '//a.b/c'</style>", "@import"),
    ];
    for (mended, name) in cases {
        let outcome = process(smaller_than_its_result(mended).as_bytes(), "{}").unwrap();
        assert_eq!(outcome.output.warnings.unwrap()[0], format!("removed for safety: {name}"), "{mended}");
    }
}

#[test]
fn ids_are_kept_where_they_are_asked_for() {
    let kept = process(DRAWING.as_bytes(), r#"{"output":{"keep_ids":true}}"#).unwrap();
    assert!(text(&kept).contains("id=\"gradient-of-the-sky\""), "{}", text(&kept));
    assert!(!text(&process(DRAWING.as_bytes(), "{}").unwrap()).contains("gradient-of-the-sky"));
}

#[test]
fn classes_are_kept_with_ids() {
    let styled = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 9"><style>.a{fill:#123456;stroke:#654321;stroke-width:2}</style><path class="a left" d="M0 0h9v9z"/><path class="a" d="M20 0h9v9z"/><circle class="a right" cx="50" cy="4" r="4"/></svg>"#;
    let kept = process(styled.as_bytes(), r#"{"output":{"keep_ids":true}}"#).unwrap();
    for class in ["a left", "a right", "a"] {
        assert!(text(&kept).contains(&format!("class=\"{class}\"")), "{class}: {}", text(&kept));
    }
    let other = process(styled.as_bytes(), "{}").unwrap();
    assert!(!text(&other).contains("left"), "{}", text(&other));
}

#[test]
fn rules_and_attributes_that_only_hosts_can_use_are_kept_with_ids() {
    let hosted = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 9"><style>.later:hover,[x]{fill:#123456}</style><path p-id="1" q-id="2" d="M 0.000 0.000 L 9.000 0.000 L 9.000 9.000 Z"/></svg>"#;
    let (kept, other) =
        [r#"{"output":{"keep_ids":true}}"#, "{}"].map(|request| process(hosted.as_bytes(), request).unwrap()).into();
    for (word, stays) in [(".later", false), ("q-id", false), ("p-id", false), ("viewBox", true)] {
        assert!(text(&kept).contains(word), "{word}: {}", text(&kept));
        assert_eq!(text(&other).contains(word), stays, "{word}: {}", text(&other));
    }
}

#[test]
fn a_result_with_its_ids_is_another_than_one_without_them() {
    let keeping = r#"{"output":{"keep_ids":true}}"#;
    let kept = process(DRAWING.as_bytes(), keeping).unwrap();
    assert_eq!(process(&kept.bytes, keeping).unwrap().bytes, kept.bytes);
    let again = process(&kept.bytes, "{}").unwrap();
    assert!(!text(&again).contains("gradient-of-the-sky"), "{}", text(&again));
}

#[test]
fn ids_that_are_kept_keep_their_elements() {
    let named = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 9"><defs><g><path id="logo" d="M0 0h9v9z"/></g><linearGradient id="lender"><stop/></linearGradient></defs><linearGradient id="b" href="#lender"/><path fill="url(#b)" d="M0 0h9v9z"/></svg>"##;
    let kept = process(named.as_bytes(), r#"{"output":{"keep_ids":true}}"#).unwrap();
    for id in ["id=\"logo\"", "id=\"lender\"", "id=\"b\""] {
        assert!(text(&kept).contains(id), "{id}: {}", text(&kept));
    }
}

#[test]
fn a_resized_drawing_shows_what_its_alignment_and_its_size_showed() {
    let cases = [
        ("width=\"200\" height=\"100\" viewBox=\"0 0 100 100\"", "-50 0 200 100"),
        ("width=\"200\" height=\"100\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"xMinYMin\"", "0 0 200 100"),
        (
            "width=\"200\" height=\"100\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"xMaxYMid meet\"",
            "-100 0 200 100",
        ),
        ("width=\"200\" height=\"100\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"xMidYMid slice\"", "0 25 100 50"),
        ("width=\"200\" height=\"100\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"xMinYMax slice\"", "0 50 100 50"),
        ("", "0 0 300 150"),
        ("width=\"1in\" height=\".5in\"", "0 0 96 48"),
        ("width=\"100%\" height=\"30\"", "0 0 300 30"),
    ];
    for (attributes, view) in cases {
        let source = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {attributes}><path d=\"M0 0h30v30z\"/></svg>");
        let outcome = process(source.as_bytes(), r#"{"resize":{"width":600}}"#).unwrap();
        let resized = text(&outcome);
        assert!(resized.contains(&format!("viewBox=\"{view}\"")), "{attributes}: {resized}");
        assert!(!resized.contains("preserveAspectRatio") && outcome.output.width == 600, "{attributes}: {resized}");
    }
}

#[test]
fn a_resized_drawing_keeps_shares_of_its_view_box_and_looks_of_its_root_apart() {
    let pad = r##"{"resize":{"width":80,"height":80,"mode":"pad","background":"#00ff00"}}"##;
    let shares = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50"><rect width="50%" height="50%" fill="red"/></svg>"#;
    let resized = text(&process(shares.as_bytes(), pad).unwrap());
    assert!(resized.contains(r#"viewBox="0 -25 100 100""#) && resized.matches("<svg").count() == 2, "{resized}");
    // The left half of the upper half of the drawing, which begins at a quarter of the square.
    let drawn = image_of(&resized);
    let at = |x, y| drawn.get_pixel(x, y).0;
    assert_eq!([at(20, 30), at(20, 50), at(60, 30), at(20, 10)], [[255, 0, 0, 255], GREEN, GREEN, GREEN]);
    let lines = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12" fill="none" stroke="#000" stroke-width="2" fill-opacity=".5"><path d="M4 4h16"/></svg>"##;
    let resized = text(&process(lines.as_bytes(), pad).unwrap());
    let drawn = image_of(&resized);
    assert_eq!([drawn.get_pixel(0, 0).0, drawn.get_pixel(79, 40).0], [GREEN; 2], "{resized}");
}

#[test]
fn a_resized_drawing_is_one_with_another_size_and_the_same_view_box() {
    let cases = [
        (r#"{"resize":{"width":300}}"#, (300, 30), "viewBox=\"0 0 100 10\""),
        (r#"{"upscale":{"factor":4}}"#, (400, 40), "viewBox=\"0 0 100 10\""),
        (r#"{"resize":{"width":80,"height":80,"mode":"fill"}}"#, (80, 80), "preserveAspectRatio=\"none\""),
        (r#"{"resize":{"width":80,"height":80,"mode":"fit"}}"#, (80, 80), "viewBox=\"45 0 10 10\""),
        (r#"{"resize":{"width":80,"height":80,"mode":"fit","gravity":"left"}}"#, (80, 80), "viewBox=\"0 0 10 10\""),
        (
            r##"{"resize":{"width":80,"height":80,"mode":"pad","background":"#00ff00"}}"##,
            (80, 80),
            "viewBox=\"0 -45 100 100\"",
        ),
    ];
    for (json, size, expected) in cases {
        let json = json.replacen('{', r#"{"optimize":{"compression":"lossless"},"#, 1);
        let outcome = process(DRAWING.as_bytes(), &json).unwrap();
        assert_eq!((outcome.output.width, outcome.output.height), size, "{json}");
        assert!(text(&outcome).contains(expected), "{json}: {}", text(&outcome));
    }
}

#[test]
fn the_gravity_smart_crops_a_drawing_around_what_stands_out() {
    let around = |shape: &str, json: &str| {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 20\"><path fill=\"#89a\" d=\"M0 0h100v20H0z\"/>{shape}</svg>"
        );
        let cropped = process(text.as_bytes(), json).unwrap();
        let cropped = self::text(&cropped);
        let view = cropped.split("viewBox=\"").nth(1).unwrap().split('"').next().unwrap();
        let view: Vec<f64> = view.split(' ').map(|number| number.parse().unwrap()).collect();
        (view[0], view[2])
    };
    let smart = r#"{"resize":{"width":40,"height":40,"mode":"fit","gravity":"smart"}}"#;
    for left in [2.0, 44.0, 86.0] {
        let shape = format!("<path fill=\"#f30\" d=\"M{left} 4h12v12h-12z\"/>");
        let (from, width) = around(&shape, smart);
        assert!(width == 20.0 && from <= left && from + width >= left + 12.0, "{left}: {from} {width}");
        // Enlarged first, it is cropped at the same place.
        let enlarged = smart.replacen('{', r#"{"upscale":{"factor":2},"#, 1);
        assert_eq!(around(&shape, &enlarged), (from, width));
    }
}

#[test]
fn work_on_pixels_needs_a_raster_format() {
    for step in ["denoise", "light", "tone", "face"] {
        let error = process(DRAWING.as_bytes(), &format!("{{\"{step}\":true}}")).unwrap_err();
        assert_eq!(error.to_string(), format!("{step} of an SVG without a raster output.format is not supported"));
        assert_eq!(error.status(), 422);
    }
}

#[test]
fn what_would_change_nothing_is_not_refused_of_a_drawing() {
    for json in [
        r#"{"denoise":{"strength":0},"light":{"strength":0},"face":{"strength":0}}"#,
        r#"{"tone":{"exposure":0}}"#,
        r#"{"resize":{"width":40,"gravity":"face"}}"#,
    ] {
        assert!(process(DRAWING.as_bytes(), json).is_ok(), "{json}");
    }
}

#[test]
fn a_gzipped_drawing_comes_back_gzipped() {
    let gz = gzipped(DRAWING);
    let outcome = process(&gz, "{}").unwrap();
    assert_eq!((sniff(&outcome.bytes), &outcome.bytes[..2]), (Some(Format::Svg), &[0x1F, 0x8B][..]));
    assert!(outcome.bytes.len() < gz.len());
    assert_eq!(process(&outcome.bytes, "{}").unwrap().bytes, outcome.bytes);
}

#[test]
fn the_score_is_that_of_the_drawn_result() {
    let large = |text: &[u8]| {
        let json = r#"{"optimize":{"compression":"lossless"},"resize":{"width":2048},"output":{"format":"png"}}"#;
        image::load_from_memory(&process(text, json).unwrap().bytes).unwrap()
    };
    let outcome = process(DRAWING.as_bytes(), r#"{"optimize":{"compression":"ultra"}}"#).unwrap();
    let (told, seen) = (outcome.output.score.unwrap(), score(&large(DRAWING.as_bytes()), &large(&outcome.bytes)));
    assert!(told < 100.0 && (told - seen).abs() < 1.0, "{told} {seen}");
}

/// What comes of a document with these contents, without the mark.
fn shrunk(content: &str, preset: &str) -> String {
    let document = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 10\">{content}</svg>");
    let outcome = process(document.as_bytes(), &format!("{{\"optimize\":{{\"compression\":\"{preset}\"}}}}")).unwrap();
    text(&outcome)
}

#[test]
fn symbols_for_others_keep_their_shapes_whatever_is_around_them() {
    let path = r##"<path d="M12.34567 1v8M3 5a9 9 0 0 0 18 0l2 1" fill="none"/>"##;
    let symbol = format!("<symbol id=\"anchor\" viewBox=\"0 0 1 1\">{path}</symbol>");
    for content in [
        symbol.clone(),
        format!("<g>{symbol}</g>"),
        format!("<linearGradient id=\"sky\"><stop stop-color=\"red\"/></linearGradient>{symbol}"),
    ] {
        for preset in ["lossless", "medium"] {
            let found = shrunk(&content, preset);
            assert!(found.contains("id=\"anchor\"") && found.contains("M12.34567 1v8M3 5a9"), "{preset}: {found}");
            assert!(found.contains("fill=\"none\""), "{preset}: {found}");
        }
    }
}

#[test]
fn what_a_sheet_picks_by_attribute_or_place_stays_what_it_is() {
    let dark = "<style>@media (prefers-color-scheme:dark){[fill=\"#FFFFFF\"]{fill:#000}}</style>";
    let found = shrunk(&format!("{dark}<path fill=\"#FFFFFF\" d=\"M0 0h9v9z\"/>"), "lossless");
    assert!(found.contains("<path fill=\"#FFFFFF\""), "{found}");
    let third = "<style>rect:nth-child(3){fill:red}</style><desc>Created with a pen</desc>";
    let found = shrunk(&format!("{third}<rect width=\"9\" height=\"9\"/>"), "lossless");
    assert!(found.contains("<desc>"), "{found}");
}

#[test]
fn what_grows_in_time_is_as_exact_as_at_its_largest() {
    let flower = "M10.12345 5C10.12345 7.59123 7.59123 10.12345 5 10.12345S-.12345 7.59123-.12345 5 2.40877-.12345 5-.12345 \
                  10.12345 2.40877 10.12345 5z";
    let grows = |to: &str| {
        let scale = format!("<animateTransform attributeName=\"transform\" type=\"scale\" from=\"0.1\" to=\"{to}\"/>");
        let paths = format!("<path d=\"{flower}\"/>").repeat(2);
        shrunk(&format!("<g transform=\"scale(.1)\">{scale}{paths}</g>"), "high").len()
    };
    assert!(grows("8") > grows("0.1") + 20, "{} {}", grows("8"), grows("0.1"));
}

#[test]
fn boxes_that_things_turn_in_and_colours_that_not_all_know_stay() {
    let turned = "<g style=\"transform-box:fill-box\"><rect fill=\"none\" width=\"90\" height=\"9\"/><path d=\"M0 0h9v9z\"/></g>";
    assert!(shrunk(turned, "lossless").contains("<rect"), "{}", shrunk(turned, "lossless"));
    let wide = shrunk("<path fill=\"green\" style=\"fill:color(display-p3 0 1 0)\" d=\"M0 0h9v9z\"/>", "lossless");
    assert!(wide.contains("fill=\"green\"") && wide.contains("style=\"fill:color(display-p3 0 1 0)\""), "{wide}");
}

#[test]
fn text_of_html_stays_with_what_marks_it() {
    let content = "<foreignObject width=\"90\" height=\"9\"><p xmlns=\"http://www.w3.org/1999/xhtml\">Dear <u>customer</u>, \
                   <del>old</del> <ins>new</ins> <mark>this</mark></p></foreignObject>";
    let found = shrunk(content, "lossless");
    for word in ["customer", "old", "new", "this"] {
        assert!(found.contains(word), "{word}: {found}");
    }
}

#[test]
fn styles_and_paths_that_take_long_are_refused_or_left_alone_in_time() {
    let many = |count: usize| (0..count).map(|at| format!("a{at}:b;")).collect::<String>();
    for content in [
        format!("<path style=\"{}\" d=\"M0 0h9v9z\"/>", many(150_000)),
        format!("<style>*{{{}}}</style>{}", many(150_000), "<g/>".repeat(1_000)),
        format!(
            "<style>x {}path{{fill:red}}</style>{}<path d=\"M0 0h9v9z\"/>{}",
            "g ".repeat(20),
            "<g>".repeat(200),
            "</g>".repeat(200)
        ),
        format!(
            "<style><!-- in pieces -->x {}path{{fill:red}}</style>{}<path d=\"M0 0h9v9z\"/>{}",
            "g ".repeat(20),
            "<g>".repeat(200),
            "</g>".repeat(200)
        ),
    ] {
        let document = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">{content}</svg>");
        let outcome = process(document.as_bytes(), r#"{"optimize":{"compression":"high"}}"#).unwrap();
        assert!(outcome.output.warnings.unwrap()[0].contains("could not be drawn"));
        let error = process(document.as_bytes(), r#"{"output":{"format":"png"}}"#).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
    }
}
