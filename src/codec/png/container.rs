//! Metadata chunks read and replaced.

use libdeflater::{CompressionLvl, Compressor};

use super::{
    chunks,
    colour_chunks::{Colours, colours, measured, said, synthesised},
    inflate::Inflater,
    parts::Parts,
    probe::is_gray,
    text::{Text, hex, iptc_records, unhex},
};
use crate::{
    control::Run,
    error::Result,
    picture::{ColourChunks, Metadata, orientation_alone, photoshop, upright, with_tiff_header},
};

const XMP: &[u8] = b"XML:com.adobe.xmp";
/// Chunks that are kept as they are, and their lengths.
const KEPT: [([u8; 4], usize); 2] = [(*b"pHYs", 9), (*b"tIME", 7)];

/// All metadata; damaged blocks, and what goes beyond the limit over all of them, are left out, but for the orientation.
/// Colours described without a profile come as one.
pub(super) fn metadata(bytes: &[u8], run: Run<'_>) -> Result<Metadata> {
    let parts = Parts::of(bytes)?;
    let mut inflater = Inflater::new(run.limits.metadata_bytes);
    let told = |colours: &Colours<'_>| synthesised(colours, is_gray(&parts));
    let icc = match colours(&parts) {
        Colours::Embedded(zlib) => inflater.inflate(zlib).or_else(|| told(&measured(&parts))),
        colours => told(&colours),
    };
    let mut metadata = Metadata { icc, colours: said(&parts), ..Metadata::default() };
    let block = parts.beside.iter().find(|chunk| &chunk.kind() == b"eXIf" && chunk.intact());
    metadata.exif = block
        .and_then(|chunk| with_tiff_header(chunk.data()))
        .and_then(|tiff| inflater.copy(tiff).or_else(|| orientation_alone(tiff)));
    for chunk in &parts.beside {
        run.check()?;
        if let Some(text) = Text::of(chunk) {
            take_text(&mut metadata, &text, &mut inflater);
        } else if KEPT.contains(&(chunk.kind(), chunk.data().len())) && chunk.intact() {
            metadata.chunks.push((chunk.kind(), chunk.data().to_vec()));
        }
    }
    Ok(metadata)
}

fn take_text(metadata: &mut Metadata, text: &Text<'_>, inflater: &mut Inflater) {
    if let Some(kind) = text.raw_profile() {
        take_raw_profile(metadata, kind, text, inflater);
        return;
    }
    match text.keyword {
        XMP if metadata.xmp.is_none() => metadata.xmp = text.bytes(inflater),
        b"Comment" => metadata.comments.extend(text.string(inflater)),
        XMP => {}
        keyword => {
            let keyword = keyword.iter().map(|&byte| char::from(byte)).collect();
            metadata.texts.extend(text.string(inflater).map(|text| (keyword, text)));
        }
    }
}

fn take_raw_profile(metadata: &mut Metadata, kind: &[u8], text: &Text<'_>, inflater: &mut Inflater) {
    let mut bytes = || text.bytes(inflater).and_then(|text| unhex(&text));
    match kind {
        b"exif" | b"APP1" | b"app1" | b"xmp" => {
            let Some(block) = bytes() else { return };
            if with_tiff_header(&block).is_some() {
                // Nobody turns a picture for the sake of such a block, but as `eXIf` it would be heard.
                metadata.exif = metadata.exif.take().or_else(|| upright(&block));
            } else if let Some(packet) = block.strip_prefix(b"http://ns.adobe.com/xap/1.0/\0") {
                metadata.xmp.get_or_insert_with(|| packet.to_vec());
            } else if kind == b"xmp" {
                metadata.xmp.get_or_insert(block);
            }
        }
        b"iptc" | b"8bim" if metadata.iptc.is_none() => metadata.iptc = bytes().and_then(iptc_records),
        _ => {}
    }
}

/// What shows the pixels, with exactly `metadata` beside it.
pub(super) fn with_metadata(bytes: &[u8], metadata: &Metadata, run: Run<'_>) -> Result<Vec<u8>> {
    let parts = Parts::of(bytes)?;
    parts.check_data(run)?;
    let animated = parts.frames()?.is_some();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let said = metadata.colours.map(|said| {
        write_colours(&mut early, said);
        Colours::of(said)
    });
    // Chunks tell it in fewer bytes than the profile that was made of them.
    let told = said.and_then(|said| synthesised(&said, is_gray(&parts)));
    if let Some(icc) = metadata.icc.as_ref().filter(|&icc| told.as_ref() != Some(icc)) {
        chunks::write(&mut early, b"iCCP", &[b"icc\0\0", &deflated(icc)]);
    }
    if let Some(exif) = &metadata.exif {
        chunks::write(&mut early, b"eXIf", &[exif]);
    }
    if let Some(xmp) = &metadata.xmp {
        write_text(&mut late, XMP, xmp);
    }
    if let Some(iptc) = &metadata.iptc {
        let text = hex("iptc", &photoshop::resources(iptc));
        chunks::write(&mut late, b"zTXt", &[b"Raw profile type iptc\0\0", &deflated(&text)]);
    }
    for (kind, data) in &metadata.chunks {
        chunks::write(&mut early, kind, &[data]);
    }
    for (keyword, text) in &metadata.texts {
        if let Some(keyword) = valid_keyword(keyword) {
            write_text(&mut late, &keyword, text.as_bytes());
        }
    }
    for comment in &metadata.comments {
        write_text(&mut late, b"Comment", comment.as_bytes());
    }
    Ok(parts.file(animated, &early, &late))
}

