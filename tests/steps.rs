//! Steps of the host's own in the chain.
#![cfg(all(feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use std::sync::Arc;

use lapidary::{
    Engine, Format, Input, Outcome, Result, Run, Unattended,
    operation::{Apply, Operation},
    picture::{Channels, Layout, Picture, Samples},
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
        Ok(Layout { channels: Channels::Rgba, ..input })
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
    let engine = Engine::new().with_operation(Arc::new(Stamp));
    engine.process(Input { bytes, name: None }, &request(json), &Unattended)
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
