//! Steps of the host's own in the chain.
#![cfg(all(feature = "gif", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use std::sync::{Arc, Mutex};

use image::{DynamicImage, Frame, codecs::gif::GifEncoder, imageops::FilterType};
use lapidary::{
    Engine, Format, Input, Outcome, Result, Run, Unattended,
    operation::{Apply, Operation},
    picture::{Channels, Depth, Layout, Picture, Samples},
};
use pictures::{FORMATS, decoded, file, graphic, logo, request};

/// Lays a red square of 8 pixels into the upper left corner.
#[derive(Debug, Clone, Copy)]
struct Stamp;

impl Operation for Stamp {
    fn name(&self) -> &'static str {
        "stamp"
    }
    fn layout(&self, input: Layout) -> Result<Layout> {
        Ok(Layout { channels: Channels::Rgba, depth: Depth::Eight, ..input })
    }
    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        Ok(Some(Box::new(*self)))
    }
}

impl Apply for Stamp {
    fn apply(&self, picture: Picture, _: Run<'_>) -> Result<Picture> {
        let picture = picture.into_eight().into_channels(Channels::Rgba);
        let (width, height) = (picture.width(), picture.height());
        let Samples::Eight(mut samples) = picture.into_samples() else { unreachable!("eight bits") };
        for (at, pixel) in samples.chunks_exact_mut(4).enumerate() {
            if at % (width as usize) < 8 && at / (width as usize) < 8 {
                pixel.copy_from_slice(&[255, 0, 0, 255]);
            }
        }
        Picture::new(width, height, Channels::Rgba, Samples::Eight(samples))
    }
}

fn stamped(bytes: &[u8], json: &str) -> Result<Outcome> {
    with(Arc::new(Stamp), bytes, json)
}

fn with(operation: Arc<dyn Operation>, bytes: &[u8], json: &str) -> Result<Outcome> {
    let engine = Engine::new().with_operation(operation);
    engine.process(Input { bytes, name: None }, &request(json), &Unattended)
}

/// Keeps the layouts that it is asked for, and fails in one way.
#[derive(Debug, Clone, Default)]
struct Broken {
    asked: Arc<Mutex<Vec<Layout>>>,
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Way {
    #[default]
    None,
    Layout,
    Prepare,
    Apply,
    /// Makes another size than it said.
    Size,
}

impl Operation for Broken {
    fn name(&self) -> &'static str {
        "frame"
    }
    fn layout(&self, input: Layout) -> Result<Layout> {
        assert!(self.way != Way::Layout, "no layout today");
        self.asked.lock().unwrap().push(input);
        Ok(input)
    }
    fn prepare(&self, _: &Picture, _: Run<'_>) -> Result<Option<Box<dyn Apply>>> {
        assert!(self.way != Way::Prepare, "no preparation today");
        Ok(Some(Box::new(self.clone())))
    }
}

impl Apply for Broken {
    fn apply(&self, picture: Picture, _: Run<'_>) -> Result<Picture> {
        assert!(self.way != Way::Apply, "no work today");
        match self.way {
            Way::Size => Picture::new(1, 1, Channels::Gray, Samples::Eight(vec![0])),
            _ => Ok(picture),
        }
    }
}

#[test]
fn a_step_that_panics_or_makes_another_layout_than_it_said_fails_by_its_name() {
    for (format, source) in [(Format::Png, still()), (Format::Gif, animation())] {
        for way in [Way::Layout, Way::Prepare, Way::Apply, Way::Size] {
            let operation = Arc::new(Broken { way, ..Broken::default() });
            let failure = with(operation, &source, "{}").unwrap_err();
            assert_eq!(failure.to_string(), "internal failure while applying frame", "{format} {way:?}");
            let said = std::error::Error::source(&failure).unwrap().to_string();
            assert!(said.contains(if way == Way::Size { "had said" } else { "today" }), "{said}");
        }
    }
}

#[test]
fn a_step_is_asked_for_what_it_will_see() {
    let sixteen = DynamicImage::from(graphic(20, 10).to_rgb16());
    for (source, channels, depth) in
        [(file(&sixteen, Format::Png), Channels::Rgb, Depth::Sixteen), (still(), Channels::Rgb, Depth::Eight)]
    {
        let operation = Broken::default();
        with(Arc::new(operation.clone()), &source, "{}").unwrap();
        let asked = operation.asked.lock().unwrap();
        let as_seen = asked.iter().all(|layout| (layout.channels, layout.depth) == (channels, depth));
        assert!(as_seen && !asked.is_empty(), "{asked:?}");
    }
}

fn still() -> Vec<u8> {
    file(&graphic(20, 10), Format::Png)
}

fn animation() -> Vec<u8> {
    let mut source = Vec::new();
    let mut encoder = GifEncoder::new(&mut source);
    for width in [20, 21] {
        let frame = graphic(width, 10).resize_exact(20, 10, FilterType::Nearest);
        encoder.encode_frame(Frame::new(frame.to_rgba8())).unwrap();
    }
    drop(encoder);
    source
}

#[test]
fn the_step_of_a_host_is_in_every_result_behind_what_was_asked_for() {
    for format in FORMATS {
        let source = file(&graphic(64, 48), format);
        for json in [
            r#"{"optimize": {"compression": "lossless"}}"#,
            r#"{"optimize": {"compression": "low"}}"#,
            r#"{"resize": {"width": 40}, "tone": {"exposure": -100}}"#,
            r#"{"output": {"format": "png"}}"#,
            r#"{"output": {"format": "jpeg"}}"#,
        ] {
            let outcome = stamped(&source, json).unwrap();
            let result = decoded(&outcome.bytes).to_rgb8();
            let near = |a: u8, b: u8| a.abs_diff(b) < 40;
            let [r, g, b] = result.get_pixel(3, 3).0;
            assert!(near(r, 255) && near(g, 0) && near(b, 0), "{format} {json}: {r} {g} {b}");
            assert_eq!(result.width(), if json.contains("resize") { 40 } else { 64 });
            assert!(outcome.output.score.unwrap() > 70.0, "{format} {json}");
        }
    }
}

#[test]
fn alpha_that_a_step_brings_is_flattened_for_jpeg() {
    let result = stamped(&file(&logo(64, 48), Format::Png), r#"{"output": {"format": "jpeg"}}"#).unwrap();
    assert!(decoded(&result.bytes).to_rgb8().get_pixel(60, 44).0.iter().all(|&sample| sample > 245));
}

#[cfg(feature = "svg")]
#[test]
fn an_svg_that_is_to_stay_one_is_refused_by_the_name_of_the_step() {
    let svg = br#"<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><path d="M0 0h9v9z"/></svg>"#;
    let refused = stamped(svg, "{}").unwrap_err().to_string();
    assert_eq!(refused, "stamp of an SVG without a raster output.format is not supported");
    let drawn = stamped(svg, r#"{"output": {"format": "png"}}"#).unwrap();
    assert_eq!(decoded(&drawn.bytes).to_rgba8().get_pixel(3, 3).0, [255, 0, 0, 255]);
}
