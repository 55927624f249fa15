//! What is asked for and not there is refused by its name, never skipped.
#![cfg(all(feature = "gif", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use lapidary::Error;
use pictures::{FORMATS, attempt, file, photo};

fn refusal(bytes: &[u8], json: &str) -> String {
    let error = attempt(bytes, json).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{json}: {error}");
    error.to_string()
}

#[test]
fn what_the_request_names_is_refused_by_its_name() {
    let cases =
        [(r#"{"output": {"format": "svg"}}"#, "writing SVG"), (r#"{"output": {"format": "avif"}}"#, "writing AVIF")];
    for format in FORMATS {
        let bytes = file(&photo(20, 16), format);
        for (json, name) in cases {
            let text = refusal(&bytes, json);
            assert!(text.starts_with(name) && text.ends_with("is not supported"), "{format} {json}: {text}");
        }
    }
}

#[test]
fn a_format_that_is_only_recognised_is_refused_by_its_name() {
    assert!(refusal(b"\0\0\0\x14ftypavif\0\0\0\0avif", "{}").contains("AVIF"));
}

#[cfg(not(feature = "face"))]
#[test]
fn faces_are_refused_by_a_build_without_them() {
    let bytes = file(&photo(20, 16), lapidary::Format::Png);
    let gravity =
        |name: &str| format!(r#"{{"resize": {{"width": 9, "height": 9, "mode": "fit", "gravity": "{name}"}}}}"#);
    // Before there is a picture, too.
    let refused = |json: &str| {
        let before = lapidary::Engine::new().supports(&pictures::request(json)).unwrap_err();
        assert_eq!(refusal(&bytes, json), before.to_string());
        before.to_string()
    };
    assert!(refused(r#"{"face": true}"#).starts_with("face is not supported"));
    for name in ["face", "faces"] {
        assert!(refused(&gravity(name)).starts_with(&format!(r#"the gravity "{name}""#)));
    }
}
