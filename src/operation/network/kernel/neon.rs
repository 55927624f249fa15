//! NEON, which every AArch64 processor has.

#![allow(unsafe_code, reason = "intrinsics")]

use std::{arch::aarch64::*, ops::Range};

use super::{
    Map,
    winograd::{self, Job, Space, Vector, vector},
};

vector!(float32x4_t, 4, vld1q_f32, vdupq_n_f32, vst1q_f32, vaddq_f32, vsubq_f32, vmaxq_f32, |sum, a, b| vfmaq_f32(
    sum, a, b
));

/// Twenty-four sums, four weights and a value fill twenty-nine of thirty-two registers.
pub(super) fn group(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
    #[target_feature(enable = "neon")]
    fn inner(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
        // SAFETY: the instructions are enabled here, and `Kernel::convolve` keeps what is asked.
        unsafe { winograd::group::<float32x4_t, 4, 6>(job, tiles, space, to) }
    }
    // SAFETY: `Kernel::available` found the instructions.
    unsafe { inner(job, tiles, space, to) }
}
