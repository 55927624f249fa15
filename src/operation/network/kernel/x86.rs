//! AVX2 with FMA, and AVX-512.

#![allow(unsafe_code, reason = "intrinsics")]

use std::{arch::x86_64::*, ops::Range};

use super::{
    Map,
    winograd::{self, Job, Space, Vector, vector},
};

vector!(
    __m256,
    8,
    _mm256_loadu_ps,
    _mm256_set1_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_max_ps,
    |sum, a, b| _mm256_fmadd_ps(a, b, sum)
);
vector!(
    __m512,
    16,
    _mm512_loadu_ps,
    _mm512_set1_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_max_ps,
    |sum, a, b| _mm512_fmadd_ps(a, b, sum)
);

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

/// Eight sums, as each multiplication can read its value from memory: enough to wait for none, and few are made in vain.
pub(super) fn group_avx512(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
    #[target_feature(enable = "avx512f")]
    fn inner(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
        // SAFETY: the instructions are enabled here, and `Kernel::convolve` keeps what is asked.
        unsafe { winograd::group::<__m512, 1, 8>(job, tiles, space, to) }
    }
    // SAFETY: `Kernel::available` found the instructions.
    unsafe { inner(job, tiles, space, to) }
}
