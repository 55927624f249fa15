//! Convolutions of 3 x 3, by the widest instructions that the processor has.
//!
//! Every path sums in the same order, so that those that multiply and add in one rounding (AVX-512, AVX2 with FMA, NEON)
//! agree to the bit; the scalar one rounds twice, which differs by far less than one of 255 at the end.

mod convolve;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(super) use convolve::{Finish, Job};

/// Outputs that are computed side by side: channels are padded to a multiple.
pub(super) const BLOCK: usize = 16;

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

    /// Computes one row of outputs.
    pub(super) fn row(self, job: &Job<'_>, out: &mut [f32]) {
        job.check(out);
        match self {
            Self::Scalar => scalar::row(job, out),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::row_avx2(job, out),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::row_avx512(job, out),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => neon::row(job, out),
        }
    }
}
