//! Text in SVG, drawn with a font of Debian's `fonts-dejavu-core`, stays where it was and as it was.
//!
//! Where that package is not installed the tests say so and check nothing, unless `LAPIDARY_FONT` names the font's file,
//! which then has to be there.
#![cfg(all(feature = "jpeg", feature = "svg"))]

use image::RgbImage;
use lapidary::{Engine, Input, Outcome, Request, Unattended, codec::svg::Fonts};

const USUAL: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

/// What texts may have around and in them that rules for shapes would change.
const TEXTS: [&str; 8] = [
    "<text x='12.3456789' y='51.23456' font-size='33.33333'>Hill</text>",
    "<g transform='translate(3.123456 2.654321) scale(1.4142135)' fill='#0000ff'><g><text y='40'>a <tspan dy='-3.33333' fill='red'>b</tspan> c</text></g></g>",
    "<style>.t{font-size:31.41592px;letter-spacing:1.23456px}text{fill:#008000}</style><text class='t' x='9' y='60'>Text</text>",
    "<g style='text-anchor:middle;font-size:28px' stroke='black' stroke-width='.7654321'><text x='150.5555' y='70'>middle</text></g>",
    "<defs><path id='way' d='M 10.1234567,80.7654321 C 80.1234,20.4321 200.5678,20.8765 290.4321,80.1234'/></defs><text font-size='22'><textPath href='#way'>along the way</textPath></text>",
    "<defs><text id='t' x='5' y='30.303030' font-size='20.2020'>used</text></defs><use href='#t' x='10.101010'/><use href='#t' x='110.11111' y='22.2222' fill='red'/>",
    "<text xml:space='preserve' x='10 30.33333 50' y='50' rotate='0 11.1111'>  x  y </text>",
    "<clipPath id='c'><text x='10' y='70' font-size='66.66666'>CLIP</text></clipPath><rect clip-path='url(#c)' width='300.00' height='100.000' fill='#ff0000'/>",
];

/// An engine with the font and one without; `None` where the font is not.
fn engines() -> Option<[Engine; 2]> {
    let file = match std::env::var_os("LAPIDARY_FONT") {
        Some(path) => std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        None => match std::fs::read(USUAL) {
            Ok(file) => file,
            Err(error) => {
                eprintln!("left out, as there is no font: {USUAL}: {error}");
                return None;
            }
        },
    };
    Some([Engine::new().with_fonts(Fonts::new().with(file)), Engine::new()])
}

fn process(engine: &Engine, bytes: &[u8], json: &str) -> Outcome {
    let request = Request::from_json(json.as_bytes()).unwrap();
    engine.process(Input { bytes, name: None }, &request, &Unattended).unwrap()
}

/// Over white, three times as large.
fn drawn(engine: &Engine, svg: &[u8]) -> RgbImage {
    let json = r#"{"output":{"format":"jpeg"},"optimize":{"quality":100},"resize":{"width":900}}"#;
    image::load_from_memory(&process(engine, svg, json).bytes).unwrap().to_rgb8()
}

#[test]
fn text_that_is_not_drawn_is_said() {
    let document =
        |inner: &str| format!("<svg xmlns='http://www.w3.org/2000/svg' width='90' height='30'>{inner}</svg>");
    let text = document("<text y='20'>Hill</text>");
    let shown = document(&format!(
        "<image width='90' height='30' href='data:image/svg+xml,{}'/>",
        text.replace('<', "%3C").replace('\'', "&quot;")
    ));
    let unused = document("<defs><text id='t' y='20'>Hill</text></defs><title>text</title>");
    let said = |engine: &Engine, svg: &str, format: &str| {
        let json = format!("{{\"output\":{{\"format\":\"{format}\"}}}}");
        process(engine, svg.as_bytes(), &json).output.warnings.unwrap()
    };
    let blind = Engine::new();
    for svg in [&text, &shown] {
        assert_eq!(said(&blind, svg, "jpeg"), ["text was not drawn, as no font is given for it"], "{svg}");
    }
    assert!(said(&blind, &unused, "jpeg").is_empty());
    assert!(said(&blind, &text, "svg").is_empty());
    let Some([seeing, _]) = engines() else { return };
    assert!(said(&seeing, &text, "jpeg").is_empty());
    let strange = said(&seeing, &document("<text y='20'>a \u{F0000}</text>"), "jpeg");
    assert_eq!(strange, ["some characters were not drawn, as no font that is given has them"]);
}

#[test]
fn text_is_drawn_the_same_after_every_preset() {
    let Some([seeing, blind]) = engines() else { return };
    for inner in TEXTS {
        let text = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='100'>{inner}<path d='M 280.00,90 h 9.000 v 9 z'/></svg>"
        );
        let before = drawn(&seeing, text.as_bytes());
        assert!(before != drawn(&blind, text.as_bytes()), "no text is drawn: {inner}");
        for preset in ["lossless", "low", "medium", "high", "ultra"] {
            let json = format!("{{\"optimize\":{{\"compression\":\"{preset}\"}}}}");
            // What is rendered without the font sees no text, and has to keep it all the same.
            for engine in [&seeing, &blind] {
                let small = process(engine, text.as_bytes(), &json).bytes;
                let after = drawn(&seeing, &small);
                // Coverage comes in steps of 16, and an edge that moves by a hair may cross one here and there.
                let apart: Vec<u8> = before.iter().zip(after.iter()).map(|(a, b)| a.abs_diff(*b)).collect();
                let (worst, many) = (apart.iter().max().unwrap(), apart.iter().filter(|&&by| by > 4).count());
                let small = String::from_utf8_lossy(&small);
                assert!(*worst <= 40 && many <= 300, "{preset}, {many} by up to {worst}: {inner}\n{small}");
            }
        }
    }
}
