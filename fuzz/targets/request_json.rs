#![no_main]

use lapidary::Request;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let Ok(request) = Request::from_json(text) else { return };
    request.validate().expect("what was read is valid");
    let written = request.to_json();
    assert_eq!(Request::from_value(&written).expect("what was written is valid"), request);
    let text = serde_json::to_vec(&written).expect("JSON can be written");
    assert_eq!(Request::from_json(&text).expect("what was written is valid"), request);
});
