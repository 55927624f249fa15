//! The resize that is asked for, as an operation.

use crate::{
    error::{Error, Result},
    format::Format,
    operation::{Anchor, CAN_LOOK, Fit, Gravity, Operation, Resize},
    picture::Layout,
    request::{self, Request, ResizeMode},
};

/// The resize of a source of this layout; `None` where it would change nothing.
pub(super) fn resized(request: &Request, source: Layout, drawn: bool, format: Format) -> Result<Option<Resize>> {
    let Some(resize) = &request.resize else { return Ok(None) };
    let mut resize = asked(resize, drawn)?;
    if format == Format::Jpeg {
        // Laid on its ground once, not once more when all is.
        let [r, g, b] = ground(request);
        resize.background = [r, g, b, u8::MAX];
    }
    Ok((resize.layout(source)? != source).then_some(resize))
}

/// As an operation. What is drawn gets larger whether or not it may be enlarged.
pub(super) fn asked(asked: &request::Resize, drawn: bool) -> Result<Resize> {
    Ok(Resize {
        width: asked.width,
        height: asked.height,
        fit: match asked.mode {
            ResizeMode::Auto => Fit::Inside,
            ResizeMode::Fit => Fit::Cover,
            ResizeMode::Fill => Fit::Stretch,
            ResizeMode::Pad => Fit::Pad,
        },
        gravity: gravity(asked)?,
        enlarge: asked.upscale || drawn,
        background: asked.background.map_or([0; 4], |background| background.0),
    })
}

pub(super) fn crops(asked: &request::Resize) -> bool {
    asked.mode == ResizeMode::Fit
}

pub(super) fn gravity(asked: &request::Resize) -> Result<Gravity> {
    use Anchor::{End, Middle, Start};
    use request::Gravity as Asked;
    let (horizontal, vertical) = match asked.gravity {
        // Nothing is cropped.
        _ if !crops(asked) => (Middle, Middle),
        Asked::Smart => return Ok(Gravity::Smart),
        Asked::Face if CAN_LOOK => return Ok(Gravity::Face),
        Asked::Faces if CAN_LOOK => return Ok(Gravity::Faces),
        Asked::Face | Asked::Faces => {
            return Err(Error::unsupported(format!("the gravity \"{}\"", asked.gravity.as_str())));
        }
        Asked::Center => (Middle, Middle),
        Asked::Top => (Middle, Start),
        Asked::Bottom => (Middle, End),
        Asked::Left => (Start, Middle),
        Asked::Right => (End, Middle),
        Asked::TopLeft => (Start, Start),
        Asked::TopRight => (End, Start),
        Asked::BottomLeft => (Start, End),
        Asked::BottomRight => (End, End),
    };
    Ok(Gravity::Fixed(horizontal, vertical))
}

/// What shows through where the format has no alpha: the background that was asked for, over white.
pub(super) fn ground(request: &Request) -> [u8; 3] {
    let [r, g, b, a] = request.resize.as_ref().and_then(|resize| resize.background).map_or([255; 4], |asked| asked.0);
    [r, g, b].map(|c| ((u32::from(c) * u32::from(a) + 255 * (255 - u32::from(a)) + 127) / 255) as u8)
}
