//! The least there is to say: a picture and a request in, a smaller picture out.
//!
//! ```text
//! cargo run --release --example minimal -- photo.jpg photo-small.webp
//! ```

use lapidary::{Engine, Input, Unattended, request::Request};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = std::env::args().skip(1);
    let (Some(from), Some(to)) = (paths.next(), paths.next()) else { return Err("two paths, please".into()) };

    let request = serde_json::json!({ "resize": { "width": 400, "upscale": false }, "output": { "format": "webp" } });
    let source = std::fs::read(&from)?;
    let input = Input { bytes: &source, name: Some(&from) };
    let outcome = Engine::new().process(input, &Request::from_value(&request)?, &Unattended)?;

    std::fs::write(&to, &outcome.bytes)?;
    println!("{} bytes became {}", source.len(), outcome.bytes.len());
    Ok(())
}
