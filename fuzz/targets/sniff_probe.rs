#![no_main]

use lapidary::{Run, Unattended, codec::Codecs, sniff};
use lapidary_fuzz::{limits, no_defect};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(format) = sniff(bytes) else { return };
    let limits = limits();
    let run = Run { limits: &limits, control: &Unattended };
    if let Some(info) = no_defect(Codecs::default().probe(format, bytes, run)) {
        assert!(info.width > 0 && info.height > 0 && info.frames > 0, "{info:?}");
    }
});
