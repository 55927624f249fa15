//! What the headers of a GIF tell.

use super::{
    blocks::{Place, Screen, Stored, Table, Walk},
    canvas, damaged,
};
use crate::{
    codec::{ColourModel, Info, sequence::Disposal},
    control::Run,
    error::Result,
    format::Format,
    picture::Orientation,
};

/// Walks all blocks. A frame counts once its descriptor is whole, so a file may end anywhere behind its first one.
pub(crate) fn probe(bytes: &[u8], run: Run<'_>) -> Result<Info> {
    let (screen, mut walk) = Walk::start(bytes)?;
    let mut seen = Seen::default();
    while let Some(frame) = walk.next_frame(run)? {
        seen.look_at(&frame, screen);
    }
    let first = seen.first.ok_or_else(|| damaged("has no frames"))?;
    let (width, height) = canvas(screen, first.place);
    if width == 0 || height == 0 {
        return Err(damaged(format!("is {width}x{height} pixels")));
    }
    run.limits.check_animation(seen.stored)?;
    Ok(Info {
        format: Format::Gif,
        width,
        height,
        frames: seen.frames,
        colour: ColourModel::Indexed,
        alpha: seen.alpha,
        bits_per_pixel: seen.bits,
        sampling: None,
        interlaced: Some(first.interlaced),
        quality: None,
        lossless: Some(true),
        orientation: Orientation::Upright,
        icc: false,
    })
}

/// What the blocks have told so far.
#[derive(Default)]
struct Seen<'a> {
    frames: u32,
    alpha: bool,
    /// The most bits of an index.
    bits: u16,
    first: Option<Stored<'a>>,
    /// Pixels of frames that lie on the canvas, with what they have beside it.
    stored: u64,
    /// A frame before was taken away, to transparency.
    cleared: bool,
}

impl<'a> Seen<'a> {
    fn look_at(&mut self, frame: &Stored<'a>, screen: Screen<'a>) {
        let Place { x, y, width, height } = frame.place;
        let bare = self.frames == 0 && ((x, y) != (0, 0) || width < screen.width || height < screen.height);
        let bits = frame.table.or(screen.table).map_or(0, Table::bits);
        self.alpha |= bare || self.cleared || frame.control.transparent.is_some();
        // Before the first frame there was nothing.
        let bared = self.frames == 0 && frame.control.disposal == Disposal::Restore;
        self.cleared |= bared || frame.control.disposal == Disposal::Clear;
        self.frames = self.frames.saturating_add(1);
        self.bits = self.bits.max(if bits == 0 { 8 } else { bits });
        let (across, down) = canvas(screen, self.first.get_or_insert(*frame).place);
        if x < across && y < down {
            // Only what is interlaced has its rows below the canvas decompressed.
            let rows = if frame.interlaced { height } else { height.min(down - y) };
            self.stored = self.stored.saturating_add(u64::from(width) * u64::from(rows));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::Unattended, error::Error, limits::Limits};

    fn probed(bytes: &[u8]) -> Result<Info> {
        probe(bytes, Run { limits: &Limits::default(), control: &Unattended })
    }

    /// Header, screen, and a global table of four colours.
    fn head(width: u16, height: u16) -> Vec<u8> {
        [&b"GIF89a"[..], &width.to_le_bytes(), &height.to_le_bytes(), &[0x81, 0, 0], &[0; 12]].concat()
    }

    fn frame(place: [u16; 4], flags: u8) -> Vec<u8> {
        let place: Vec<u8> = place.into_iter().flat_map(u16::to_le_bytes).collect();
        [&[0x2C], &place[..], &[flags, 2, 3, 0x44, 0x01, 0x2C, 0]].concat()
    }

    const TRANSPARENT: &[u8] = &[0x21, 0xF9, 4, 1, 0, 0, 0, 0];

    #[test]
    fn frames_are_counted_by_their_blocks() {
        let comment = b"\x21\xFE\x03\x2C\x2C\x2C\x00";
        let file =
            [head(5, 3), frame([0, 0, 5, 3], 0x40), comment.to_vec(), frame([1, 1, 1, 1], 0), vec![0x3B]].concat();
        let info = probed(&file).unwrap();
        assert_eq!((info.width, info.height, info.frames), (5, 3, 2));
        assert_eq!((info.bits_per_pixel, info.interlaced, info.alpha), (2, Some(true), false));
    }

    #[test]
    fn a_transparent_index_in_any_frame_and_a_first_frame_smaller_than_the_screen_mean_alpha() {
        let second = [head(5, 3), frame([0, 0, 5, 3], 0), TRANSPARENT.to_vec(), frame([0, 0, 5, 3], 0)].concat();
        assert!(probed(&second).unwrap().alpha);
        assert!(probed(&[head(5, 3), frame([1, 0, 4, 3], 0)].concat()).unwrap().alpha);
    }

    #[test]
    fn pixels_beside_the_canvas_count() {
        let wide = |interlaced: u8| {
            let frames: Vec<u8> = (0..5).flat_map(|_| frame([0, 0, 16_000, 3_000], interlaced)).collect();
            probed(&[head(5, 3), frame([0, 0, 5, 3], 0), frames].concat())
        };
        assert!(wide(0).is_ok());
        assert_eq!(
            wide(0x40).unwrap_err().to_string(),
            "source pixels over all frames is 240000015, the limit is 200000000"
        );
    }

    #[test]
    fn a_screen_smaller_than_the_first_frame_grows_to_show_it_and_not_for_later_ones() {
        for (screen, wanted) in [([0, 0], (6, 5)), ([0, 9], (6, 9)), ([4, 3], (6, 5)), ([9, 3], (9, 5))] {
            let frames = [frame([1, 2, 5, 3], 0), frame([0, 0, 20, 20], 0)].concat();
            let info = probed(&[head(screen[0], screen[1]), frames].concat()).unwrap();
            assert_eq!((info.width, info.height), wanted, "{screen:?}");
        }
        let error = probed(&[head(0, 0), frame([0, 0, 0, 0], 0)].concat()).unwrap_err();
        assert_eq!(error.to_string(), "the GIF image is 0x0 pixels");
    }

    #[test]
    fn a_file_may_end_behind_the_descriptor_of_its_first_frame_and_not_before() {
        let file = [head(5, 3), TRANSPARENT.to_vec(), frame([0, 0, 5, 3], 0)].concat();
        let descriptor = file.len() - 6;
        for length in 0..file.len() {
            let result = probed(&file[..length]);
            assert_eq!(result.is_ok(), length >= descriptor, "{length} bytes");
            if let Err(error) = result {
                assert!(matches!(error, Error::Input { .. }), "{error}");
            }
        }
    }

    #[test]
    fn a_local_table_gives_the_bits_of_its_frame() {
        let local = [head(1, 1), frame([0, 0, 1, 1], 0x80 | 7)[..10].to_vec(), vec![0; 768], vec![8, 0]].concat();
        assert_eq!(probed(&local).unwrap().bits_per_pixel, 8);
    }
}
