//! Every decision about a request, taken on numbers read from headers before a pixel exists.

mod enhanced;
mod formats;
mod refusals;
mod size;
mod sought;

use std::sync::Arc;

use enhanced::Enhanced;
pub(crate) use formats::of_formats;
pub(crate) use refusals::refusals;
use refusals::{refuse_what_no_codec_does, refuse_work_on_pixels};
use size::{asked, ground, resized};
pub(crate) use sought::Sought;

use crate::{
    codec::{Codecs, DecodeOptions, Info},
    control::Run,
    error::{Error, Result},
    format::Format,
    operation::{Around, CAN_LOOK, Chain, Face, Flatten, Frame, LookForFaces, Models, Operation, Orient, Resize},
    optimize::{Goal, Preset},
    picture::{Channels, Keep, Layout, Orientation},
    request::{Compression, Encoding, FaceTarget, MetadataKind, OutputFormat, Request},
};

/// Of finished frames of animations, which are kept for as often as an encoder asks for them: made by networks, or by steps that
/// take less time.
const KEPT_OF_NETWORKS: usize = 256 << 20;
const KEPT_OF_STEPS: usize = 64 << 20;
/// How often an encoder of animations looks at every frame, about.
const LOOKS: u64 = 6;

/// What will be done.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The format of the result.
    pub format: Format,
    /// How faithful the result has to be.
    pub goal: Goal,
    /// Another goal that our own result of the same request may have had: what a conversion to WebP or APNG was optimised
    /// for.
    pub done_before: Option<Goal>,
    /// Progressive JPEG, interlaced PNG.
    pub interlaced: bool,
    /// What the decoder may do.
    pub decode: DecodeOptions,
    /// Steps on pixels in sRGB, orientation first.
    pub chain: Chain,
    /// Filled by the chain, where a step needs to know of faces.
    pub faces: Option<Sought>,
    /// Metadata that survives.
    pub keep: Keep,
    /// What is done instead where no step has found anything to do: the same without those that may find nothing.
    pub otherwise: Option<Box<Plan>>,
    /// Bytes of finished frames that are kept.
    pub kept_bytes: usize,
    /// Some of those that light or faces ask for would take more work than is allowed, and are done without.
    pub left_out: bool,
    /// The result is an animation, or of a format that is made for them; otherwise the first frame is all.
    pub moves: bool,
    /// Nothing but the encoding changes.
    pub pixels_only_encoded: bool,
    /// The source is a possible result, so that no result is larger.
    pub may_keep_source: bool,
    /// The size that an SVG is given, which stays one.
    pub frame: Option<Frame>,
    /// SVG: what the frame shows depends on what is seen. The resize, for a source of this width and height.
    pub look: Option<(Resize, u32, u32)>,
    /// SVG: ids of elements stay.
    pub keep_ids: bool,
}

/// What an engine can do it with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means<'a> {
    /// Codecs of every format.
    pub codecs: &'a Codecs,
    /// Trained networks.
    pub models: &'a Models,
    /// The host's own steps on the pixels of every result.
    pub operations: &'a [Arc<dyn Operation>],
}

impl Plan {
    /// Whether the stored pixels or coefficients are passed on as they are.
    pub(crate) fn leaves_pixels_alone(&self) -> bool {
        self.pixels_only_encoded && self.goal == Goal::Lossless
    }

    /// Whether the source stores the very picture that is to be encoded, but for its profile.
    pub(crate) fn stores_picture(&self) -> bool {
        self.pixels_only_encoded && self.chain.is_empty()
    }
}

