//! libwebp behind safe functions: all unsafe code of this codec.
#![allow(unsafe_code, reason = "libwebp is a C library")]

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
    slice,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use libwebp_sys as sys;

pub(super) use libwebp_sys::WebPConfig as Config;

use super::{riff::damaged, room};
use crate::{
    control::Run,
    error::{Error, Result},
    format::Format,
};

/// The defaults of libwebp: lossy, quality 75, method 4.
pub(super) fn default_config() -> Result<Config> {
    Config::new().map_err(|()| Error::internal("setting up libwebp", "its version is not the one that was built for"))
}

/// Decodes `coded`, the chunks of one image from `ALPH`, `VP8 ` or `VP8L` on, into rows of RGB, or RGBA if `alpha`.
/// `width` and `height` are those of the image's header, checked against the limits.
pub(super) fn decode(coded: &[u8], width: u32, height: u32, alpha: bool, run: Run<'_>) -> Result<Vec<u8>> {
    /// Pixels decoded between two questions whether to go on: 15 ms at the 35 MP/s of detailed pictures.
    const STRIDE_PIXELS: u64 = 1 << 19;
    let channels: u32 = if alpha { 4 } else { 3 };
    let pixels = u64::from(width) * u64::from(height);
    let mut samples = vec![0; (pixels * u64::from(channels)) as usize];
    let mut decoder = Decoder::new(&mut samples, width * channels, alpha)?;
    let pieces = pixels.div_ceil(STRIDE_PIXELS) as usize;
    let piece = coded.len().div_ceil(pieces.max(1)).max(1);
    let mut end = 0;
    loop {
        run.check()?;
        end = coded.len().min(end + piece);
        match decoder.update(&coded[..end]) {
            sys::VP8StatusCode::VP8_STATUS_OK => break,
            sys::VP8StatusCode::VP8_STATUS_SUSPENDED if end < coded.len() => {}
            status => return Err(decoding_error(status)),
        }
    }
    let rows = decoder.rows();
    if rows != height {
        return Err(damaged(format!("ends after {rows} of {height} rows")));
    }
    drop(decoder);
    Ok(samples)
}

/// The samples of Y, U and V of a whole file, as they come out of the deblocking filter.
#[cfg(test)]
pub(super) fn decode_planes(file: &[u8]) -> [Vec<u8>; 3] {
    let (mut width, mut height, mut stride, mut chroma_stride) = (0, 0, 0, 0);
    let (mut u, mut v) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: `file` is read during the call; all results are places of their own.
    let y = unsafe {
        sys::WebPDecodeYUV(
            file.as_ptr(),
            file.len(),
            &raw mut width,
            &raw mut height,
            &raw mut u,
            &raw mut v,
            &raw mut stride,
            &raw mut chroma_stride,
        )
    };
    assert!(!y.is_null());
    let [width, height] = [width, height].map(|side| usize::try_from(side).unwrap());
    let plane = |samples: *mut u8, stride: c_int, width: usize, height: usize| {
        // SAFETY: libwebp made `height` rows of `stride` bytes, of which the last may end after `width`.
        let row = |y: usize| unsafe { slice::from_raw_parts(samples.add(y * stride as usize), width) };
        (0..height).flat_map(row).copied().collect()
    };
    let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
    let planes = [
        plane(y, stride, width, height),
        plane(u, chroma_stride, half_width, half_height),
        plane(v, chroma_stride, half_width, half_height),
    ];
    // SAFETY: allocated by `WebPDecodeYUV`, together with U and V, and freed here and nowhere else.
    unsafe { sys::WebPFree(y.cast()) };
    planes
}

fn decoding_error(status: sys::VP8StatusCode) -> Error {
    use sys::VP8StatusCode as Status;
    let said = format!("{status:?}");
    match status {
        Status::VP8_STATUS_OUT_OF_MEMORY => Error::internal("decoding WebP", said),
        Status::VP8_STATUS_SUSPENDED | Status::VP8_STATUS_NOT_ENOUGH_DATA => {
            Error::damaged(Format::Webp, "has image data that ends before the last row", said)
        }
        _ => Error::damaged(Format::Webp, "has image data that cannot be decoded", said),
    }
}

/// An incremental decoder that writes into samples of the caller.
struct Decoder<'a> {
    decoder: NonNull<sys::WebPIDecoder>,
    /// Holds on to the samples that the decoder writes to.
    _samples: &'a mut [u8],
}

