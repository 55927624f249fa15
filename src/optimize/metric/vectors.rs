//! One body of code, compiled twice: for any machine, and for those with wide vectors and fused arithmetic.
//!
//! Both do the same operations in the same order, so both give the same bits; only their speed differs.

/// Work whose [`Work::run`], with all that it calls, is `#[inline(always)]`.
pub(super) trait Work {
    fn run(self);
}

/// Runs `work` in the best version for this machine.
pub(super) fn dispatch(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the only demand of `wide` is a processor with these two features, and it has just said so.
        #[allow(unsafe_code, reason = "a call that needs a processor feature")]
        return unsafe { wide(work) };
    }
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide(work: impl Work) {
    work.run();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::metric::blur::{self, Lanes};

    struct Blur<'a>(&'a [Lanes], &'a mut [Lanes]);

    impl Work for Blur<'_> {
        #[inline(always)]
        fn run(self) {
            blur::across(self.0, self.1);
        }
    }

    #[test]
    fn the_version_for_this_machine_gives_the_bits_of_the_one_for_any() {
        let rows: Vec<Lanes> = (0..301).map(|x| std::array::from_fn(|y| (x * 7 + y * y) as f32 % 1.3)).collect();
        let (mut any, mut this) = (rows.clone(), rows.clone());
        Blur(&rows, &mut any).run();
        dispatch(Blur(&rows, &mut this));
        assert_eq!(any, this);
    }
}
