//! What a host asks of an engine, and logs, beside results.
#![cfg(all(feature = "gif", feature = "jpeg", feature = "png", feature = "webp"))]

mod pictures;

use lapidary::{Engine, Error, Input, Limits};
use pictures::{FORMATS, attempt, file, photo};

#[test]
fn size_and_format_are_told_before_a_pixel_is_decoded() {
    for format in FORMATS {
        let bytes = file(&photo(200, 160), format);
        let info = Engine::new().probe(&bytes).unwrap();
        assert_eq!((info.format, info.width, info.height), (format, 200, 160));
        let mut limits = Limits::default();
        limits.frame_pixels = 31_999;
        let refused = Engine::new().with_limits(limits).probe(&bytes).unwrap_err();
        assert!(matches!(refused, Error::Limit { wanted: 32_000, allowed: 31_999, .. }), "{format}: {refused}");
    }
    assert!(matches!(Engine::new().probe(b"no picture"), Err(Error::Input { format: None, .. })));
}

#[test]
fn what_is_logged_holds_no_pixels_and_no_weights() {
    let bytes = file(&photo(200, 160), FORMATS[0]);
    let input = Input { bytes: &bytes, name: Some("photo") };
    let outcome = attempt(&bytes, "{}").unwrap();
    for logged in [format!("{:?}", Engine::new()), format!("{input:?}"), format!("{outcome:?}")] {
        assert!(logged.len() < 8_000, "{} characters: {}", logged.len(), &logged[..400]);
    }
}