/// Plans a validated request for a source whose headers say `info`.
pub(crate) fn plan(request: &Request, info: &Info, means: Means<'_>, run: Run<'_>) -> Result<Plan> {
    let Means { codecs, models, operations } = means;
    let format = target(request.output.format, info)?;
    if format == Format::Svg {
        refuse_work_on_pixels(request, operations)?;
        if cfg!(feature = "svg") {
            return plan_vector(request, info, run);
        }
    }
    let moves = matches!(format, Format::Gif | Format::Apng) || format == Format::Webp && info.frames > 1;
    // What is drawn has no pixels to be enlarged: it is drawn larger.
    let drawn = info.format == Format::Svg && format != Format::Svg;
    let mut enhanced = Enhanced::of(request, models, info.quality, drawn)?;
    let (width, height) = enlarged(request, info.upright_size(), run)?;
    let layout = Layout { width, height, ..seen(info) };
    let resize = resized(request, layout, drawn, format)?;
    // Interlacing makes PNG larger, so it has to be asked for; progressive JPEG is smaller and the default.
    let progressive =
        request.output.encoding.map_or(format == Format::Jpeg, |encoding| encoding == Encoding::Progressive);
    let interlaced = progressive && !moves;
    let as_it_came = resize.is_none() && operations.is_empty() && format == info.format;
    let otherwise = (as_it_came && enhanced.may_find_nothing())
        .then(|| plan(&Request { light: None, face: None, ..request.clone() }, info, means, run).map(Box::new));
    let pixels_only_encoded = as_it_came && enhanced.is_none();
    let scaled = resize.map_or(Ok(layout), |resize| resize.layout(layout))?;
    let goal = goal(request, info, format, pixels_only_encoded);
    let recompressed = pixels_only_encoded && goal == Goal::Lossless;
    refuse_what_no_codec_does(info, format, recompressed, moves, codecs)?;
    let as_encoded = request.output.encoding.is_none() || info.interlaced.is_none_or(|stored| stored == interlaced);
    let around_faces = CAN_LOOK && resize.map_or(Ok(false), |resize| resize.needs_a_look(width, height))?;
    let faces = (around_faces || enhanced.face.is_some()).then(|| Sought::by(request, around_faces));
    let mut decode = DecodeOptions::default();
    if drawn {
        run.limits.check_result(scaled.width, scaled.height)?;
        let (width, height) = resize.map_or(Ok((width, height)), |resize| resize.draw_exactly(width, height))?;
        run.limits.check_drawn(width, height)?;
        decode.exactly = Some((width, height));
    } else if enhanced.upscale.is_none() {
        let least = resize.and_then(|resize| resize.decode_at_least(width, height));
        let least = match faces {
            Some(_) => least.and_then(|least| sought::large_enough(least, width, height)),
            None => least,
        };
        decode.at_least = least.map(|(width, height)| info.orientation.upright_size(width, height));
    }
    // Blocks of a JPEG that is decoded smaller are no longer where they were, nor as coarse.
    if decode.eighths(info.width, info.height) < 8
        && let Some(denoise) = &mut enhanced.denoise
    {
        denoise.jpeg = None;
    }
    let frames = if moves { passes(info.frames, scaled) } else { 1 };
    let left_out = enhanced.limit(decoded_pixels(info, &decode).saturating_mul(frames), info.alpha, run.limits)?;
    let by_network = enhanced.by_network();
    // Sizes come from the whole source, whatever size it is decoded at.
    let settled = resize.map(|resize| resize.settled(width, height)).transpose()?;
    let mut chain = chain(info.orientation, enhanced, faces.as_ref(), settled);
    operations.iter().for_each(|operation| chain.push(Arc::clone(operation)));
    let stored = if drawn { layout } else { seen(info) };
    if format == Format::Jpeg && (info.alpha || chain.layout(stored, run)?.channels.has_alpha()) {
        chain.push(Flatten { ground: ground(request) });
    }
    let kept_bytes = match by_network {
        true => KEPT_OF_NETWORKS,
        false if chain.is_empty() => 0,
        false => KEPT_OF_STEPS,
    };
    let result = chain.layout(stored, run)?;
    if moves {
        run.limits.check_result_frames(result.pixels(), info.frames)?;
    }
    Ok(Plan {
        format,
        goal,
        done_before: (request.optimize.is_none() && leaves_out_lossy(format)).then_some(Goal::Smart(Preset::Medium)),
        interlaced,
        decode,
        chain,
        faces,
        keep: keep(&request.output.metadata, info),
        otherwise: otherwise.transpose()?,
        kept_bytes,
        left_out,
        moves,
        pixels_only_encoded,
        may_keep_source: pixels_only_encoded && as_encoded,
        frame: None,
        look: None,
        keep_ids: request.output.keep_ids,
    })
}