impl<'a> Decoder<'a> {
    /// libwebp checks on its own that what it decodes fits `samples` with rows of `stride` bytes.
    fn new(samples: &'a mut [u8], stride: u32, alpha: bool) -> Result<Self> {
        let mode = if alpha { sys::WEBP_CSP_MODE::MODE_RGBA } else { sys::WEBP_CSP_MODE::MODE_RGB };
        let stride = c_int::try_from(stride).map_err(|error| Error::internal("decoding WebP", error))?;
        // SAFETY: pointer and length are those of one exclusive slice, which the result borrows for as long as it lives.
        let decoder = unsafe { sys::WebPINewRGB(mode, samples.as_mut_ptr(), samples.len(), stride) };
        let decoder = NonNull::new(decoder).ok_or_else(|| Error::internal("decoding WebP", "out of memory"))?;
        Ok(Self { decoder, _samples: samples })
    }

    /// Goes on with `data`: what was given before and more behind it, at the same address.
    fn update(&mut self, data: &[u8]) -> sys::VP8StatusCode {
        // SAFETY: the decoder is alive; it reads `data` during this call only, as each call hands over the whole anew.
        unsafe { sys::WebPIUpdate(self.decoder.as_ptr(), data.as_ptr(), data.len()) }
    }

    /// Rows written so far.
    fn rows(&self) -> u32 {
        let mut rows: c_int = 0;
        let none = std::ptr::null_mut();
        // SAFETY: the decoder is alive; `rows` is written to, the other results are not asked for.
        unsafe { sys::WebPIDecGetRGB(self.decoder.as_ptr(), &raw mut rows, none, none, none) };
        u32::try_from(rows).unwrap_or(0)
    }
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `WebPINewRGB`, deleted here and nowhere else.
        unsafe { sys::WebPIDelete(self.decoder.as_ptr()) }
    }
}

/// How the four or three bytes of a pixel are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pixels {
    Rgb,
    /// Alpha is ignored: the picture is opaque.
    Rgbx,
    Rgba,
}

/// What libwebp is to encode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    /// The colours as they are, for lossless coding.
    Argb,
    /// YUV 4:2:0.
    Yuv,
    /// YUV 4:2:0 whose chroma makes up for its own size, in 50 ms a megapixel.
    SharpYuv,
}

/// Pixels converted to YUV between two questions whether to go on.
const STRIP_PIXELS: u32 = 1 << 19;
/// Rows beyond a strip that are converted with it, since sharp conversion looks at its surroundings. Even.
const MARGIN: u32 = 16;

/// How often the host is asked whether to go on while libwebp encodes.
const PATIENCE: Duration = Duration::from_millis(20);

/// A picture in the memory of libwebp, ready to be encoded, also more than once.
pub(super) struct Source(Box<sys::WebPPicture>);

// SAFETY: the picture is plain memory of libwebp's, which keeps nothing by thread.
unsafe impl Send for Source {}

/// Told of an encoding: `None` as it goes on, and what comes of it at its end.
pub(super) type Watcher = Sender<Option<(Source, Result<Vec<u8>>)>>;

impl Source {
    /// Copies rows of 8-bit samples, converted to `colours`.
    pub(super) fn import(
        samples: &[u8],
        width: u32,
        height: u32,
        pixels: Pixels,
        colours: Colours,
        run: Run<'_>,
    ) -> Result<Self> {
        let strip = (STRIP_PIXELS / width.max(1)).max(4 * MARGIN) & !1;
        if colours == Colours::Argb || height <= strip {
            return Self::converted(samples, width, height, pixels, colours);
        }
        let mut whole = Self::yuv(width, height, pixels == Pixels::Rgba)?;
        let stride = samples.len() / height as usize;
        for top in (0..height).step_by(strip as usize) {
            run.check()?;
            let end = height.min(top + strip);
            let (from, to) = (top.saturating_sub(MARGIN), height.min(end + MARGIN));
            let rows = samples.get(from as usize * stride..to as usize * stride).unwrap_or(&[]);
            let part = Self::converted(rows, width, to - from, pixels, colours)?;
            whole.copy_rows(top, &part, (0, top - from), end - top);
        }
        Ok(whole)
    }

    /// Parts of its colours in YUV, of the same size, below each other; all lie in it, from even columns and rows on.
    pub(super) fn stacked(&self, corners: &[(u32, u32)], (width, height): (u32, u32)) -> Result<Self> {
        let mut stack = Self::yuv(width, height * corners.len() as u32, false)?;
        for (&corner, top) in corners.iter().zip((0..).step_by(height as usize)) {
            stack.copy_rows(top, self, corner, height);
        }
        Ok(stack)
    }

