#![no_main]

use lapidary::{Engine, Format, Input, Request, Unattended, sniff};
use lapidary_fuzz::{limits, mended, no_defect};

/// The first byte of an input names one of these.
const REQUESTS: [&str; 8] = [
    r#"{"optimize": {"compression": "lossless"}}"#,
    r#"{"optimize": {"compression": "lossless"}, "output": {"metadata": ["all"]}}"#,
    r#"{"optimize": {"quality": 50}}"#,
    r#"{"optimize": {"quality": 90}, "output": {"format": "webp", "metadata": ["profile"]}}"#,
    r#"{"optimize": {"compression": "high"}, "output": {"encoding": "baseline"}}"#,
    r#"{"optimize": {"compression": "ultra"}, "output": {"format": "jpeg"}}"#,
    r#"{"optimize": {}, "resize": {"width": 7}, "output": {"format": "png"}}"#,
    r#"{"resize": {"width": 9, "height": 5, "mode": "pad"}, "output": {"metadata": ["date", "location"]}}"#,
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let request = REQUESTS[usize::from(which) % REQUESTS.len()];
    let request = Request::from_json(request.as_bytes()).expect("the requests above are valid");
    let mut limits = limits();
    // A result is read again.
    (limits.frame_pixels, limits.result_pixels) = (1 << 10, 1 << 10);
    let engine = Engine::new().with_limits(limits);
    let process = |bytes| engine.process(Input { bytes, name: None }, &request, &Unattended);
    let png = matches!(sniff(bytes), Some(Format::Png | Format::Apng)).then(|| mended(bytes));
    if let Some(first) = no_defect(process(png.as_deref().unwrap_or(bytes))) {
        let second = process(&first.bytes).expect("our own result is sound");
        assert!(second.bytes == first.bytes, "{} bytes, then {}", first.bytes.len(), second.bytes.len());
    }
});
