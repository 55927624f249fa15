//! The only unsafe code of this codec: a safe wrapper of libjpeg (mozjpeg), for what the other decoder cannot do.
//!
//! libjpeg reports errors by a call that must not return. Ours unwinds through the C frames (which are compiled for
//! that) up to [`guarded`], without running the panic hook. A build with `panic = "abort"` turns every damaged file that
//! gets here into the end of the process.

mod reader;

use std::{
    any::Any,
    ffi::CStr,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use mozjpeg_sys as sys;

pub(super) use reader::{Output, Reader};

use super::header::damaged;
use crate::{
    control::Run,
    error::{Error, Result},
    format::Format,
};

/// What the callbacks of one libjpeg object share with us; its `client_data` points here.
struct Session<'a> {
    run: Run<'a>,
    /// Whether the end of the file before EOI is damage; Huffman-coded data show by themselves whether they are whole.
    needs_end: bool,
    /// Why the last call unwound.
    failure: Option<Error>,
}

impl<'a> Session<'a> {
    fn new(run: Run<'a>, needs_end: bool) -> Self {
        Self { run, needs_end, failure: None }
    }
}

/// The payload of our unwinding; what happened is in [`Session::failure`].
struct Raised;

/// What libjpeg said, with its parameters left as they stand in its message table.
#[derive(Debug, thiserror::Error)]
#[error("libjpeg message {code}: {text}")]
struct Message {
    code: i32,
    text: String,
}

/// Calls into libjpeg and brings back what was raised.
///
/// # Safety
/// `session` must be valid for writes for the time of the call, and no reference to it may be alive.
unsafe fn guarded<T>(session: *mut Session<'_>, call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload: Box<dyn Any + Send>| {
        if !payload.is::<Raised>() {
            // A panic of the host's `Control` or a defect of ours.
            resume_unwind(payload);
        }
        // SAFETY: the caller promises a valid session without other references; the callbacks' ones ended with the call.
        let failure = unsafe { (*session).failure.take() };
        failure.unwrap_or_else(|| damaged("cannot be read"))
    })
}

/// An error manager that raises errors, and warnings that tell of damage.
fn error_manager() -> sys::jpeg_error_mgr {
    // SAFETY: the struct is made of numbers, pointers and optional functions, for all of which zero is a value.
    let mut manager: sys::jpeg_error_mgr = unsafe { std::mem::zeroed() };
    // SAFETY: the function fills in the struct it is given and nothing else.
    unsafe { sys::jpeg_std_error(&mut manager) };
    manager.error_exit = Some(error_exit);
    manager.emit_message = Some(emit_message);
    manager.output_message = Some(output_message);
    manager
}

/// A progress manager that asks the host whether to go on.
fn progress_manager() -> sys::jpeg_progress_mgr {
    sys::jpeg_progress_mgr {
        progress_monitor: Some(progress_monitor),
        pass_counter: 0,
        pass_limit: 0,
        completed_passes: 0,
        total_passes: 0,
    }
}

fn raise(info: &mut sys::jpeg_common_struct, failure: Error) -> ! {
    let session = info.client_data.cast::<Session<'_>>();
    if !session.is_null() {
        // SAFETY: `client_data` is set to the live session of this object before any other use of it, and nobody else
        // holds a reference to the session while libjpeg runs.
        unsafe { (*session).failure = Some(failure) };
    }
    resume_unwind(Box::new(Raised))
}

fn message(info: &sys::jpeg_common_struct) -> Message {
    // SAFETY: libjpeg calls back with the error manager that we installed, which lives as long as the object.
    let manager = unsafe { &*info.err };
    let (code, last) = (manager.msg_code, manager.last_jpeg_message);
    let mut text = String::new();
    if (0..=last).contains(&code) && !manager.jpeg_message_table.is_null() {
        // SAFETY: libjpeg's table has `last_jpeg_message + 1` entries, each a constant C string (or null).
        unsafe {
            let entry = *manager.jpeg_message_table.add(code as usize);
            if !entry.is_null() {
                text = CStr::from_ptr(entry.cast()).to_string_lossy().into_owned();
            }
        }
    }
    Message { code, text }
}

fn failure(info: &sys::jpeg_common_struct) -> Error {
    Error::damaged(Format::Jpeg, "cannot be read to its end", message(info))
}

unsafe extern "C-unwind" fn error_exit(info: &mut sys::jpeg_common_struct) {
    let failure = failure(info);
    raise(info, failure)
}

unsafe extern "C-unwind" fn emit_message(info: &mut sys::jpeg_common_struct, level: i32) {
    if level >= 0 {
        return;
    }
    // SAFETY: libjpeg calls back with the error manager that we installed.
    let code = unsafe { (*info.err).msg_code };
    let session = info.client_data.cast::<Session<'_>>();
    // SAFETY: as in `raise`.
    let needs_end = session.is_null() || unsafe { (*session).needs_end };
    let harmless = match code {
        // Stray bytes between segments, and marks that are odd but read.
        sys::JWRN_EXTRANEOUS_DATA | sys::JWRN_ADOBE_XFORM | sys::JWRN_JFIF_MAJOR => true,
        // Baseline scans whose unused fields hold nonsense; profiles are not libjpeg's to judge.
        sys::JWRN_NOT_SEQUENTIAL | sys::JWRN_BOGUS_ICC => true,
        sys::JWRN_JPEG_EOF => !needs_end,
        _ => false,
    };
    if !harmless {
        let failure = failure(info);
        raise(info, failure);
    }
}

unsafe extern "C-unwind" fn output_message(_: &mut sys::jpeg_common_struct) {}

unsafe extern "C-unwind" fn progress_monitor(info: &mut sys::jpeg_common_struct) {
    let session = info.client_data.cast::<Session<'_>>();
    // SAFETY: as in `raise`; the progress manager is installed together with `client_data`.
    let stopped = unsafe { (*session).run.check() };
    if let Err(stopped) = stopped {
        raise(info, stopped);
    }
}
