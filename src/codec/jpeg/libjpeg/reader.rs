//! Decompression: pixels at full or reduced size, and coefficients.

use std::{marker::PhantomData, ptr};

use mozjpeg_sys as sys;

use super::{Session, error_manager, guarded, progress_manager};
use crate::{
    codec::jpeg::{
        blocks::{Block, Plane, zigzag},
        header::{Colours, Frame, check_table, damaged},
    },
    control::Run,
    error::Result,
};

/// The pixels to decode to.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Output {
    /// How the file's components make colours.
    pub(in super::super) colours: Colours,
    /// Size in eighths of the stored one, 1 to 8, rounded up.
    pub(in super::super) eighths: u32,
}

/// libjpeg's object with all it points to. Its address never changes.
pub(super) struct Parts<'a> {
    pub(super) info: sys::jpeg_decompress_struct,
    errors: sys::jpeg_error_mgr,
    progress: sys::jpeg_progress_mgr,
    pub(super) session: Session<'a>,
}

/// A file behind its header.
pub(in super::super) struct Reader<'a> {
    /// Owned; raw, since libjpeg keeps pointers between its fields.
    pub(super) parts: *mut Parts<'a>,
    bytes: PhantomData<&'a [u8]>,
}

/// Rows asked for in one call.
const ROWS: usize = 16;

impl<'a> Reader<'a> {
    /// Reads the header of `bytes`. `memory` is what libjpeg may allocate in bytes; `needs_end` takes a missing EOI for
    /// damage.
    pub(in super::super) fn open(bytes: &'a [u8], memory: usize, needs_end: bool, run: Run<'a>) -> Result<Self> {
        let parts = Box::into_raw(Box::new(Parts {
            // SAFETY: the struct is made of numbers, pointers and enums with a zero variant.
            info: unsafe { std::mem::zeroed() },
            errors: error_manager(),
            progress: progress_manager(),
            session: Session::new(run, needs_end),
        }));
        let reader = Self { parts, bytes: PhantomData };
        // SAFETY: `parts` is live and only reached through this pointer; the error manager is set before libjpeg is
        // called, `client_data` right after creation (which keeps it). The bytes outlive the reader by its lifetime.
        unsafe {
            (*parts).info.common.err = &raw mut (*parts).errors;
            (*parts).info.common.client_data = (&raw mut (*parts).session).cast();
            guarded(&raw mut (*parts).session, || {
                let info = &mut (*parts).info;
                sys::jpeg_create_decompress(info);
                info.common.progress = &raw mut (*parts).progress;
                if let Some(manager) = info.common.mem.as_mut() {
                    manager.max_memory_to_use = memory.try_into().unwrap_or(0);
                }
                sys::jpeg_mem_src(info, bytes.as_ptr(), bytes.len() as _);
                sys::jpeg_read_header(info, 1);
            })?;
        }
        Ok(reader)
    }

    /// Width, height and samples of the whole picture: gray, RGB, or CMYK with the polarity of the file.
    pub(in super::super) fn pixels(self, output: Output) -> Result<(u32, u32, Vec<u8>)> {
        use sys::J_COLOR_SPACE::{JCS_CMYK, JCS_GRAYSCALE, JCS_RGB, JCS_YCCK, JCS_YCbCr};
        let parts = self.parts;
        let (stored, wanted) = match output.colours {
            Colours::Gray => (JCS_GRAYSCALE, JCS_GRAYSCALE),
            Colours::YCbCr => (JCS_YCbCr, JCS_RGB),
            Colours::Rgb => (JCS_RGB, JCS_RGB),
            Colours::Cmyk => (JCS_CMYK, JCS_CMYK),
            Colours::Ycck => (JCS_YCCK, JCS_CMYK),
        };
        // SAFETY: `parts` is live, its header has been read, and no other reference to it exists.
        unsafe {
            guarded(&raw mut (*parts).session, || {
                let info = &mut (*parts).info;
                (info.jpeg_color_space, info.out_color_space) = (stored, wanted);
                (info.scale_num, info.scale_denom) = (output.eighths, 8);
                info.dct_method = sys::J_DCT_METHOD::JDCT_ISLOW;
                // Smoothing would invent what an incomplete progressive file lacks.
                info.do_block_smoothing = 0;
                sys::jpeg_start_decompress(info);
            })?;
            let info = &raw mut (*parts).info;
            let (width, height) = ((*info).output_width, (*info).output_height);
            let stride = width as usize * usize::try_from((*info).output_components).unwrap_or(0);
            let mut samples = vec![0; stride * height as usize];
            let mut done = 0;
            while done < height {
                match self.rows(&mut samples[done as usize * stride..], stride)? {
                    0 => return Err(damaged(format!("has no data behind row {done} of {height}"))),
                    read => done += read,
                }
            }
            if (*parts).session.needs_end {
                guarded(&raw mut (*parts).session, || sys::jpeg_finish_decompress(&mut *info))?;
            }
            Ok((width, height, samples))
        }
    }

