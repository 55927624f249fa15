use std::io::Cursor;

use ::exif::{Context, Exif, Field, In, Rational, Reader, Tag, Value, experimental::Writer};

use super::*;

const DATE: Keep = Keep { date: true, ..Keep::NONE };
const LOCATION: Keep = Keep { location: true, ..Keep::NONE };
const DRAWN: Option<(u32, u32)> = Some((640, 480));
const THUMBNAIL: &[u8] = b"\xFF\xD8thumbnail\xFF\xD9";

fn ascii(tag: Tag, text: &str) -> Field {
    Field { tag, ifd_num: In::PRIMARY, value: Value::Ascii(vec![text.into()]) }
}

fn short(tag: Tag, value: u16) -> Field {
    Field { tag, ifd_num: In::PRIMARY, value: Value::Short(vec![value]) }
}

/// What a camera writes: notices, orientation, dates, a maker note, a position and a thumbnail.
fn camera_fields() -> Vec<Field> {
    let degrees = [48, 8, 30].map(|num| Rational { num, denom: 1 });
    let undefined = |tag, bytes: &[u8]| Field { tag, ifd_num: In::PRIMARY, value: Value::Undefined(bytes.into(), 0) };
    vec![
        ascii(Tag::Make, "Maker"),
        short(Tag::Orientation, 6),
        ascii(Tag::DateTime, "2026:01:02 03:04:05"),
        ascii(Tag::Artist, "Ada"),
        ascii(Tag::Copyright, "(c) Ada"),
        ascii(Tag::DateTimeOriginal, "2025:01:02 03:04:05"),
        ascii(Tag::SubSecTimeOriginal, "25"),
        ascii(Tag::OffsetTimeOriginal, "+01:00"),
        undefined(Tag::MakerNote, b"secret of the maker"),
        ascii(Tag::GPSLatitudeRef, "N"),
        Field { tag: Tag::GPSLatitude, ifd_num: In::PRIMARY, value: Value::Rational(degrees.into()) },
        ascii(Tag::InteroperabilityIndex, "R98"),
    ]
}

fn block(fields: &[Field], thumbnail: Option<&[u8]>, little_endian: bool) -> Vec<u8> {
    let mut writer = Writer::new();
    fields.iter().for_each(|field| writer.push_field(field));
    if let Some(thumbnail) = thumbnail {
        writer.set_jpeg(thumbnail, In::THUMBNAIL);
    }
    let mut out = Cursor::new(Vec::new());
    writer.write(&mut out, little_endian).unwrap();
    out.into_inner()
}

fn camera(little_endian: bool) -> Metadata {
    Metadata {
        icc: Some(vec![1, 2, 3]),
        colours: Some(ColourChunks::Coded([9, 16, 0, 1])),
        exif: Some(block(&camera_fields(), Some(THUMBNAIL), little_endian)),
        xmp: Some(b"<x tiff:Orientation='6'/>".to_vec()),
        iptc: Some(vec![0x1C, 2, 5, 0, 1, b'T']),
        texts: vec![("Author".into(), "P".into())],
        comments: vec!["made by".into()],
        chunks: vec![(*b"pHYs", vec![1; 9])],
    }
}

fn with_exif(exif: Vec<u8>) -> Metadata {
    Metadata { exif: Some(exif), ..Metadata::default() }
}

fn read(metadata: &Metadata) -> Exif {
    Reader::new().read_raw(metadata.exif.clone().unwrap()).unwrap()
}

fn tags(metadata: &Metadata) -> Vec<Tag> {
    read(metadata).fields().map(|field| field.tag).collect()
}