    /// Copies so many rows of YUV to those from `top` on, from `source` to the right of its column `x` and below its row `y`.
    /// `x`, `y` and `top` are even. Where the source has no alpha it is opaque.
    fn copy_rows(&mut self, top: u32, source: &Self, (x, y): (u32, u32), rows: u32) {
        let (to, from) = (&*self.0, &*source.0);
        let fits = |picture: &sys::WebPPicture, x: u32, y: u32| {
            picture.use_argb == 0 && x + to.width as u32 <= picture.width as u32 && y + rows <= picture.height as u32
        };
        assert!(fits(to, 0, top) && fits(from, x, y), "rows that are not there");
        let planes = [
            (to.y, to.y_stride, from.y, from.y_stride, 1),
            (to.u, to.uv_stride, from.u, from.uv_stride, 2),
            (to.v, to.uv_stride, from.v, from.uv_stride, 2),
            (to.a, to.a_stride, from.a, from.a_stride, 1),
        ];
        for (to_plane, to_stride, plane, stride, share) in planes.into_iter().filter(|plane| !plane.0.is_null()) {
            let length = (to.width as usize).div_ceil(share);
            let [x, y, top, rows] = [x, y, top, rows].map(|at| (at as usize).div_ceil(share));
            for row in 0..rows {
                // SAFETY: libwebp allocated all planes for pictures of their sizes; the rows lie in both, as asserted, and the
                // planes are different memory.
                unsafe {
                    let to = to_plane.add((top + row) * to_stride as usize);
                    if plane.is_null() {
                        to.write_bytes(u8::MAX, length);
                    } else {
                        to.copy_from_nonoverlapping(plane.add((y + row) * stride as usize + x), length);
                    }
                }
            }
        }
    }

    /// A picture in YUV whose samples are still to be written.
    fn yuv(width: u32, height: u32, alpha: bool) -> Result<Self> {
        let mut picture = Self::blank(width, height)?;
        picture.0.colorspace = if alpha { sys::WebPEncCSP::WEBP_YUV420A } else { sys::WebPEncCSP::WEBP_YUV420 };
        // SAFETY: the picture was initialised by libwebp.
        if unsafe { sys::WebPPictureAlloc(&raw mut *picture.0) } == 0 {
            return Err(encoding_error(picture.0.error_code));
        }
        Ok(picture)
    }

    /// A picture without memory.
    fn blank(width: u32, height: u32) -> Result<Self> {
        let number = |n: u32| c_int::try_from(n).map_err(|error| Error::internal("encoding WebP", error));
        let picture = sys::WebPPicture::new();
        let mut picture = Box::new(picture.map_err(|()| Error::internal("setting up libwebp", "wrong version"))?);
        (picture.width, picture.height) = (number(width)?, number(height)?);
        Ok(Self(picture))
    }

    fn converted(samples: &[u8], width: u32, height: u32, pixels: Pixels, colours: Colours) -> Result<Self> {
        let channels: u32 = if pixels == Pixels::Rgb { 3 } else { 4 };
        let stride = u64::from(width) * u64::from(channels);
        if samples.len() as u64 != stride * u64::from(height) {
            let length = samples.len();
            return Err(Error::internal("encoding WebP", format!("{length} samples for {width}x{height} {pixels:?}")));
        }
        let stride = c_int::try_from(stride).map_err(|error| Error::internal("encoding WebP", error))?;
        let mut source = Self::blank(width, height)?;
        source.0.use_argb = c_int::from(colours != Colours::Yuv);
        let import = match pixels {
            Pixels::Rgb => sys::WebPPictureImportRGB,
            Pixels::Rgbx => sys::WebPPictureImportRGBX,
            Pixels::Rgba => sys::WebPPictureImportRGBA,
        };
        // SAFETY: the picture was initialised by libwebp, and `samples` has `height` rows of `stride` bytes, as checked.
        if unsafe { import(&raw mut *source.0, samples.as_ptr(), stride) } == 0 {
            return Err(encoding_error(source.0.error_code));
        }
        // SAFETY: the picture holds the colours that were imported.
        if colours == Colours::SharpYuv && unsafe { sys::WebPPictureSharpARGBToYUVA(&raw mut *source.0) } == 0 {
            return Err(encoding_error(source.0.error_code));
        }
        Ok(source)
    }