    /// The quantisation table of each component in zigzag order, and all coefficients of it. `frame` must be that of the
    /// file.
    pub(in super::super) fn coefficients(self, frame: &Frame) -> Result<(Vec<[u16; 64]>, Vec<Plane>)> {
        let parts = self.parts;
        // SAFETY: `parts` is live with its header read, and no reference to it exists.
        let arrays = unsafe { guarded(&raw mut (*parts).session, || sys::jpeg_read_coefficients(&mut (*parts).info))? };
        let (mut tables, mut planes) = (Vec::new(), Vec::new());
        for (index, component) in frame.components.iter().enumerate() {
            // SAFETY: coefficients are read, so that there is an array and a description for each component, with the
            // table that its first scan used.
            let (array, across, rows) = unsafe {
                let info = &*(*parts).info.comp_info.add(index);
                let table = info.quant_table.as_ref().ok_or_else(|| damaged("lacks a quantisation table"))?;
                // It may have come between two scans, behind what is checked as the header.
                check_table(&table.quantval)?;
                tables.push(zigzag(&table.quantval));
                (*arrays.add(index), info.width_in_blocks as usize, info.height_in_blocks)
            };
            let mut plane = Plane::with_room(frame, component);
            for row in 0..rows {
                // SAFETY: the row lies inside the array, which stays where it is until the next call; each row has at
                // least `across` blocks.
                let blocks: &[Block] = unsafe {
                    (*parts).session.run.check()?;
                    let start = guarded(&raw mut (*parts).session, || {
                        let info = &mut (*parts).info.common;
                        (*info.mem).access_virt_barray.map(|access| access(info, array, row, 1, 0))
                    })?;
                    let start = start.ok_or_else(|| damaged("cannot be read"))?;
                    std::slice::from_raw_parts((*start).cast(), across)
                };
                blocks.iter().for_each(|block| plane.push(zigzag(block)));
            }
            planes.push(plane);
        }
        Ok((tables, planes))
    }

    /// Reads up to [`ROWS`] rows of `stride` bytes to the start of `samples`, and tells how many.
    fn rows(&self, samples: &mut [u8], stride: usize) -> Result<u32> {
        let mut rows = [ptr::null_mut(); ROWS];
        let mut count = 0;
        for (row, target) in rows.iter_mut().zip(samples.chunks_exact_mut(stride)) {
            (*row, count) = (target.as_mut_ptr(), count + 1);
        }
        let parts = self.parts;
        // SAFETY: decompression has started, and each of the `count` pointers is to a row of the output's own length,
        // borrowed for the call.
        unsafe {
            guarded(&raw mut (*parts).session, || {
                sys::jpeg_read_scanlines(&mut (*parts).info, rows.as_mut_ptr(), count)
            })
        }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        // SAFETY: `parts` came from `Box::into_raw` and is freed here alone; destroying frees what libjpeg allocated, and
        // is allowed in any state, even before creation (all zero).
        unsafe {
            sys::jpeg_destroy_decompress(&mut (*self.parts).info);
            drop(Box::from_raw(self.parts));
        }
    }
}
