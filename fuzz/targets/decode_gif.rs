#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lapidary_fuzz::read(lapidary::Format::Gif, bytes));