fn write_colours(out: &mut Vec<u8>, said: ColourChunks) {
    match said {
        ColourChunks::Coded(codes) => chunks::write(out, b"cICP", &[&codes]),
        ColourChunks::Measured(gamma, chromaticities) => {
            chunks::write(out, b"gAMA", &[&gamma.to_be_bytes()]);
            if let Some(values) = chromaticities {
                chunks::write(out, b"cHRM", &values.map(u32::to_be_bytes).each_ref().map(<[u8; 4]>::as_slice));
            }
        }
    }
}

/// ASCII as `tEXt`, the shortest frame; anything else, and XMP by its convention, as `iTXt`. Long texts are compressed
/// where that is shorter.
fn write_text(out: &mut Vec<u8>, keyword: &[u8], text: &[u8]) {
    const WORTH_COMPRESSING: usize = 256;
    let compressed = if text.len() < WORTH_COMPRESSING { Vec::new() } else { deflated(text) };
    let shorter = !compressed.is_empty() && compressed.len() < text.len();
    let plain = text.is_ascii() && !text.contains(&0) && keyword != XMP;
    match (plain, shorter) {
        (true, false) => chunks::write(out, b"tEXt", &[keyword, b"\0", text]),
        (true, true) => chunks::write(out, b"zTXt", &[keyword, b"\0\0", &compressed]),
        (false, false) => chunks::write(out, b"iTXt", &[keyword, b"\0\0\0\0\0", text]),
        (false, true) => chunks::write(out, b"iTXt", &[keyword, b"\0\x01\0\0\0", &compressed]),
    }
}