/// The steps in the order of the interface.
fn chain(orientation: Orientation, enhanced: Enhanced, faces: Option<&Sought>, resize: Option<Resize>) -> Chain {
    let Enhanced { denoise, light, tone, face, upscale, sharpen } = enhanced;
    let mut chain = Chain::default();
    chain.push_some((orientation != Orientation::Upright).then_some(Orient(orientation)));
    chain.push_some(denoise);
    chain.push_some(light);
    chain.push_some(tone);
    let faces = faces.map(|sought| &sought.faces);
    // After what makes them easier to see.
    chain.push_some(faces.cloned().map(LookForFaces));
    if let (Some(faces), Some(face)) = (faces, face) {
        let (strength, largest) = (face.asked.strength, face.asked.target == FaceTarget::Largest);
        chain.push(Face { strength, largest, faces: faces.clone(), restorer: face.restorer() });
    }
    chain.push_some(upscale);
    match (faces, resize) {
        (Some(faces), Some(resize)) => chain.push(Around { resize, faces: faces.clone() }),
        (_, resize) => chain.push_some(resize),
    }
    chain.push_some(sharpen);
    chain
}

/// Pixels of a frame of the source as it is decoded.
fn decoded_pixels(info: &Info, decode: &DecodeOptions) -> u64 {
    let eighths = if info.format == Format::Jpeg { decode.eighths(info.width, info.height) } else { 8 };
    let (width, height) = decode.exactly.unwrap_or((info.width, info.height));
    let side = |side: u32| (u64::from(side) * u64::from(eighths)).div_ceil(8);
    side(width).saturating_mul(side(height))
}

/// How many frames are worked on, where those that cannot be kept are worked on anew each time that they are looked at.
fn passes(frames: u32, result: Layout) -> u64 {
    let bytes = (result.samples() * result.depth.bytes()).max(1);
    let kept = u64::from(frames).min((KEPT_OF_NETWORKS / bytes) as u64);
    kept + (u64::from(frames) - kept) * LOOKS
}

/// The size after super-resolution.
fn enlarged(request: &Request, (width, height): (u32, u32), run: Run<'_>) -> Result<(u32, u32)> {
    let Some(factor) = request.upscale.map(|upscale| u32::from(upscale.factor)) else { return Ok((width, height)) };
    let (width, height) = (width.saturating_mul(factor), height.saturating_mul(factor));
    run.limits.check_result(width, height)?;
    Ok((width, height))
}

/// An SVG that stays one has no pixels: its size is what it says of itself.
fn plan_vector(request: &Request, info: &Info, run: Run<'_>) -> Result<Plan> {
    let (width, height) = (info.width, info.height);
    let factor = request.upscale.as_ref().map(|upscale| u32::from(upscale.factor));
    let enlarged = factor.map(|factor| Frame::enlarged(width, height, factor));
    let (across, down) = enlarged.map_or((width, height), |frame| (frame.width, frame.height));
    let resized = request.resize.as_ref().map(|resize| asked(resize, false)).transpose()?;
    let frame = resized.map(|resize| resize.frame(across, down)).transpose()?.or(enlarged);
    let needs_a_look = resized.map_or(Ok(false), |resize| resize.needs_a_look(across, down))?;
    // What has the size already is only optimised, as everywhere.
    let same = |frame: &Frame| (frame.width, frame.height) == (width, height) && frame.part == [0.0, 0.0, 1.0, 1.0];
    let frame = frame.filter(|frame| !same(frame));
    if let Some(frame) = frame {
        run.limits.check_result(frame.width, frame.height)?;
    }
    Ok(Plan {
        format: Format::Svg,
        goal: goal(request, info, Format::Svg, frame.is_none()),
        done_before: None,
        interlaced: false,
        decode: DecodeOptions::default(),
        chain: Chain::default(),
        faces: None,
        keep: keep(&request.output.metadata, info),
        otherwise: None,
        kept_bytes: 0,
        left_out: false,
        moves: false,
        pixels_only_encoded: frame.is_none(),
        may_keep_source: frame.is_none(),
        frame,
        look: resized.filter(|_| needs_a_look).map(|resize| (resize, across, down)),
        keep_ids: request.output.keep_ids,
    })
}

/// The format that is asked for whatever the source is.
const fn named(wanted: OutputFormat) -> Option<Format> {
    match wanted {
        OutputFormat::Jpeg => Some(Format::Jpeg),
        OutputFormat::Png => Some(Format::Png),
        OutputFormat::Webp => Some(Format::Webp),
        OutputFormat::Gif => Some(Format::Gif),
        OutputFormat::Avif => Some(Format::Avif),
        OutputFormat::Auto | OutputFormat::Smallest | OutputFormat::Svg => None,
    }
}

