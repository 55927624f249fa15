#![no_main]

use lapidary::Format;
use lapidary_fuzz::{mended, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    read(Format::Apng, bytes);
    read(Format::Apng, &mended(bytes));
});
