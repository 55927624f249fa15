//! Profiles that are made here, as every reader takes them (ICC.1:2022).

use moxcms::ColorProfile;

use crate::{
    error::{Error, Result},
    picture::Channels,
};

/// Bytes of the header and the count of tags, and of an entry in the table of tags.
const HEAD: usize = 132;
const ENTRY: usize = 12;
/// Any fixed date (7.2.8); moxcms writes the time of day.
const DATE: [u8; 12] = [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0];
/// The illuminant of the connection space to the digit that the format names (7.2.16); moxcms rounds it otherwise.
const D50: [u8; 12] = [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D];

/// An ICC profile of sRGB for pixels of `channels`, to be embedded in what was converted; the same bytes every time. A gray
/// one has the curve alone, since profiles must be of the space of the pixels.
///
/// # Errors
/// [`Error::Internal`] if it cannot be written, which would be a defect.
pub fn srgb_profile(channels: Channels) -> Result<Vec<u8>> {
    let mut profile = ColorProfile::new_srgb();
    if channels.is_gray() {
        let curve = profile.red_trc.take();
        profile = ColorProfile::new_gray_with_gamma(1.0);
        profile.gray_trc = curve;
    }
    icc_of(&profile)
}

/// The bytes of a profile, the same every time, and so that libpng takes them: tags begin at multiples of 4, and the whole
/// is one, too (7.3.1, 7.2.2).
///
/// # Errors
/// [`Error::Internal`] if it cannot be written.
pub(crate) fn icc_of(profile: &ColorProfile) -> Result<Vec<u8>> {
    let written = profile.encode().map_err(|error| Error::internal("writing a profile", error))?;
    laid_out(&written).ok_or_else(|| Error::internal("writing a profile", "it is cut off"))
}

fn laid_out(written: &[u8]) -> Option<Vec<u8>> {
    let number = |at: usize| Some(u32::from_be_bytes(*written.get(at..)?.first_chunk()?) as usize);
    let table = HEAD..HEAD + number(HEAD - 4)? * ENTRY;
    let mut out = written.get(..table.end)?.to_vec();
    out[24..36].copy_from_slice(&DATE);
    out[68..80].copy_from_slice(&D50);
    for entry in table.step_by(ENTRY) {
        let (from, length) = (number(entry + 4)?, number(entry + 8)?);
        let at = out.len() as u32;
        out[entry + 4..entry + 8].copy_from_slice(&at.to_be_bytes());
        out.extend_from_slice(written.get(from..from.checked_add(length)?)?);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    let length = out.len() as u32;
    out[..4].copy_from_slice(&length.to_be_bytes());
    Some(out)
}
