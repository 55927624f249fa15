//! NEON, which every AArch64 processor has.

#![allow(unsafe_code, reason = "intrinsics")]

use std::{arch::aarch64::*, ops::Range};

use super::{
    Map,
    winograd::{self, Job, Space, Vector},
};

impl Vector for float32x4_t {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: promised by the caller, here and below.
        unsafe { vld1q_f32(from) }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: see `load`.
        unsafe { vdupq_n_f32(value) }
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { vfmaq_f32(self, a, b) }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { vaddq_f32(self, other) }
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { vsubq_f32(self, other) }
    }
    #[inline(always)]
    unsafe fn at_least_zero(self) -> Self {
        // SAFETY: see `load`.
        unsafe { vmaxq_f32(self, vdupq_n_f32(0.0)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: see `load`.
        unsafe { vst1q_f32(to, self) }
    }
}

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