    /// A whole simple or extended file. libwebp reports its progress up to 0.3 s apart, so it works on a thread of its own,
    /// which goes on to its next report, with the picture, where the host wants none of this any longer.
    pub(super) fn encode(&mut self, config: &Config, run: Run<'_>) -> Result<Vec<u8>> {
        run.check()?;
        let (config, (watcher, reports)) = (*config, mpsc::channel());
        let mut source = std::mem::replace(self, Self::blank(0, 0)?);
        let work = move || {
            let coded = room::for_modes(&source, config, &watcher).and_then(|config| source.coded(&config, &watcher));
            // Nobody listens any longer where the work was stopped.
            watcher.send(Some((source, coded))).ok();
        };
        thread::Builder::new().spawn(work).map_err(|error| Error::internal("encoding WebP", error))?;
        loop {
            match reports.recv_timeout(PATIENCE) {
                Ok(Some((source, coded))) => {
                    *self = source;
                    return coded;
                }
                Ok(None) | Err(RecvTimeoutError::Timeout) => run.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("encoding WebP", "libwebp's thread ended"));
                }
            }
        }
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.0.width.unsigned_abs(), self.0.height.unsigned_abs())
    }

    pub(super) fn coded(&mut self, config: &Config, watcher: &Watcher) -> Result<Vec<u8>> {
        let mut output = Output::new();
        let picture = &mut *self.0;
        picture.writer = Some(sys::WebPMemoryWrite);
        picture.custom_ptr = (&raw mut *output.0).cast::<c_void>();
        picture.progress_hook = Some(is_to_go_on);
        picture.user_data = std::ptr::from_ref(watcher).cast_mut().cast::<c_void>();
        // SAFETY: configuration and picture are initialised (both are checked again by libwebp); writer and watcher, which are
        // reached through the picture during this call only, outlive it.
        let done = unsafe { sys::WebPEncode(config, &raw mut *picture) } != 0;
        (picture.custom_ptr, picture.user_data) = (std::ptr::null_mut(), std::ptr::null_mut());
        (picture.writer, picture.progress_hook) = (None, None);
        if done { Ok(output.bytes().to_vec()) } else { Err(encoding_error(picture.error_code)) }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // SAFETY: initialised by libwebp, and freed here and nowhere else.
        unsafe { sys::WebPPictureFree(&raw mut *self.0) }
    }
}

fn encoding_error(code: sys::WebPEncodingError) -> Error {
    use sys::WebPEncodingError as Code;
    match code {
        Code::VP8_ENC_ERROR_INVALID_CONFIGURATION => Error::unsupported("WebP with options out of their range"),
        Code::VP8_ENC_ERROR_BAD_DIMENSION => Error::unsupported("a WebP of this size"),
        Code::VP8_ENC_ERROR_PARTITION0_OVERFLOW
        | Code::VP8_ENC_ERROR_PARTITION_OVERFLOW
        | Code::VP8_ENC_ERROR_FILE_TOO_BIG => Error::unsupported("a WebP with that much detail"),
        code => Error::internal("encoding WebP", format!("{code:?}")),
    }
}

/// What libwebp writes to.
struct Output(Box<sys::WebPMemoryWriter>);

impl Output {
    fn new() -> Self {
        let mut writer =
            Box::new(sys::WebPMemoryWriter { mem: std::ptr::null_mut(), size: 0, max_size: 0, pad: [0; 1] });
        // SAFETY: the writer is a valid place for libwebp to initialise.
        unsafe { sys::WebPMemoryWriterInit(&raw mut *writer) };
        Self(writer)
    }

    fn bytes(&self) -> &[u8] {
        if self.0.mem.is_null() {
            return &[];
        }
        // SAFETY: libwebp has written `size` bytes at `mem`, which lives until this is dropped.
        unsafe { slice::from_raw_parts(self.0.mem, self.0.size) }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // SAFETY: initialised by libwebp, and freed here and nowhere else.
        unsafe { sys::WebPMemoryWriterClear(&raw mut *self.0) }
    }
}

/// Called by libwebp with its progress; 0 ends the encoding, once nobody listens any longer.
extern "C" fn is_to_go_on(_percent: c_int, picture: *const sys::WebPPicture) -> c_int {
    // SAFETY: libwebp hands over the picture that `Source::coded` gave it, whose `user_data` is the watcher there.
    let watcher = unsafe { &*(*picture).user_data.cast::<Watcher>() };
    c_int::from(watcher.send(None).is_ok())
}
