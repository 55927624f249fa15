//! AVX2 with FMA, and AVX-512.

#![allow(unsafe_code, reason = "intrinsics")]

use std::{arch::x86_64::*, ops::Range};

use super::{
    Map,
    winograd::{self, Job, Space, Vector},
};

impl Vector for __m256 {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: promised by the caller, here and below.
        unsafe { _mm256_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm256_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm256_fmadd_ps(a, b, self) }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm256_add_ps(self, other) }
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm256_sub_ps(self, other) }
    }
    #[inline(always)]
    unsafe fn at_least_zero(self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm256_max_ps(self, _mm256_setzero_ps()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: see `load`.
        unsafe { _mm256_storeu_ps(to, self) }
    }
}

impl Vector for __m512 {
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: promised by the caller, here and below.
        unsafe { _mm512_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm512_fmadd_ps(a, b, self) }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm512_add_ps(self, other) }
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm512_sub_ps(self, other) }
    }
    #[inline(always)]
    unsafe fn at_least_zero(self) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm512_max_ps(self, _mm512_setzero_ps()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: see `load`.
        unsafe { _mm512_storeu_ps(to, self) }
    }
}

/// Twelve sums, two weights and a value fill fifteen of sixteen registers.
pub(super) fn group_avx2(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
    #[target_feature(enable = "avx2,fma")]
    fn inner(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
        // SAFETY: the instructions are enabled here, and `Kernel::convolve` keeps what is asked.
        unsafe { winograd::group::<__m256, 2, 6>(job, tiles, space, to) }
    }
    // SAFETY: `Kernel::available` found the instructions.
    unsafe { inner(job, tiles, space, to) }
}

/// Twenty-four sums, as each multiplication can read its value from memory.
pub(super) fn group_avx512(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
    #[target_feature(enable = "avx512f")]
    fn inner(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
        // SAFETY: the instructions are enabled here, and `Kernel::convolve` keeps what is asked.
        unsafe { winograd::group::<__m512, 1, 24>(job, tiles, space, to) }
    }
    // SAFETY: `Kernel::available` found the instructions.
    unsafe { inner(job, tiles, space, to) }
}
