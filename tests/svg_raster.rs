//! SVG drawn to pixels: exact sizes, transparent ground, nothing read from elsewhere, nothing too large or too deep.
#![cfg(all(feature = "jpeg", feature = "png", feature = "svg", feature = "webp"))]

mod pictures;

use std::{fmt::Write as _, fs, io::ErrorKind, net::TcpListener};

use image::{DynamicImage, Rgba};
use lapidary::{Error, Format};
use pictures::{attempt, decoded, file, process};

/// A red left half and a blue right half, 40 x 20, with `inner` over it.
fn document(inner: &str) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' viewBox='0 0 40 20'>\
         <path fill='#f00' d='M0 0h20v20H0z'/><path fill='#00f' d='M20 0h20v20H20z'/>{inner}</svg>"
    )
}

fn png(svg: &str, resize: &str) -> DynamicImage {
    let json = format!(r#"{{"optimize": {{"compression": "lossless"}}, "output": {{"format": "png"}}{resize}}}"#);
    decoded(&process(svg.as_bytes(), &json).bytes)
}

fn pixel(picture: &DynamicImage, x: u32, y: u32) -> [u8; 4] {
    let Rgba(pixel) = *picture.to_rgba8().get_pixel(x, y);
    pixel
}

const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const LIME: [u8; 4] = [0, 255, 0, 255];

#[test]
fn every_resize_mode_gives_exactly_its_size_and_edges_as_sharp_as_drawn() {
    let cases = [
        ("", (40, 20)),
        (r#", "resize": {"width": 120}"#, (120, 60)),
        (r#", "resize": {"height": 7}"#, (14, 7)),
        (r#", "resize": {"width": 300, "height": 300}"#, (300, 150)),
        (r#", "resize": {"width": 300, "upscale": false}"#, (300, 150)),
        (r#", "resize": {"width": 64, "height": 64, "mode": "fill"}"#, (64, 64)),
        (r#", "resize": {"width": 64, "height": 64, "mode": "fit"}"#, (64, 64)),
        (r#", "resize": {"width": 64, "height": 64, "mode": "pad"}"#, (64, 64)),
        (r#", "resize": {"width": 62, "height": 34, "mode": "fit"}"#, (62, 34)),
    ];
    for (resize, size) in cases {
        let picture = png(&document(""), resize);
        assert_eq!((picture.width(), picture.height()), size, "{resize}");
        let (middle, across) = (size.1 / 2, size.0 / 2);
        let sides = [across - 1, across].map(|x| pixel(&picture, x, middle));
        assert_eq!(sides, [RED, BLUE], "drawn at that size, the edge is between two pixels: {resize}");
    }
}

#[test]
fn a_crop_keeps_the_side_that_gravity_names() {
    let fit = |gravity: &str| {
        png(
            &document(""),
            &format!(r#", "resize": {{"width": 50, "height": 50, "mode": "fit", "gravity": "{gravity}"}}"#),
        )
    };
    let (left, right) = (fit("left"), fit("right"));
    assert_eq!([pixel(&left, 0, 25), pixel(&left, 49, 25)], [RED, RED]);
    assert_eq!([pixel(&right, 0, 25), pixel(&right, 49, 25)], [BLUE, BLUE]);
}

#[test]
fn padding_is_even_and_the_ground_transparent_or_as_asked() {
    let padded =
        png(&document(""), r##", "resize": {"width": 40, "height": 40, "mode": "pad", "background": "#00ff00"}"##);
    let column = [0, 9, 10, 29, 30].map(|y| pixel(&padded, 5, y));
    assert_eq!(column, [LIME, LIME, RED, RED, LIME]);
    let bare =
        png("<svg xmlns='http://www.w3.org/2000/svg' width='8' height='6'><rect width='4' height='6'/></svg>", "");
    assert_eq!((pixel(&bare, 0, 0), pixel(&bare, 7, 5)[3]), ([0, 0, 0, 255], 0));
}

#[test]
fn other_formats_have_the_size_too() {
    for format in ["jpeg", "webp", "gif"] {
        let json = format!(r#"{{"output": {{"format": "{format}"}}, "resize": {{"width": 90}}}}"#);
        let output = process(document("").as_bytes(), &json).output;
        assert_eq!((output.width, output.height), (90, 45), "{format}");
    }
}

#[test]
fn a_document_larger_than_any_source_may_be_is_drawn_small_but_not_large() {
    let huge = "<svg xmlns='http://www.w3.org/2000/svg' width='9000000' height='9000000'><rect width='9e6' height='9e6' fill='red'/></svg>";
    assert_eq!(pixel(&png(huge, r#", "resize": {"width": 5}"#), 2, 2), RED);
    let error = attempt(huge.as_bytes(), r#"{"output": {"format": "png"}}"#).unwrap_err();
    assert_eq!(error.to_string(), "result width in pixels is 9000000, the limit is 16383");
    // Drawn whole to be cropped.
    let wide = "<svg xmlns='http://www.w3.org/2000/svg' width='1000' height='50'/>";
    let cropped = r#"{"output":{"format":"png"},"resize":{"width":1000,"height":1000,"mode":"fit"}}"#;
    let error = attempt(wide.as_bytes(), cropped).unwrap_err();
    assert_eq!(error.to_string(), "drawn width in pixels is 20000, the limit is 16383");
}

#[test]
fn text_is_not_drawn_without_fonts() {
    let text = document("<text y='15' font-size='15' fill='lime'>MMM</text>");
    assert_eq!(png(&text, "").to_rgba8(), png(&document(""), "").to_rgba8());
}

/// A lime picture of 4 x 4.
fn lime() -> Vec<u8> {
    let picture = image::RgbaImage::from_pixel(4, 4, Rgba(LIME));
    file(&picture.into(), Format::Png)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for digit in 0..4 {
            let used = digit <= chunk.len();
            text.push(if used { char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]) } else { '=' });
        }
    }
    text
}

#[test]
fn embedded_pictures_are_drawn_and_those_elsewhere_never_read() {
    let image = |href: &str| document(&format!("<image width='10' height='10' href='{href}'/>"));
    let embedded = format!("data:image/png;base64,{}", base64(&lime()));
    assert_eq!(pixel(&png(&image(&embedded), ""), 5, 5), LIME);
    let nested =
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9' fill='lime'/></svg>";
    let nested = format!("data:image/svg+xml;base64,{}", base64(nested.as_bytes()));
    assert_eq!(pixel(&png(&image(&nested), ""), 5, 5), LIME);

    let folder = std::env::temp_dir().join(format!("lapidary-svg-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("lime.png");
    fs::write(&path, lime()).unwrap();
    let path = path.display();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/lime.png", listener.local_addr().unwrap());
    for href in [format!("{path}"), format!("file://{path}"), address] {
        let through_svg =
            format!("<svg xmlns='http://www.w3.org/2000/svg'><image width='99' height='99' href='{href}'/></svg>");
        let through_svg = format!("data:image/svg+xml;base64,{}", base64(through_svg.as_bytes()));
        for href in [href, through_svg] {
            assert_eq!(pixel(&png(&image(&href), ""), 5, 5), RED, "{href}");
        }
    }
    assert_eq!(listener.accept().map(drop).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock), "nobody came");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_form_of_text_is_read() {
    let plain = document("");
    let expected = png(&plain, "").to_rgba8();
    let utf16 =
        |unit: fn(u16) -> [u8; 2]| format!("\u{feff}{plain}").encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let latin = format!("<?xml version='1.0' encoding='ISO-8859-1'?>{}", document("<title>~</title>"));
    let latin: Vec<u8> = latin.bytes().map(|byte| if byte == b'~' { 0xE9 } else { byte }).collect();
    let entities = format!("<!DOCTYPE svg [<!ENTITY red '#f00'>]>{}", plain.replace("'#f00'", "'&red;'"));
    let forms =
        [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes), latin, entities.into_bytes(), gzipped(plain.as_bytes())];
    for (at, form) in forms.iter().enumerate() {
        let outcome = process(form, r#"{"output": {"format": "png"}, "optimize": {"compression": "lossless"}}"#);
        assert_eq!(decoded(&outcome.bytes).to_rgba8(), expected, "{at}");
    }
}

/// Stored, not compressed.
fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u16;
    let mut file = b"\x1F\x8B\x08\0\0\0\0\0\0\xFF\x01".to_vec();
    file.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
    file.extend_from_slice(bytes);
    let shift = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
    let crc = !bytes.iter().fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shift));
    file.extend_from_slice(&crc.to_le_bytes());
    file.extend_from_slice(&u32::from(length).to_le_bytes());
    file
}

fn refused(svg: &[u8]) -> String {
    let error = attempt(svg, r#"{"output": {"format": "png"}}"#).unwrap_err();
    assert!(matches!(error, Error::Limit { .. } | Error::Input { .. } | Error::Unsupported { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn what_would_take_too_much_is_refused_with_its_number() {
    let deep = document(&("<g>".repeat(300) + &"</g>".repeat(300)));
    let attributes = (0..1_001).fold(String::from("<g"), |g, i| g + &format!(" a{i}=''")) + "/>";
    let mut uses = String::from("<g id='g0'><rect width='1' height='1'/></g>");
    for level in 1..9 {
        let inner = format!("<use href='#g{}'/>", level - 1).repeat(10);
        write!(uses, "<g id='g{level}'>{inner}</g>").unwrap();
    }
    let laughs = (1..9).fold(String::from("<!ENTITY l0 'lol'>"), |all, level| {
        all + &format!("<!ENTITY l{level} '{}'>", format!("&l{};", level - 1).repeat(10))
    });
    let laughs = format!("<!DOCTYPE svg [{laughs}]>{}", document("<title>&l8;</title>"));
    let masks = (0..300).fold(String::new(), |all, at| {
        all + &format!("<mask id='m{at}'><g mask='url(#m{})'><path d='M0 0h9v9z'/></g></mask>", at + 1)
    });
    let masks = document(&(masks + "<g mask='url(#m0)'><path d='M0 0h9v9z'/></g>"));
    let markers = format!(
        "<marker id='m'>{}</marker><path marker-mid='url(#m)' d='M0 0{}'/>",
        "<path d='M0 0h9v9z'/>".repeat(1_000),
        "l1 1".repeat(5_000)
    );
    let pattern = "<pattern id='p' width='1e5' height='1e5' patternUnits='userSpaceOnUse'><rect width='9' height='9'/></pattern>\
                   <rect width='9' height='9' fill='url(#p)'/>";
    let filter = "<filter id='f'><feTurbulence numOctaves='1000000000' baseFrequency='1'/></filter><g filter='url(#f)'><rect width='40' height='20'/></g>";
    let blur = "<filter id='f'><feGaussianBlur stdDeviation='1 1e10'/></filter><g filter='url(#f)'><rect width='40' height='20'/></g>";
    let selectors = format!(
        "<style>{}path{{fill:red}}</style>{}",
        "g ".repeat(20),
        "<g>".repeat(200) + "<path/>" + &"</g>".repeat(200)
    );
    let stops: String = (0..8_000).map(|at| format!("<stop offset='{}'/>", f64::from(at) / 8_000.0)).collect();
    let stops = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='2000' height='2000'><linearGradient id='g'>{stops}</linearGradient>\
         <rect width='2000' height='2000' fill='url(#g)'/></svg>"
    );
    let circles = "<circle r='1e37' stroke='red'/>".repeat(100);
    let fonts = "<svg viewBox='0 0 1e9 1' width='1e9em' font-size='1e9em'>".repeat(3)
        + "<ellipse rx='50%' ry='1e9em'/><rect rx='1e9%' width='1' height='1'/>"
        + &"</svg>".repeat(3);
    let cases = [
        (document("<path d='M1 1A1 1 0 0 1 9 1e30z'/>"), "SVG bytes, references followed is"),
        (document("<path d='M1 1h1e30a1e30 1e30 0 0 1 9 9z'/>"), "SVG bytes, references followed is"),
        (document(&circles), "SVG bytes, references followed is"),
        (document(&fonts), "SVG bytes, references followed is"),
        (deep, "depth of SVG elements is 257"),
        (document(&attributes), "attributes of one SVG element is 1001"),
        (document(&(uses + "<use href='#g8'/>")), "SVG bytes, references followed is"),
        (laughs, "SVG text in bytes, entities resolved is"),
        (masks, "depth of SVG elements, references followed is"),
        (document(&markers), "SVG bytes, references followed is"),
        (document(pattern), "pixels of SVG layers is"),
        (document(filter), "steps to draw the SVG is"),
        (stops, "steps to draw the SVG is"),
        (document(blur), "standard deviation of an SVG blur is 1"),
        (document(&selectors), "tests of SVG style rules against elements is"),
        ("<svg xmlns='http://www.w3.org/2000/svg'>".to_owned() + &"<a/>".repeat(250_000) + "</svg>", "SVG elements"),
    ];
    for (svg, text) in cases {
        let error = refused(svg.as_bytes());
        assert!(error.starts_with(text), "{error}");
    }
}

/// A pattern that draws itself by what it inherits, or by the second of two with its name, would never end.
#[test]
fn paints_that_lead_back_to_themselves_are_refused_and_others_are_drawn() {
    let pattern = |id: &str, attributes: &str, within: &str| {
        format!("<pattern id='{id}' {attributes} width='4' height='4' patternUnits='userSpaceOnUse'>{within}</pattern>")
    };
    let within =
        |group: &str, content: &str| document(&format!("<g {group}>{content}<rect width='9' height='9'/></g>"));
    let rect = "<rect width='3' height='3'/>";
    let around = |attribute: &str| within(attribute, &pattern("p", "", rect));
    let styled = |rule: &str| document(&format!("<style>{rule}</style><g>{}{rect}</g>", pattern("p", "", rect)));
    let copied = format!("{}<rect id='r' width='3' height='3'/>", pattern("p", "", "<use href='#r'/>"));
    let stroked = "<rect stroke='url(#q)' width='3' height='3'/>";
    let filled = pattern("q", "", "<rect fill='url(#p)' width='3' height='3'/>");
    let second = format!("{}{filled}{}<rect fill='url(#p)'/>", pattern("p", "", rect), pattern("p", "", stroked));
    let circles = [
        around("fill='url(#p)'"),
        around("stroke='url(#p)'"),
        styled("g {fill: url(#p)}"),
        styled("svg {stroke: url(\"#p\")}"),
        within("fill='url(#p)'", &copied),
        within("fill='url(#p)'", &copied.replace("<rect", "<rect fill='red'")),
        document(&second),
    ];
    for svg in circles {
        let error = refused(svg.as_bytes());
        assert!(error.contains("refers to itself"), "{svg}: {error}");
    }
    let gradient = "<linearGradient id='p'><stop stop-color='red'/></linearGradient><mask id='m'><rect/></mask>";
    let marker = "<marker id='k'><path d='M0 0h1v1z'/></marker><path d='M1 1h5v5' fill='none'/>";
    let sound = [
        within("fill='url(#p)'", &pattern("p", "fill='red'", rect)),
        within(
            "fill='url(#p)'",
            &pattern("p", "", "<rect fill='red' width='3' height='3'/><image width='3' height='3'/>"),
        ),
        within("fill='url(#p)' mask='url(#m)'", gradient),
        within("fill='url(#p)'", &copied.replace("<use", "<use fill='red'")),
        within("marker-mid='url(#k)'", marker),
        document(&pattern("p", "", &format!("<g id='p'>{rect}</g>"))),
    ];
    for svg in sound {
        png(&svg, "");
    }
}

#[test]
fn of_several_elements_with_a_name_the_first_counts_as_in_browsers() {
    let gradient = |colour: &str| format!("<linearGradient id='a'><stop stop-color='{colour}'/></linearGradient>");
    let clip = |x: u32| format!("<clipPath id='c'><rect x='{x}' width='10' height='20'/></clipPath>");
    let shape = "<rect width='20' height='20' fill='url(#a)' clip-path='url(#c)'/>";
    let (first, second) = (gradient("lime") + &clip(10), gradient("blue") + &clip(0));
    for between in [shape, "<g id='c'/>", "<style>#a {color: red}</style>"] {
        let picture = png(&document(&format!("{first}{between}{second}{shape}")), "");
        assert_eq!((pixel(&picture, 5, 5), pixel(&picture, 15, 5)), (RED, LIME), "{between}");
    }
    let entity = "<!DOCTYPE svg [<!ENTITY n 'é'>]>".to_owned() + &document("<g id='&n;'/><g id='é'/><g id='&n;'/>");
    assert_eq!(png(&entity, "").to_rgba8(), png(&document(""), "").to_rgba8());
}

#[test]
fn colours_and_transforms_of_css_are_drawn_as_on_a_light_screen() {
    let sheet = "<style>:root{--lime:#0f0} @media (prefers-color-scheme:dark){rect{fill:#000!important}} \
        @media screen{.sheet{fill:var(--lime)}}</style>";
    for (rect, what) in [
        ("style='fill:light-dark(#0f0, #000)' fill='#ccc'", "as draw.io exports"),
        ("style='fill:#ccc;fill:color(srgb 0 1 0)'", "as Figma exports"),
        ("style='fill:color(display-p3 0 1 0)'", "beyond the gamut"),
        ("fill='var(--lime)'", "a variable"),
        ("fill='var(--none, #0f0)'", "what stands for a variable"),
        ("class='sheet'", "a sheet for screens"),
        ("fill='#0f0' style='transform:translate(10px) rotate(360deg)'", "a transform with units"),
    ] {
        let picture = png(&document(&format!("{sheet}<rect x='10' width='20' height='20' {rect}/>")), "");
        assert_eq!(pixel(&picture, 25, 10), LIME, "{what}");
    }
}

#[test]
fn numbers_that_cannot_be_drawn_are_refused() {
    let huge = "9".repeat(80);
    let cases = [
        format!("<filter id='f'><feMorphology radius='{huge}'/></filter><g filter='url(#f)'><path d='M2 2h5v5'/></g>"),
        "<image width='99999999999995' height='5' href=\"data:image/svg+xml,&lt;svg xmlns='http://www.w3.org/2000/svg'/>\"/>".into(),
    ];
    for content in cases {
        let error = refused(document(&content).as_bytes());
        assert!(error.contains("cannot be drawn"), "{error}");
    }
}

#[test]
fn what_is_no_sound_document_is_refused_with_the_reason() {
    let cycle = "<g id='a'><use href='#b'/></g><g id='b'><use href='#c'/></g><g id='c'><use href='#a'/></g>";
    let says = |content: &[u8], length: u32| {
        let mut file = gzipped(content);
        file.truncate(file.len() - 4);
        [file, length.to_le_bytes().to_vec()].concat()
    };
    let (bomb, whole) = (says(&[b' '; 0xFFFF], 64 << 20), document(""));
    let cases = [
        (document(cycle).into_bytes(), "refers to itself"),
        (b"<svg width='9' height='9'/>".to_vec(), "lacks the namespace"),
        (document("\n<g>").into_bytes(), "is not well-formed XML: line 2, column 4"),
        (document("<a x:b=''/>").into_bytes(), "nothing declares the namespace prefix x, line 1"),
        (document("").replace("</svg>", "").into_bytes(), "it ends within an element"),
        (document("&nbsp;").into_bytes(), "nothing declares the entity nbsp, line 1"),
        (document("<title>\0</title>").into_bytes(), "is not well-formed XML"),
        (b"<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><svg xmlns='http://www.w3.org/2000/svg'>&x;</svg>".to_vec(), "is not well-formed XML"),
        (document("\u{e9}").replace('\u{e9}', "~").bytes().map(|b| if b == b'~' { 0xE9 } else { b }).collect(), "is not UTF-8"),
        (bomb, "inflated SVG in bytes is 67108864"),
        (says(whole.as_bytes(), 64 << 20), "bytes do not hold the 67108864 it says"),
        (says(whole.as_bytes(), 7), "does not inflate to the 7 bytes it says"),
    ];
    for (svg, text) in cases {
        let error = refused(&svg);
        assert!(error.contains(text), "{error}");
    }
}
