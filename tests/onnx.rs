//! A host's own network, run by the library of ONNX Runtime that the environment variable `ONNXRUNTIME_LIBRARY` names.

use std::{
    path::Path,
    sync::{Arc, LazyLock},
};

use lapidary::{
    Engine, Input, Request, Unattended,
    operation::{ChannelOrder, Models, Onnx, OnnxOptions, OnnxRuntime, OnnxSource, Shape},
};

/// Once for all tests of the process.
static RUNTIME: LazyLock<OnnxRuntime> = LazyLock::new(|| {
    let path = std::env::var_os("ONNXRUNTIME_LIBRARY").expect("ONNXRUNTIME_LIBRARY names the library of ONNX Runtime");
    OnnxRuntime::load(Path::new(&path)).unwrap()
});

/// A field of a protocol buffer: bytes with their length.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 127 {
        out.push(length as u8 | 128);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(bytes);
    out
}

/// A field of a protocol buffer: a small number.
fn number(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

fn attribute(name: &str, value: u8) -> Vec<u8> {
    // Of type INT.
    field(5, &[field(1, name.as_bytes()), number(3, value), vec![0xA0, 0x01, 2]].concat())
}

fn node(kind: &str, inputs: &[&str], output: &str, attribute: Vec<u8>) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|input| field(1, input.as_bytes())).collect();
    field(1, &[inputs, field(2, output.as_bytes()), field(4, kind.as_bytes()), attribute].concat())
}

/// Floats of 1 x 3 x height x width, the last two open or `side`.
fn value(name: &str, side: Option<u8>) -> Vec<u8> {
    let open = |name: &str| side.map_or_else(|| field(2, name.as_bytes()), |side| number(1, side));
    let sides = [number(1, 1), number(1, 3), open(&format!("{name}-height")), open(&format!("{name}-width"))];
    let dimensions: Vec<u8> = sides.iter().flat_map(|side| field(1, side)).collect();
    let tensor = field(1, &[number(1, 1), field(2, &dimensions)].concat());
    [field(1, name.as_bytes()), field(2, &tensor)].concat()
}

/// Repeats every pixel twice across and down: four copies of the channels, then depth to space.
fn repeats(side: Option<u8>) -> Vec<u8> {
    let graph = [
        node("Concat", &["x"; 4], "four", attribute("axis", 1)),
        node("DepthToSpace", &["four"], "y", attribute("blocksize", 2)),
        field(2, b"repeats"),
        field(11, &value("x", side)),
        field(12, &value("y", side.map(|side| side * 2))),
    ];
    [number(1, 8), field(8, &number(2, 13)), field(7, &graph.concat())].concat()
}

fn options(tile: u32, margin: u32) -> OnnxOptions {
    OnnxOptions {
        shape: Shape { scale: 2, margin, multiple: 1, tile, work: 0 },
        order: ChannelOrder::Bgr,
        white: 255.0,
        fixed: false,
    }
}

/// 12 x 10 pixels of many colours.
fn source() -> image::RgbImage {
    image::RgbImage::from_fn(12, 10, |x, y| image::Rgb([x as u8 * 20, y as u8 * 25, (x * y) as u8]))
}

fn enlarged(model: Onnx) -> image::RgbImage {
    let mut png = std::io::Cursor::new(Vec::new());
    source().write_to(&mut png, image::ImageFormat::Png).unwrap();
    let mut models = Models::none();
    models.upscale_photo = vec![Arc::new(model)];
    let engine = Engine::new().with_models(models);
    let request =
        Request::from_json(br#"{"upscale": {"factor": 2}, "optimize": {"compression": "lossless"}}"#).unwrap();
    let input = Input { bytes: png.get_ref(), name: None };
    let outcome = engine.process(input, &request, &Unattended).unwrap();
    image::load_from_memory(&outcome.bytes).unwrap().into_rgb8()
}

fn is_repeated(result: &image::RgbImage) -> bool {
    let source = source();
    result.dimensions() == (24, 20)
        && result.enumerate_pixels().all(|(x, y, pixel)| pixel == source.get_pixel(x / 2, y / 2))
}

#[test]
fn a_model_of_a_host_does_the_upscaling_from_memory_or_a_file_in_tiles_of_any_size() {
    let from_memory = Onnx::open(&RUNTIME, OnnxSource::Bytes(&repeats(None)), options(64, 0)).unwrap();
    assert!(is_repeated(&enlarged(from_memory)));
    let path = std::env::temp_dir().join(format!("lapidary-{}.onnx", std::process::id()));
    std::fs::write(&path, repeats(None)).unwrap();
    let from_file = Onnx::open(&RUNTIME, OnnxSource::Path(&path), options(5, 2));
    std::fs::remove_file(&path).unwrap();
    assert!(is_repeated(&enlarged(from_file.unwrap())));
}

#[test]
fn a_model_of_one_size_is_given_that_size() {
    let options = OnnxOptions { fixed: true, ..options(6, 1) };
    let model = Onnx::open(&RUNTIME, OnnxSource::Bytes(&repeats(Some(8))), options).unwrap();
    assert!(is_repeated(&enlarged(model)));
}

#[test]
fn what_is_no_model_or_no_library_is_refused() {
    let error = Onnx::open(&RUNTIME, OnnxSource::Bytes(b"no model"), options(64, 0)).unwrap_err();
    assert_eq!(error.to_string(), "internal failure while opening an ONNX model");
    let error = OnnxRuntime::load(Path::new("no-library.so")).unwrap_err();
    assert_eq!(error.to_string(), "internal failure while loading ONNX Runtime");
}
