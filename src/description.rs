//! What a result tells of its input and output: the `input` and `output` objects of the interface.

use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

use crate::{
    codec::{ColourModel, Info},
    format::{Format, GZIP_SIGNATURE},
    operation::Faces,
};

/// A file as described to clients. What a format has no notion of is `None`, and `null` in JSON. Those who are told of a
/// result can read its `input` and `output` into this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Description {
    /// File name, `image.<ext>` for nameless uploads.
    pub name: String,
    /// `JPEG`, `PNG`, `APNG`, `GIF`, `WEBP`, `SVG`, `AVIF`.
    pub format: Format,
    /// Width in pixels as stored, before orientation; results are upright, but for those of stored JPEG coefficients.
    pub width: u32,
    /// Height in pixels, likewise.
    pub height: u32,
    /// Frames; 1 for a still.
    pub frames: u32,
    /// `RGB`, `GRAY`, `CMYK`, `INDEXED`.
    pub colorspace: ColourModel,
    /// Progressive or interlaced.
    pub interlaced: Option<bool>,
    /// Chroma subsampling: `4:2:0`.
    pub sampling: Option<String>,
    /// Bits a pixel.
    pub depth: u16,
    /// Estimated JPEG quality, 1 to 100, on the scale of libjpeg.
    pub quality: Option<u8>,
    /// File size.
    pub bytes: u64,
    /// SHA-1 of the file, in hexadecimal.
    pub sha1: String,
    /// Inputs: the faces, the largest first, where the request asked for them or its crop is better for knowing them; in pixels
    /// of the input as it stands upright, whatever is done to it after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faces: Option<Vec<FaceBox>>,
    /// Outputs: SSIMULACRA2 against the processed picture before encoding, to two decimals; 100 is identical.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Outputs: what did not go as one might expect, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}

/// A rectangle around a face, from brows to chin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FaceBox {
    /// Pixels from the left.
    pub left: u32,
    /// Pixels from the top.
    pub top: u32,
    /// Pixels from left to right, at least 1.
    pub width: u32,
    /// Pixels from top to bottom, at least 1.
    pub height: u32,
}

/// The boxes of `faces` in a picture of `width` x `height`.
pub(crate) fn face_boxes(faces: &Faces, width: u32, height: u32) -> Vec<FaceBox> {
    let boxed = |[left, top, width, height]: [u32; 4]| FaceBox { left, top, width, height };
    faces.found().iter().map(|face| boxed(face.pixels(width, height))).collect()
}

impl Description {
    /// Describes the file `bytes`, whose headers say `info`.
    pub(crate) fn new(name: String, info: Info, bytes: &[u8]) -> Self {
        Self {
            name,
            format: info.format,
            width: info.width,
            height: info.height,
            frames: info.frames,
            colorspace: info.colour,
            interlaced: info.interlaced,
            sampling: info.sampling,
            depth: info.bits_per_pixel,
            quality: info.quality,
            bytes: bytes.len() as u64,
            sha1: Sha1::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
            faces: None,
            score: None,
            warnings: None,
        }
    }
}

/// The last path segment of `name`, or `image.<ext>` where there is none, or nothing but dots.
pub(crate) fn input_name(name: Option<&str>, format: Format) -> String {
    name.and_then(|name| name.rsplit(['/', '\\']).next())
        .filter(|name| !name.trim_matches('.').is_empty())
        .map_or_else(|| format!("image.{}", format.extension()), str::to_owned)
}

/// The input's base name with the extension of the output, whose bytes are `output`; one that already names the format
/// stays. A gzipped SVG is `svgz`, by which who delivers it knows it.
pub(crate) fn output_name(input: &str, format: Format, output: &[u8]) -> String {
    let gzipped = format == Format::Svg && output.starts_with(GZIP_SIGNATURE);
    let known = if gzipped { "svgz" } else { format.extension() };
    let (base, extension) = match input.rsplit_once('.') {
        Some((base, extension)) if !base.is_empty() => (base, extension),
        _ => (input, ""),
    };
    let fits = |known: &str| extension.eq_ignore_ascii_case(known);
    if fits(known) || format == Format::Jpeg && fits("jpeg") || format == Format::Apng && fits("apng") {
        return input.to_owned();
    }
    format!("{base}.{known}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_keeps_the_base_name_and_names_its_format() {
        let cases = [
            ("photo.JPG", Format::Jpeg, "photo.JPG"),
            ("photo.jpeg", Format::Jpeg, "photo.jpeg"),
            ("photo.jpeg", Format::Webp, "photo.webp"),
            ("archive.tar.png", Format::Jpeg, "archive.tar.jpg"),
            ("plain", Format::Png, "plain.png"),
            (".hidden", Format::Png, ".hidden.png"),
            ("logo.svgz", Format::Svg, "logo.svg"),
        ];
        for (input, format, expected) in cases {
            assert_eq!(output_name(input, format, b"<svg"), expected);
        }
        for (input, expected) in [("logo.svg", "logo.svgz"), ("logo.SVGZ", "logo.SVGZ"), ("logo", "logo.svgz")] {
            assert_eq!(output_name(input, Format::Svg, b"\x1f\x8b\x08"), expected);
        }
    }

    #[test]
    fn only_the_last_segment_of_a_path_is_a_name() {
        assert_eq!(input_name(Some("a/b\\c.png"), Format::Png), "c.png");
        assert_eq!(input_name(Some("a/"), Format::Png), "image.png");
        assert_eq!(input_name(Some("a/.."), Format::Gif), "image.gif");
        assert_eq!(input_name(None, Format::Jpeg), "image.jpg");
    }
}
