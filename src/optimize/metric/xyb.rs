//! Linear light to XYB, the colour space of the eye's first layers in JPEG XL, shifted to be positive.
//!
//! Matrix and bias: libjxl, `lib/jxl/opsin_params.h`; the shift: `MakePositiveXYB` of SSIMULACRA 2.

/// Shares of red, green and blue in the three cone responses.
const MATRIX: [[f32; 3]; 3] = [[0.30, 0.622, 0.078], [0.23, 0.692, 0.078], [0.243_422_69, 0.204_767_45, 0.551_809_85]];
/// Response in the dark, added before the cube root and taken off after it.
const BIAS: f32 = 0.003_793_073_4;
const BIAS_ROOT: f32 = 0.155_954_2;

/// Bits of a first guess of `x^(-1/3)` for `x` from 1 to 2, and what one octave of `x` takes from them.
const GUESS: u32 = 0x5480_0000;
const OCTAVE: u32 = 0x002a_aaaa;

/// Rows of linear red, green and blue.
pub(super) type Linear<'a> = [&'a [f32]; 3];

/// Writes a row's Y alone.
#[inline(always)]
pub(super) fn brightness(linear: Linear<'_>, y: &mut [f32]) {
    let [r, g, b] = linear.map(|plane| &plane[..y.len()]);
    for (i, y) in y.iter_mut().enumerate() {
        let [l, m, _] = cones([r[i], g[i], b[i]]);
        *y = 0.5 * (l + m) + 0.01;
    }
}

/// Writes a row's X, Y and B.
#[inline(always)]
pub(super) fn colours(linear: Linear<'_>, [x, y, blue]: [&mut [f32]; 3]) {
    let width = y.len();
    let [r, g, b] = linear.map(|plane| &plane[..width]);
    let (x, blue) = (&mut x[..width], &mut blue[..width]);
    for i in 0..width {
        let [l, m, s] = cones([r[i], g[i], b[i]]);
        let bright = 0.5 * (l + m);
        x[i] = 0.5 * (l - m) * 14.0 + 0.42;
        y[i] = bright + 0.01;
        blue[i] = (s - bright) + 0.55;
    }
}

#[inline(always)]
fn cones([r, g, b]: [f32; 3]) -> [f32; 3] {
    let mut cones = [0.0; 3];
    for (cone, [red, green, blue]) in cones.iter_mut().zip(&MATRIX) {
        *cone = cube_root(red.mul_add(r, green.mul_add(g, blue.mul_add(b, BIAS))), -BIAS_ROOT);
    }
    cones
}

/// The cube root of a number from [`BIAS`] to 1.01, plus `add`: Newton's method on `x^(-1/3)`, in the operations of
/// `CubeRootAndAdd` in libjxl's `lib/jxl/dec_xyb-inl.h`, since the blur amplifies differences of the last bit.
#[inline(always)]
fn cube_root(x: f32, add: f32) -> f32 {
    let mut root = f32::from_bits(GUESS - (x.to_bits() >> 23) * OCTAVE);
    let slope = -(x * (1.0 / 3.0));
    for _ in 0..3 {
        let square = root * root;
        root = slope.mul_add(square * square, root * (4.0 / 3.0));
    }
    let square = root * root;
    root = (1.0f32 / 3.0).mul_add((-x).mul_add(square * square, root), root);
    (root * root).mul_add(x, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_agree_with_the_library_over_their_whole_range() {
        let mut x = BIAS;
        while x < 1.01 {
            let expected = f64::from(x).cbrt();
            assert!((f64::from(cube_root(x, 0.0)) / expected - 1.0).abs() < 5e-7, "{x}");
            x *= 1.0003;
        }
    }

    #[test]
    fn black_is_the_shift_alone() {
        let [mut x, mut y, mut b] = [[0.0f32]; 3];
        colours([&[0.0], &[0.0], &[0.0]], [&mut x, &mut y, &mut b]);
        for (found, expected) in [(x[0], 0.42), (y[0], 0.01), (b[0], 0.55)] {
            assert!((found - expected).abs() < 2e-6, "{found} for {expected}");
        }
    }

    #[test]
    fn brightness_is_the_middle_one_of_the_colours() {
        let linear = [[0.2, 0.9, 0.0], [0.1, 0.4, 1.0], [0.7, 0.3, 0.5]];
        let linear = linear.each_ref().map(|plane| &plane[..]);
        let [mut x, mut y, mut b, mut alone] = [[0.0f32; 3]; 4];
        colours(linear, [&mut x, &mut y, &mut b]);
        brightness(linear, &mut alone);
        assert_eq!(y, alone);
    }
}