fn text(metadata: &Metadata, tag: Tag) -> Vec<u8> {
    match &read(metadata).get_field(tag, In::PRIMARY).unwrap().value {
        Value::Ascii(texts) => texts.join(&0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_orientation_is_read_in_both_byte_orders_with_and_without_a_prefix() {
    for (value, little_endian) in (1..=8).flat_map(|value| [(value, false), (value, true)]) {
        let exif = block(&[short(Tag::Orientation, value)], None, little_endian);
        assert_eq!(orientation_of_exif(&exif) as u16, value);
        assert_eq!(orientation_of_exif(&[b"Exif\0\0", &exif[..]].concat()) as u16, value);
        assert_eq!(with_exif(exif).orientation() as u16, value);
    }
    assert_eq!(orientation_of_exif(&block(&[short(Tag::Orientation, 9)], None, true)), Orientation::Upright);
}

#[test]
fn blocks_cut_before_their_orientation_are_upright_and_turning_one_changes_nothing_else() {
    for little_endian in [false, true] {
        let turned = |value| block(&[short(Tag::Orientation, value)], None, little_endian);
        for length in 0..20 {
            assert_eq!(orientation_of_exif(&turned(6)[..length.min(18)]), Orientation::Upright);
        }
        assert_eq!(with_exif(turned(8)).kept(Keep::ALL, DRAWN), with_exif(turned(1)));
    }
}

#[test]
fn orientation_is_read_from_a_block_whose_directories_loop() {
    let mut exif = block(&[short(Tag::Orientation, 6)], None, true);
    // The pointer to the next directory, behind one entry of twelve bytes.
    exif[22..26].copy_from_slice(&8u32.to_le_bytes());
    assert_eq!(orientation_of_exif(&exif), Orientation::Rotate90);
    let kept = with_exif(exif).kept(Keep::ALL, None);
    assert_eq!(kept.orientation(), Orientation::Rotate90);
    assert_eq!(tags(&kept), [Tag::Orientation]);
}

#[test]
fn any_cut_or_changed_byte_is_survived_and_keeping_stays_idempotent() {
    let whole = block(&camera_fields(), Some(THUMBNAIL), false);
    let all_but_bytes = Keep { copyright: true, profile: true, date: true, location: true, all: false };
    let check = |exif: Vec<u8>| {
        for (keep, drawn) in [(all_but_bytes, None), (Keep::ALL, DRAWN)] {
            let kept = with_exif(exif.clone()).kept(keep, drawn);
            assert_eq!(kept.kept(keep, drawn), kept, "{exif:?}");
        }
    };
    (0..whole.len()).for_each(|length| check(whole[..length].to_vec()));
    for at in 0..whole.len() {
        for value in [0, 1, 8, 0x7F, 0x80, 0xFF, whole[at].wrapping_add(1), whole[at] ^ 2] {
            let mut changed = whole.clone();
            changed[at] = value;
            check(changed);
        }
    }
}

#[test]
fn copyright_keeps_author_and_notice_and_nothing_else() {
    let kept = camera(true).kept(Keep::COPYRIGHT, DRAWN);
    assert_eq!(tags(&kept), [Tag::Artist, Tag::Copyright]);
    assert_eq!((text(&kept, Tag::Artist), text(&kept, Tag::Copyright)), (b"Ada".to_vec(), b"(c) Ada".to_vec()));
    assert_eq!(kept, with_exif(kept.exif.clone().unwrap()));
    assert_eq!(kept.exif.unwrap().len(), 8 + 2 + 2 * 12 + 4 + 8);
}

#[test]
fn dates_are_kept_with_their_offsets_and_fractions() {
    let kept = camera(false).kept(DATE, DRAWN);
    let expected = [Tag::DateTime, Tag::DateTimeOriginal, Tag::OffsetTimeOriginal, Tag::SubSecTimeOriginal];
    assert_eq!(tags(&kept), expected);
    assert_eq!(text(&kept, Tag::OffsetTimeOriginal), b"+01:00");
}

#[test]
fn location_keeps_the_gps_directory() {
    let kept = camera(true).kept(LOCATION, DRAWN);
    assert_eq!(tags(&kept), [Tag::GPSLatitudeRef, Tag::GPSLatitude]);
    let exif = read(&kept);
    let latitude = exif.get_field(Tag::GPSLatitude, In::PRIMARY).unwrap();
    assert_eq!(latitude.display_value().to_string(), "48 deg 8 min 30 sec");
}

#[test]
fn a_gps_directory_with_nothing_but_its_version_is_no_position() {
    let version = Field { tag: Tag::GPSVersionID, ifd_num: In::PRIMARY, value: Value::Byte(vec![2, 3, 0, 0]) };
    assert_eq!(with_exif(block(&[version], None, true)).kept(LOCATION, DRAWN), Metadata::default());
}

#[test]
fn orientation_and_profile_stay_with_untouched_pixels_and_go_with_others() {
    let stays = camera(true).kept(Keep::NONE, None);
    assert_eq!((stays.orientation(), tags(&stays)), (Orientation::Rotate90, vec![Tag::Orientation]));
    assert_eq!((&stays.icc, stays.colours), (&camera(true).icc, camera(true).colours));
    assert_eq!(camera(true).kept(Keep::NONE, DRAWN), Metadata::default());
    assert_eq!(camera(true).kept(Keep { profile: true, ..Keep::NONE }, DRAWN), Metadata::default());
}

#[test]
fn an_upright_orientation_is_not_worth_a_block() {
    let upright = with_exif(block(&[short(Tag::Orientation, 1)], None, true));
    assert_eq!(upright.kept(Keep::COPYRIGHT, None), Metadata::default());
}

#[test]
fn everything_keeps_all_but_the_thumbnail_and_resets_the_orientation_of_touched_pixels() {
    for little_endian in [false, true] {
        let camera = camera(little_endian);
        let kept = camera.kept(Keep::ALL, DRAWN);
        let exif = kept.exif.clone().unwrap();
        assert_eq!(kept.orientation(), Orientation::Upright);
        assert!(!exif.windows(THUMBNAIL.len()).any(|window| window == THUMBNAIL));
        assert!(exif.len() < camera.exif.as_ref().unwrap().len());
        let primary = |exif: &Exif| {
            let fields = exif.fields().filter(|field| field.ifd_num == In::PRIMARY && field.tag != Tag::Orientation);
            fields.map(|field| format!("{:?}", field)).collect::<Vec<_>>()
        };
        assert_eq!(primary(&read(&kept)), primary(&read(&camera)));
        assert_eq!(read(&kept).fields().filter(|field| field.ifd_num != In::PRIMARY).count(), 0);
        assert_eq!(kept.xmp.as_deref(), Some(&b"<x tiff:Orientation='1'/>"[..]));
        assert_eq!(
            kept,
            Metadata { icc: None, colours: None, exif: kept.exif.clone(), xmp: kept.xmp.clone(), ..camera }
        );
    }
}

#[test]
fn everything_tells_the_size_of_pixels_that_were_drawn_where_it_told_one() {
    let long = |tag, value| Field { tag, ifd_num: In::PRIMARY, value: Value::Long(vec![value]) };
    let fields = [short(Tag::ImageWidth, 9), long(Tag::PixelXDimension, 9), short(Tag::PixelYDimension, 8)];
    for little_endian in [false, true] {
        let source = with_exif(block(&fields, None, little_endian));
        let told = |metadata: &Metadata| {
            let fields = read(metadata);
            fields.fields().map(|field| (field.tag, field.value.get_uint(0))).collect::<Vec<_>>()
        };
        let size = [(Tag::ImageWidth, 640), (Tag::PixelXDimension, 640), (Tag::PixelYDimension, 480)];
        assert_eq!(told(&source.kept(Keep::ALL, DRAWN)), size.map(|(tag, value)| (tag, Some(value))));
        assert_eq!(source.kept(Keep::ALL, None), source);
    }
}

#[test]
fn everything_keeps_orientation_and_profile_of_untouched_pixels() {
    let kept = camera(true).kept(Keep::ALL, None);
    assert_eq!((kept.orientation(), kept.icc, kept.xmp), (Orientation::Rotate90, camera(true).icc, camera(true).xmp));
}

#[test]
fn a_thumbnail_before_other_values_is_blanked_where_it_is() {
    // The maker note moves behind the thumbnail: no longer truncation, but zeros.
    let mut exif = block(&camera_fields(), Some(THUMBNAIL), true);
    let note = exif.windows(19).position(|window| window == b"secret of the maker").unwrap() as u32;
    let reference = exif.windows(4).position(|window| window == note.to_le_bytes()).unwrap();
    let moved = exif.len() as u32;
    exif[reference..reference + 4].copy_from_slice(&moved.to_le_bytes());
    exif.extend(b"another of the maker");
    let kept = with_exif(exif.clone()).kept(Keep::ALL, DRAWN).exif.unwrap();
    assert_eq!(kept.len(), moved as usize + 19);
    assert!(kept.ends_with(b"another of the make"));
    assert!(!kept.windows(9).any(|window| window == b"thumbnail"));
}

#[test]
fn notices_missing_in_exif_come_from_elsewhere_and_those_there_win() {
    let blank = block(&[ascii(Tag::Artist, "        "), ascii(Tag::Copyright, "(c) Ada")], None, true);
    let xmp = b"<dc:creator><rdf:Seq><rdf:li>Zo\xC3\xAB</rdf:li></rdf:Seq></dc:creator><dc:rights>no</dc:rights>";
    let kept = Metadata { xmp: Some(xmp.to_vec()), ..with_exif(blank) }.kept(Keep::COPYRIGHT, DRAWN);
    assert_eq!((text(&kept, Tag::Artist), text(&kept, Tag::Copyright)), ("Zoë".into(), b"(c) Ada".to_vec()));
}

#[test]
fn notices_without_another_place_join_the_exif_that_lacks_them() {
    let notices = vec![("Author".to_owned(), "P".to_owned()), ("Copyright".into(), "(c) P".into())];
    let of = |metadata: &Metadata| with_exif(metadata.exif_with_notices().unwrap());
    let alone = Metadata { texts: notices.clone(), ..Metadata::default() };
    assert_eq!((text(&of(&alone), Tag::Artist), text(&of(&alone), Tag::Copyright)), ("P".into(), b"(c) P".to_vec()));
    for little_endian in [false, true] {
        let fields = camera_fields().into_iter().filter(|field| field.tag != Tag::Copyright).collect::<Vec<_>>();
        let lacking = Metadata { texts: notices.clone(), ..with_exif(block(&fields, None, little_endian)) };
        let joined = of(&lacking);
        assert_eq!((text(&joined, Tag::Artist), text(&joined, Tag::Copyright)), (b"Ada".to_vec(), b"(c) P".to_vec()));
        let others = |metadata: &Metadata| {
            let exif = read(metadata);
            let others = exif.fields().filter(|field| field.tag != Tag::Copyright);
            others.map(|field| format!("{} {:?}", field.tag, field.value)).collect::<Vec<_>>()
        };
        assert_eq!(others(&joined), others(&lacking));
        assert_eq!(joined.exif_with_notices(), joined.exif);
    }
    let rights = b"<dc:creator>X</dc:creator><dc:rights>X</dc:rights>".to_vec();
    assert_eq!(Metadata { xmp: Some(rights), ..alone }.exif_with_notices(), None);
    assert_eq!(camera(true).exif_with_notices(), camera(true).exif);
}

#[test]
fn a_new_block_fits_a_jpeg_segment_however_much_there_is_to_keep() {
    let notice = "é".repeat(40_000);
    let mut fields = vec![ascii(Tag::Artist, &notice), ascii(Tag::Copyright, &format!("x{notice}"))];
    fields.extend((0..=0x40).map(|tag| ascii(Tag(Context::Gps, tag), &"g".repeat(511))));
    fields.extend((0x9003..=0x9292).map(|tag| ascii(Tag(Context::Exif, tag), &"d".repeat(511))));
    let keep = Keep { copyright: true, ..Keep { date: true, ..LOCATION } };
    let kept = with_exif(block(&fields, None, false)).kept(keep, DRAWN);
    assert!(kept.exif.as_ref().unwrap().len() < 65_000);
    assert!(text(&kept, Tag::Artist).len() > 16_000 && String::from_utf8(text(&kept, Tag::Artist)).is_ok());
    assert_eq!(kept.kept(keep, DRAWN), kept);
}

#[test]
fn unreadable_exif_is_not_kept() {
    for exif in [&b""[..], b"garbage", b"II*\0", b"II*\0\xFF\xFF\xFF\xFF", b"MM*\0\0\0\0\x08", b"II*\0\x08\0\0\0"] {
        assert_eq!(with_exif(exif.into()).kept(Keep::ALL, None), Metadata::default(), "{exif:?}");
        assert_eq!(with_exif(exif.into()).kept(Keep::COPYRIGHT, None), Metadata::default(), "{exif:?}");
        assert_eq!(orientation_of_exif(exif), Orientation::Upright);
    }
}

#[cfg(any(feature = "gif", feature = "jpeg", feature = "png"))]
#[test]
fn texts_of_old_are_utf8_or_else_latin1() {
    assert_eq!(text_of(b"Caf\xE9 \xA9".to_vec()), "Caf\u{e9} \u{a9}");
    assert_eq!(text_of("Caf\u{e9}".into()), "Caf\u{e9}");
}
