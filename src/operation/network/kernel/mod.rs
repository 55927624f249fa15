//! Convolutions of 3 x 3, by the widest instructions that the processor has.
//!
//! Every path computes in the same order, so that those that multiply and add in one rounding (AVX-512, AVX2 with FMA, NEON)
//! agree to the bit; the scalar one rounds twice, which differs by far less than one of 255 at the end.

mod filters;
mod map;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod winograd;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(super) use filters::Filters;
pub(super) use map::{Map, Part, TILE};
pub(super) use winograd::{Finish, Job, Space};

use crate::{control::Run, error::Result};

/// Channels that are computed side by side: they are padded to a multiple.
pub(super) const BLOCK: usize = 16;

/// A block of channels.
pub(super) type Line = [f32; BLOCK];

/// One of zeros.
const ZERO: Line = [0.0; BLOCK];

/// Which instructions convolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    /// Plain multiplications and additions.
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kernel {
    /// All that this processor has, the fastest first.
    pub(super) fn available() -> Vec<Self> {
        let mut kernels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                kernels.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                kernels.push(Self::Avx2);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            kernels.push(Self::Neon);
        }
        kernels.push(Self::Scalar);
        kernels
    }

    /// Convolves a part of one map into another of the same size. `run` is asked whether to go on.
    pub(super) fn convolve(self, job: &Job<'_>, to: &mut Map, space: &mut Space, run: Run<'_>) -> Result<()> {
        job.check(to, space);
        for group in job.groups() {
            run.check()?;
            match self {
                Self::Scalar => scalar::group(job, group, space, to),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => x86::group_avx2(job, group, space, to),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => x86::group_avx512(job, group, space, to),
                #[cfg(target_arch = "aarch64")]
                Self::Neon => neon::group(job, group, space, to),
            }
        }
        Ok(())
    }
}
