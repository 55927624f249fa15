//! Without any special instructions. Compilers make of it what the processor's baseline has.

#![allow(unsafe_code, reason = "shares its loop with the other paths")]

use std::ops::Range;

use super::{
    Map,
    winograd::{self, Job, Space, Vector},
};

/// Four floats, for the compiler to see that they go together.
#[derive(Debug, Clone, Copy)]
struct Four([f32; 4]);

impl Vector for Four {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: promised by the caller.
        Self(unsafe { from.cast::<[f32; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + a.0[i] * b.0[i]))
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
    #[inline(always)]
    unsafe fn at_least_zero(self) -> Self {
        Self(self.0.map(|value| value.max(0.0)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: promised by the caller.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(self.0) }
    }
}

pub(super) fn group(job: &Job<'_>, tiles: Range<usize>, space: &mut Space, to: &mut Map) {
    // SAFETY: `Kernel::convolve` keeps what is asked, and nothing special is needed.
    unsafe { winograd::group::<Four, 4, 2>(job, tiles, space, to) }
}