fn target(wanted: OutputFormat, info: &Info) -> Result<Format> {
    let source = info.format;
    match wanted {
        OutputFormat::Png if source == Format::Apng || info.frames > 1 => Ok(Format::Apng),
        OutputFormat::Svg if source != Format::Svg => Err(Error::unsupported(format!("writing SVG from {source}"))),
        // As many plans as there are formats, of which the engine takes one.
        OutputFormat::Smallest => Err(Error::internal("planning", "of all formats at once")),
        _ => Ok(named(wanted).unwrap_or(source)),
    }
}

/// What operations see of a source, as it is stored but for its colours, which are in sRGB by then.
fn seen(info: &Info) -> Layout {
    let channels = match info.channels() {
        Channels::Cmyk => Channels::Rgb,
        channels => channels,
    };
    Layout { width: info.width, height: info.height, channels, depth: info.depth() }
}

/// Smart lossy `medium` where nothing is said, except for WebP and APNG, which the interface leaves out of it: lossless as
/// long as pixels are only passed on or come from a lossless source.
fn goal(request: &Request, info: &Info, format: Format, pixels_only_encoded: bool) -> Goal {
    match &request.optimize {
        Some(optimize) => match (optimize.quality, optimize.compression) {
            (Some(quality), _) => Goal::Quality(quality),
            (None, Some(Compression::Lossless)) => Goal::Lossless,
            (None, Some(Compression::Low)) => Goal::Smart(Preset::Low),
            (None, Some(Compression::Medium) | None) => Goal::Smart(Preset::Medium),
            (None, Some(Compression::High)) => Goal::Smart(Preset::High),
            (None, Some(Compression::Ultra)) => Goal::Smart(Preset::Ultra),
        },
        None if leaves_out_lossy(format) && (pixels_only_encoded || info.lossless == Some(true)) => Goal::Lossless,
        None => Goal::Smart(Preset::Medium),
    }
}

const fn leaves_out_lossy(format: Format) -> bool {
    matches!(format, Format::Webp | Format::Apng)
}

/// What is kept: of all there is, the profile is a part where there is one.
fn keep(asked: &[MetadataKind], info: &Info) -> Keep {
    let has = |kind| asked.contains(&kind);
    Keep {
        copyright: has(MetadataKind::Copyright),
        profile: has(MetadataKind::Profile) || has(MetadataKind::All) && info.icc,
        date: has(MetadataKind::Date),
        location: has(MetadataKind::Location),
        all: has(MetadataKind::All),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{codec::ColourModel, picture::Depth};

    #[test]
    fn steps_are_planned_for_pictures_in_srgb() {
        let info = |colour, alpha, bits_per_pixel| Info {
            format: Format::Png,
            width: 3,
            height: 2,
            frames: 1,
            colour,
            alpha,
            bits_per_pixel,
            sampling: None,
            interlaced: None,
            quality: None,
            lossless: None,
            orientation: Orientation::Upright,
            icc: false,
        };
        for (colour, alpha, bits, channels, depth) in [
            (ColourModel::Cmyk, false, 32, Channels::Rgb, Depth::Eight),
            (ColourModel::Rgb, true, 64, Channels::Rgba, Depth::Sixteen),
            (ColourModel::Gray, true, 16, Channels::GrayAlpha, Depth::Eight),
            (ColourModel::Gray, false, 16, Channels::Gray, Depth::Sixteen),
            (ColourModel::Indexed, true, 4, Channels::Rgba, Depth::Eight),
        ] {
            assert_eq!(seen(&info(colour, alpha, bits)), Layout { width: 3, height: 2, channels, depth });
        }
    }

    #[test]
    fn frames_that_there_is_no_room_for_are_worked_on_at_every_look() {
        let frame = Layout { width: 1024, height: 1024, channels: Channels::Rgba, depth: Depth::Eight };
        assert_eq!([1, 64, 65, 164].map(|frames| passes(frames, frame)), [1, 64, 64 + LOOKS, 64 + 100 * LOOKS]);
    }
}
