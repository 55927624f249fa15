//! `resize`: the size of the result.

use std::{fmt, str::FromStr};

use super::{
    choice::choice,
    json::{Entries, Json},
    read::{Fields, Object},
};

/// The longest side that can be asked for, in pixels. A host's [`Limits`](crate::Limits) may allow less.
pub const LONGEST_SIDE_PX: u32 = 16_383;

choice! {
    /// How a picture meets the box of `width` and `height`.
    #[derive(Default)]
    ResizeMode {
        /// Aspect kept, inside the box; a side that is not given follows the other.
        #[default]
        Auto = "auto",
        /// Covers the box, the excess is cropped by gravity. Needs both sides.
        Fit = "fit",
        /// Exactly the box, aspect not kept. Needs both sides.
        Fill = "fill",
        /// Inside the box, the rest filled with the background. Needs both sides.
        Pad = "pad",
    }
}

choice! {
    /// What to keep of a picture that is cropped.
    #[derive(Default)]
    Gravity {
        /// The middle.
        #[default]
        Center = "center",
        /// The middle of the upper edge.
        Top = "top",
        /// The middle of the lower edge.
        Bottom = "bottom",
        /// The middle of the left edge.
        Left = "left",
        /// The middle of the right edge.
        Right = "right",
        /// The upper left corner.
        TopLeft = "top-left",
        /// The upper right corner.
        TopRight = "top-right",
        /// The lower left corner.
        BottomLeft = "bottom-left",
        /// The lower right corner.
        BottomRight = "bottom-right",
        /// Where there is most to see.
        Smart = "smart",
        /// The largest face; without one as `Smart`.
        Face = "face",
        /// All faces; without one as `Smart`.
        Faces = "faces",
    }
}

/// A colour in sRGB: red, green, blue and straight alpha. Its text is `#rrggbb`, or `#rrggbbaa` where alpha is not 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgba(pub [u8; 4]);

impl FromStr for Rgba {
    type Err = NotAColour;

    fn from_str(text: &str) -> Result<Self, NotAColour> {
        let digits = text.strip_prefix('#').filter(|digits| matches!(digits.len(), 6 | 8)).ok_or(NotAColour)?;
        let mut colour = [255; 4];
        for (channel, pair) in colour.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16).ok_or(NotAColour);
            *channel = u8::try_from(digit(0)? * 16 + digit(1)?).map_err(|_| NotAColour)?;
        }
        Ok(Self(colour))
    }
}

/// A text is neither `#rrggbb` nor `#rrggbbaa`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a colour is #rrggbb or #rrggbbaa")]
pub struct NotAColour;

impl fmt::Display for Rgba {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([red, green, blue, alpha]) = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")?;
        if *alpha == 255 { Ok(()) } else { write!(f, "{alpha:02x}") }
    }
}

/// The size of the result; at least one side is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resize {
    /// Width in pixels, 1 to [`LONGEST_SIDE_PX`]; `None` follows the height.
    pub width: Option<u32>,
    /// Height in pixels, 1 to [`LONGEST_SIDE_PX`]; `None` follows the width.
    pub height: Option<u32>,
    /// How the picture meets the box; [`ResizeMode::Auto`] by default.
    pub mode: ResizeMode,
    /// Where [`ResizeMode::Fit`] crops; [`Gravity::Center`] by default.
    pub gravity: Gravity,
    /// Whether the picture may become larger than it is; it may by default.
    pub upscale: bool,
    /// What [`ResizeMode::Pad`] fills with; `None` is transparent, white where the format has no alpha.
    pub background: Option<Rgba>,
}

impl Resize {
    const fn new(width: Option<u32>, height: Option<u32>, mode: ResizeMode) -> Self {
        Self { width, height, mode, gravity: Gravity::Center, upscale: true, background: None }
    }

    /// To a width in pixels; the height follows.
    pub const fn to_width(width: u32) -> Self {
        Self::new(Some(width), None, ResizeMode::Auto)
    }

    /// To a height in pixels; the width follows.
    pub const fn to_height(height: u32) -> Self {
        Self::new(None, Some(height), ResizeMode::Auto)
    }

    /// Inside a box, aspect kept: [`ResizeMode::Auto`].
    pub const fn inside(width: u32, height: u32) -> Self {
        Self::new(Some(width), Some(height), ResizeMode::Auto)
    }

    /// Covering a box, cropped to it: [`ResizeMode::Fit`].
    pub const fn fit(width: u32, height: u32) -> Self {
        Self::new(Some(width), Some(height), ResizeMode::Fit)
    }

    /// Exactly a box, aspect not kept: [`ResizeMode::Fill`].
    pub const fn fill(width: u32, height: u32) -> Self {
        Self::new(Some(width), Some(height), ResizeMode::Fill)
    }

    /// Inside a box, the rest filled: [`ResizeMode::Pad`].
    pub const fn pad(width: u32, height: u32) -> Self {
        Self::new(Some(width), Some(height), ResizeMode::Pad)
    }

    /// Sets what a crop keeps.
    #[must_use]
    pub const fn gravity(mut self, gravity: Gravity) -> Self {
        self.gravity = gravity;
        self
    }

    /// Sets whether the picture may become larger than it is.
    #[must_use]
    pub const fn upscale(mut self, upscale: bool) -> Self {
        self.upscale = upscale;
        self
    }

    /// Sets what padding is filled with.
    #[must_use]
    pub const fn background(mut self, background: Rgba) -> Self {
        self.background = Some(background);
        self
    }
}

impl Object for Resize {
    fn read(fields: &mut Fields<'_>) -> Self {
        let resize = Self {
            width: fields.integer("width", 1..=LONGEST_SIDE_PX),
            height: fields.integer("height", 1..=LONGEST_SIDE_PX),
            mode: fields.choice("mode").unwrap_or_default(),
            gravity: fields.choice("gravity").unwrap_or_default(),
            upscale: fields.flag("upscale").unwrap_or(true),
            background: fields.checked("background", "must be a colour as #rrggbb or #rrggbbaa", |json| {
                json.text().and_then(|text| text.parse().ok())
            }),
        };
        if resize.mode != ResizeMode::Auto {
            let needed = format!("is required for mode {}", resize.mode);
            fields.require("width", &needed);
            fields.require("height", &needed);
        } else if !fields.has("width") && !fields.has("height") {
            fields.refuse_whole("must have a width, a height or both");
        }
        resize
    }

    fn write(&self) -> Json {
        Entries::default()
            .given("width", self.width)
            .given("height", self.height)
            .unless("mode", self.mode, &ResizeMode::default())
            .unless("gravity", self.gravity, &Gravity::default())
            .unless("upscale", self.upscale, &true)
            .given("background", self.background.map(|colour| Json::from(colour.to_string().as_str())))
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_six_or_eight_hexadecimal_digits_behind_a_hash() {
        for (text, colour, printed) in [
            ("#0a0B0c", [10, 11, 12, 255], "#0a0b0c"),
            ("#0a0b0cff", [10, 11, 12, 255], "#0a0b0c"),
            ("#FFFFFF00", [255, 255, 255, 0], "#ffffff00"),
        ] {
            let read: Rgba = text.parse().unwrap();
            assert_eq!((read, read.to_string().as_str()), (Rgba(colour), printed));
        }
        for text in ["", "#", "ffffff", "#fff", "#ffff", "#ffffff0", "#gggggg", "#+f+f+f", "#ffffff ", "#ääü", "white"]
        {
            assert_eq!(text.parse::<Rgba>(), Err(NotAColour), "{text}");
        }
    }
}