/// A keyword as the format allows it: 1 to 79 printable Latin-1 characters; `None` where nothing of that is left.
fn valid_keyword(keyword: &str) -> Option<Vec<u8>> {
    let latin = keyword.chars().filter_map(|char| u8::try_from(char).ok());
    let valid: Vec<u8> = latin.filter(|byte| matches!(byte, b' '..=b'~' | 0xA1..)).take(79).collect();
    Some(valid.trim_ascii().to_vec()).filter(|keyword| !keyword.is_empty())
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut out = vec![0; compressor.zlib_compress_bound(bytes.len())];
    // The bound is what the compressor asks for at most, so it cannot run out of space.
    let length = compressor.zlib_compress(bytes, &mut out).unwrap_or_default();
    out.truncate(length);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::png::{
            decode::decode,
            fixtures::{block, deflated, file_with, run},
        },
        control::Unattended,
        limits::Limits,
        picture::{Orientation, orientation_of_exif},
    };

    fn full() -> Metadata {
        Metadata {
            icc: Some((0..=255).collect()),
            colours: Some(ColourChunks::Coded([9, 16, 0, 1])),
            exif: Some(block(true, 6)),
            xmp: Some("<x:xmpmeta>ü</x:xmpmeta>".repeat(40).into_bytes()),
            iptc: Some(b"\x1C\x02\x74\0\x03abc".to_vec()),
            texts: vec![("Author".into(), "Zoë".into()), ("Titre été".into(), "(c) ".repeat(100))],
            comments: vec!["a mark".into(), "second".into()],
            chunks: vec![(*b"pHYs", vec![1; 9]), (*b"tIME", vec![2; 7])],
        }
    }

    #[test]
    fn what_was_written_is_read_back_and_writing_it_again_changes_nothing() {
        let file = file_with(&[(b"pHYs", &[0; 9])], &[(b"tEXt", b"Comment\0old")]);
        for metadata in [full(), Metadata::default()] {
            let written = with_metadata(&file, &metadata, run()).unwrap();
            assert_eq!(super::metadata(&written, run()).unwrap(), metadata);
            assert_eq!(with_metadata(&written, &metadata, run()).unwrap(), written);
            let pixels = |file: &[u8]| decode(&Parts::of(file).unwrap(), run()).unwrap();
            assert_eq!(pixels(&written), pixels(&file));
            assert!(chunks::Chunks::of(&written).unwrap().all(|chunk| chunk.unwrap().intact()));
        }
    }

    #[test]
    fn nothing_but_the_pixels_is_left_without_metadata() {
        let file = file_with(&[(b"gAMA", &[0; 4]), (b"sBIT", &[8; 3])], &[(b"tIME", &[0; 7])]);
        let bare = with_metadata(&[file, b"zip".to_vec()].concat(), &Metadata::default(), run()).unwrap();
        let kinds: Vec<_> = chunks::Chunks::of(&bare).unwrap().map(|chunk| chunk.unwrap().name()).collect();
        assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
    }

    #[test]
    fn a_short_comment_costs_twenty_bytes() {
        let file = file_with(&[], &[]);
        let bare = with_metadata(&file, &Metadata::default(), run()).unwrap();
        let marked = Metadata { comments: vec!["mark".into()], ..Metadata::default() };
        assert_eq!(with_metadata(&file, &marked, run()).unwrap().len(), bare.len() + 20 + 4);
    }

    #[test]
    fn texts_are_found_in_all_three_kinds_of_chunk() {
        let zipped = [b"Comment\0\0", &deflated(b"two")[..]].concat();
        let international = [b"Comment\0\x01\0de\0Kommentar\0", &deflated("drei ü".as_bytes())[..]].concat();
        let file = file_with(
            &[(b"tEXt", b"Comment\0one \xFC"), (b"zTXt", &zipped)],
            &[(b"iTXt", &international), (b"tEXt", b"Software\0none"), (b"tEXt", b"Author\0A")],
        );
        let metadata = metadata(&file, run()).unwrap();
        assert_eq!(metadata.comments, ["one ü", "two", "drei ü"]);
        let text = |keyword: &str, text: &str| (keyword.to_owned(), text.to_owned());
        assert_eq!(metadata.texts, [text("Software", "none"), text("Author", "A")]);
    }

    #[test]
    fn raw_profiles_are_read_and_their_orientation_is_not_heard() {
        let exif = hex("exif", &[b"Exif\0\0", &block(false, 6)[..]].concat());
        let iptc = hex("iptc", &photoshop::resources(b"\x1C\x02\x74\0\x01a"));
        let text = |keyword: &[u8], hex: &[u8]| [b"Raw profile type ", keyword, b"\0\0", &deflated(hex)].concat();
        let file = file_with(&[(b"zTXt", &text(b"exif", &exif)), (b"zTXt", &text(b"iptc", &iptc))], &[]);
        let metadata = metadata(&file, run()).unwrap();
        assert_eq!(orientation_of_exif(&metadata.exif.unwrap()), Orientation::Upright);
        assert_eq!(metadata.iptc.unwrap(), b"\x1C\x02\x74\0\x01a");
    }

    #[test]
    fn blocks_that_are_damaged_or_too_large_are_left_out() {
        let limits = Limits { metadata_bytes: 1000, ..Limits::default() };
        let small = Run { limits: &limits, control: &Unattended };
        let bomb = deflated(&vec![b'x'; 1 << 20]);
        let profile = [b"icc\0\0", &bomb[..]].concat();
        let comment = [b"Comment\0\0", &bomb[..]].concat();
        let file = file_with(
            &[(b"iCCP", &profile), (b"zTXt", &comment), (b"zTXt", b"Comment\0\0broken"), (b"tEXt", b"Comment\0good")],
            &[(b"iTXt", b"Comment"), (b"tEXt", &[0; 9]), (b"eXIf", b"no tiff")],
        );
        let metadata = metadata(&file, small).unwrap();
        assert_eq!(metadata, Metadata { comments: vec!["good".into()], ..Metadata::default() });
    }

    #[test]
    fn the_orientation_stays_of_a_block_that_is_too_large() {
        let limits = Limits { metadata_bytes: 1000, ..Limits::default() };
        let large = [block(true, 6), vec![0; 1000]].concat();
        let file = file_with(&[(b"eXIf", &large)], &[]);
        let metadata = metadata(&file, Run { limits: &limits, control: &Unattended }).unwrap();
        assert_eq!(metadata.orientation(), Orientation::Rotate90);
        assert!(metadata.exif.is_some_and(|exif| exif.len() < 100));
    }

    #[test]
    fn a_damaged_profile_hides_nothing_that_is_said_beside_it() {
        let gamma: (&[u8; 4], &[u8]) = (b"gAMA", &100_000u32.to_be_bytes());
        let icc = |before: &[(&[u8; 4], &[u8])]| metadata(&file_with(before, &[]), run()).unwrap().icc;
        assert!(icc(&[gamma]).is_some());
        assert_eq!(icc(&[(b"iCCP", b"p\0\0not deflate"), gamma]), icc(&[gamma]));
        assert_eq!(icc(&[(b"iCCP", b"p\0\0not deflate"), (b"sRGB", &[0]), gamma]), None);
    }

    #[test]
    fn damaged_pixels_are_not_passed_on() {
        let mut file = file_with(&[], &[]);
        let at = file.windows(4).position(|window| window == b"IDAT").unwrap();
        file[at + 6] ^= 1;
        assert!(with_metadata(&file, &Metadata::default(), run()).is_err());
    }

    #[test]
    fn keywords_of_hosts_become_valid_ones() {
        let valid = |keyword: &str| valid_keyword(keyword).unwrap_or_default();
        assert_eq!(valid("Copyright"), b"Copyright");
        assert_eq!(valid(" a\0b\u{fc}\u{161} "), b"ab\xFC");
        assert_eq!(valid_keyword(" \u{161}"), None);
        assert_eq!(valid(&"k".repeat(100)).len(), 79);
    }
}
