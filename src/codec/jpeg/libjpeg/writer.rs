//! Compression of coefficients read by a [`Reader`].

use mozjpeg_sys as sys;

use super::{Reader, Session, error_manager, guarded, progress_manager};
use crate::error::{Error, Result};

/// One scan of a progressive file to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Pass {
    /// Index of the first component, and how many from there on.
    pub(in super::super) components: (u8, u8),
    /// First and last coefficient in zigzag order.
    pub(in super::super) band: (u8, u8),
    /// Bit position sent before (0 in a first pass) and now.
    pub(in super::super) bits: (u8, u8),
}

/// Bytes handed to the output at a time.
const BUFFER: usize = 64 << 10;

struct Parts<'a> {
    info: sys::jpeg_compress_struct,
    errors: sys::jpeg_error_mgr,
    progress: sys::jpeg_progress_mgr,
    destination: sys::jpeg_destination_mgr,
    session: Session<'a>,
}

struct Writer<'a> {
    /// Owned; raw, since libjpeg keeps pointers between its fields.
    parts: *mut Parts<'a>,
}

impl<'a> Reader<'a> {
    /// Reads all coefficients.
    pub(in super::super) fn coefficients(self) -> Result<Coefficients<'a>> {
        let source = self.parts;
        // SAFETY: `source` is live with its header read, and no reference to it exists.
        let arrays =
            unsafe { guarded(&raw mut (*source).session, || sys::jpeg_read_coefficients(&mut (*source).info))? };
        Ok(Coefficients { source: self, arrays })
    }
}

/// The quantised coefficients of a file.
pub(in super::super) struct Coefficients<'a> {
    source: Reader<'a>,
    /// Owned by the source's object.
    arrays: *mut *mut sys::jvirt_barray_control,
}

impl Coefficients<'_> {
    /// Writes them anew, in one sequential scan if `passes` is empty, with Huffman tables made for them, and without
    /// any application segment or comment.
    pub(in super::super) fn write(&self, passes: &[Pass]) -> Result<Vec<u8>> {
        Writer::new(&self.source)?.write(self, passes)
    }
}

impl<'a> Writer<'a> {
    fn new(source: &Reader<'a>) -> Result<Self> {
        // SAFETY: the reader's parts are live as long as it is, and nobody holds a reference to them.
        let run = unsafe { (*source.parts).session.run };
        let mut session = Session::new(run, true);
        session.buffer = vec![0; BUFFER];
        let parts = Box::into_raw(Box::new(Parts {
            // SAFETY: the struct is made of numbers, pointers and enums with a zero variant.
            info: unsafe { std::mem::zeroed() },
            errors: error_manager(),
            progress: progress_manager(),
            destination: sys::jpeg_destination_mgr {
                next_output_byte: std::ptr::null_mut(),
                free_in_buffer: 0,
                init_destination: Some(init_destination),
                empty_output_buffer: Some(empty_output_buffer),
                term_destination: Some(term_destination),
            },
            session,
        }));
        let writer = Self { parts };
        // SAFETY: `parts` is live and only reached through this pointer; the error manager is set before libjpeg is
        // called, and all that is pointed to lives in the same allocation.
        unsafe {
            (*parts).info.common.err = &raw mut (*parts).errors;
            (*parts).info.common.client_data = (&raw mut (*parts).session).cast();
            guarded(&raw mut (*parts).session, || {
                let info = &mut (*parts).info;
                sys::jpeg_create_compress(info);
                info.common.progress = &raw mut (*parts).progress;
                info.dest = &raw mut (*parts).destination;
            })?;
        }
        Ok(writer)
    }

