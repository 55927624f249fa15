//! The blocks of a GIF, written.

use super::{
    blocks::{Control, Stored, blocks},
    tables::Table,
};
use crate::{codec::sequence::Disposal, picture::Plays};

pub(super) const FRAME: u8 = 0x2C;
pub(super) const EXTENSION: u8 = 0x21;
pub(super) const TRAILER: u8 = 0x3B;
pub(super) const COMMENT: u8 = 0xFE;
pub(super) const APPLICATION: u8 = 0xFF;
const CONTROL: u8 = 0xF9;

/// Writes blocks of at most 255 bytes, and the empty one behind them.
pub(super) fn write_blocks<'a>(out: &mut Vec<u8>, blocks: impl Iterator<Item = &'a [u8]>) {
    for block in blocks.filter(|block| !block.is_empty()) {
        out.push(block.len() as u8);
        out.extend_from_slice(block);
    }
    out.push(0);
}

/// Writes the graphic control extension, unless it says nothing and the frame is the only one. In an animation some
/// readers apply that of the frame before where there is none, or where it leaves the disposal open.
pub(super) fn write_control(out: &mut Vec<u8>, control: Control, still: bool) {
    if still && control == Control::default() {
        return;
    }
    let [low, high] = control.ticks.to_le_bytes();
    let disposal = match control.disposal {
        Disposal::Keep if still => 0,
        Disposal::Keep => 1 << 2,
        Disposal::Clear => 2 << 2,
        Disposal::Restore => 3 << 2,
    };
    let flags = disposal | u8::from(control.transparent.is_some());
    out.extend([EXTENSION, CONTROL, 4, flags, low, high, control.transparent.unwrap_or(0), 0]);
}

/// Writes a frame as it is stored.
pub(super) fn write_stored(out: &mut Vec<u8>, frame: &Stored<'_>, still: bool) {
    write_control(out, frame.control, still);
    out.push(FRAME);
    out.extend_from_slice(frame.head);
    write_blocks(out, blocks(frame.data));
}

/// Writes how often the animation is shown; once is what is not written.
pub(super) fn write_plays(out: &mut Vec<u8>, plays: Plays) {
    let again = match plays {
        Plays::Forever => 0,
        Plays::ONCE => return,
        Plays::Times(times) => times.get() - 1,
    };
    let [low, high] = u16::try_from(again).unwrap_or(u16::MAX).to_le_bytes();
    out.extend([EXTENSION, APPLICATION, 11]);
    out.extend(b"NETSCAPE2.0");
    out.extend([3, 1, low, high, 0]);
}

/// Writes the header, the screen, the global table if it has entries, and the number of plays.
pub(super) fn write_head(out: &mut Vec<u8>, (width, height): (usize, usize), table: &Table, plays: Plays) {
    out.extend(b"GIF89a");
    out.extend((width as u16).to_le_bytes());
    out.extend((height as u16).to_le_bytes());
    let bits = table.bits() - 1;
    let flags = if table.entries.is_empty() { 0 } else { 0x80 | bits };
    out.extend([flags | bits << 4, 0, 0]);
    if !table.entries.is_empty() {
        table.write(out);
    }
    write_plays(out, plays);
}
