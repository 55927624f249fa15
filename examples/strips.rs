//! What enhancements make of pictures at 0, 25, 50 and 100, side by side.
//!
//! ```text
//! cargo run --release --example strips -- photo.jpg
//! ```
//!
//! Writes one PNG a picture and operation into `target/strips/`, each part 480 pixels wide at most.

use std::{error::Error, fs, path::Path};

use image::{GenericImage, RgbImage};
use lapidary::{Engine, Input, Request, Unattended};
use serde_json::{Value, json};

const STEPS: [u32; 4] = [0, 25, 50, 100];
const WIDTH: u32 = 480;

/// Names of strips and what they ask for at a strength.
fn operations(strength: u32) -> Vec<(String, Value)> {
    let number = |name: &str| (name.to_owned(), json!({ "tone": { name: strength } }));
    let mut operations = vec![
        ("denoise".to_owned(), json!({ "denoise": { "strength": strength } })),
        ("light".to_owned(), json!({ "light": { "strength": strength } })),
        ("face".to_owned(), json!({ "face": { "strength": strength } })),
        ("auto".to_owned(), json!({ "tone": { "auto": strength > 0 } })),
    ];
    let numbers = ["exposure", "contrast", "highlights", "shadows", "saturation", "warmth", "sharpness"];
    operations.extend(numbers.map(number));
    operations
}

fn enhanced(bytes: &[u8], mut request: Value) -> Result<RgbImage, Box<dyn Error>> {
    request["resize"] = json!({ "width": WIDTH, "upscale": false });
    request["output"] = json!({ "format": "png" });
    request["optimize"] = json!({ "compression": "lossless" });
    let input = Input { bytes, name: None };
    let outcome = Engine::new().process(input, &Request::from_value(&request)?, &Unattended)?;
    Ok(image::load_from_memory(&outcome.bytes)?.to_rgb8())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new("target/strips");
    fs::create_dir_all(folder)?;
    for path in std::env::args().skip(1) {
        let bytes = fs::read(&path)?;
        let stem = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for index in 0..operations(0).len() {
            let (name, _) = operations(0).swap_remove(index);
            let mut parts = Vec::new();
            for step in STEPS {
                parts.push(enhanced(&bytes, operations(step).swap_remove(index).1)?);
            }
            let (width, height) = parts[0].dimensions();
            let mut strip = RgbImage::new(width * parts.len() as u32, height);
            for (part, left) in parts.iter().zip((0..).step_by(width as usize)) {
                strip.copy_from(part, left, 0)?;
            }
            let to = folder.join(format!("{stem}-{name}.png"));
            strip.save(&to)?;
            println!("{}", to.display());
        }
    }
    Ok(())
}