    fn write(self, from: &Coefficients<'a>, passes: &[Pass]) -> Result<Vec<u8>> {
        let (parts, source) = (self.parts, from.source.parts);
        let script: Vec<_> = passes.iter().map(Pass::scan_info).collect();
        // SAFETY: both objects are live and in the states that the calls ask for: coefficients are read, compression has
        // not begun. The arrays are the source's own. The script lives until after the last call.
        let written = unsafe {
            guarded(&raw mut (*parts).session, || {
                let info = &mut (*parts).info;
                configure(info, &(*source).info, &script);
                sys::jpeg_write_coefficients(info, from.arrays);
                sys::jpeg_finish_compress(info);
            })
        };
        match written {
            // SAFETY: the call is over, so nobody holds a reference to the session.
            Ok(()) => Ok(unsafe { std::mem::take(&mut (*parts).session.output) }),
            Err(Error::Input { source: Some(cause), .. }) => Err(Error::internal("rewriting coefficients", cause)),
            Err(other) => Err(other),
        }
    }
}

impl Pass {
    fn scan_info(&self) -> sys::jpeg_scan_info {
        let (start, count) = self.components;
        let mut component_index = [0; 4];
        for (slot, index) in component_index.iter_mut().zip(start..start + count.min(4)) {
            *slot = index.into();
        }
        sys::jpeg_scan_info {
            comps_in_scan: count.into(),
            component_index,
            Ss: self.band.0.into(),
            Se: self.band.1.into(),
            Ah: self.bits.0.into(),
            Al: self.bits.1.into(),
        }
    }
}

/// # Safety
/// `source` must have its coefficients read, `info` must be created and not started, and `script` must outlive its use.
unsafe fn configure(
    info: &mut sys::jpeg_compress_struct,
    source: &sys::jpeg_decompress_struct,
    script: &[sys::jpeg_scan_info],
) {
    // SAFETY: promised by the caller; the parameter is known to this version of libjpeg.
    unsafe {
        // Its own search for the best scans would leak what it has allocated when it is stopped.
        sys::jpeg_c_set_int_param(info, sys::JINT_COMPRESS_PROFILE, sys::JCP_FASTEST as i32);
        sys::jpeg_copy_critical_parameters(source, info);
    }
    info.optimize_coding = 1;
    // The caller copies both segments from the source, so that colours are told in the same way as before.
    (info.write_JFIF_header, info.write_Adobe_marker) = (0, 0);
    if !script.is_empty() {
        (info.scan_info, info.num_scans) = (script.as_ptr(), script.len() as i32);
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // SAFETY: `parts` came from `Box::into_raw` and is freed here alone; destroying frees what libjpeg allocated, and
        // is allowed in any state, even before creation (all zero).
        unsafe {
            sys::jpeg_destroy_compress(&mut (*self.parts).info);
            drop(Box::from_raw(self.parts));
        }
    }
}

/// # Safety
/// `info` must be one of ours, with its session and destination in place.
unsafe fn hand_over(info: &mut sys::jpeg_compress_struct, whole: bool) {
    let session = info.common.client_data.cast::<Session<'_>>();
    // SAFETY: promised by the caller; no other reference to session or destination is alive while libjpeg runs.
    unsafe {
        let (session, destination) = (&mut *session, &mut *info.dest);
        let filled = if whole { BUFFER } else { BUFFER - destination.free_in_buffer };
        session.output.extend_from_slice(&session.buffer[..filled]);
        destination.next_output_byte = session.buffer.as_mut_ptr();
        destination.free_in_buffer = BUFFER;
    }
}

unsafe extern "C-unwind" fn init_destination(info: &mut sys::jpeg_compress_struct) {
    let session = info.common.client_data.cast::<Session<'_>>();
    // SAFETY: libjpeg calls back with our object; no other reference to session or destination is alive meanwhile.
    unsafe {
        let (session, destination) = (&mut *session, &mut *info.dest);
        destination.next_output_byte = session.buffer.as_mut_ptr();
        destination.free_in_buffer = BUFFER;
    }
}

unsafe extern "C-unwind" fn empty_output_buffer(info: &mut sys::jpeg_compress_struct) -> sys::boolean {
    // SAFETY: libjpeg calls back with our object. By its contract the buffer is full, whatever the counters say.
    unsafe { hand_over(info, true) };
    1
}

unsafe extern "C-unwind" fn term_destination(info: &mut sys::jpeg_compress_struct) {
    // SAFETY: libjpeg calls back with our object.
    unsafe { hand_over(info, false) };
}
