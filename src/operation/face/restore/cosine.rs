//! The cosine transform of 8 x 8 blocks, orthonormal, so that white noise stays as strong as it is.

/// Rows of eight.
pub(super) type Block = [[f32; 8]; 8];

/// cos(n pi / 16) / 2 for n of 1 to 7, and 1 / sqrt(8).
const C: [f32; 8] =
    [0.353_553_4, 0.490_392_64, 0.461_939_77, 0.415_734_8, 0.353_553_4, 0.277_785_12, 0.191_341_72, 0.097_545_16];

/// Of the even half: what the sums of mirrored rows count.
const EVEN: [[f32; 4]; 4] =
    [[C[0], C[0], C[0], C[0]], [C[2], C[6], -C[6], -C[2]], [C[4], -C[4], -C[4], C[4]], [C[6], -C[2], C[2], -C[6]]];
/// Of the odd half: what their differences count.
const ODD: [[f32; 4]; 4] =
    [[C[1], C[3], C[5], C[7]], [C[3], -C[7], -C[1], -C[5]], [C[5], -C[1], C[7], C[3]], [C[7], -C[5], C[3], -C[1]]];

#[inline(always)]
fn weighted(rows: [&[f32; 8]; 4], weights: [f32; 4]) -> [f32; 8] {
    let mut out = [0.0; 8];
    for (x, value) in out.iter_mut().enumerate() {
        *value = rows[0][x] * weights[0] + rows[1][x] * weights[1] + rows[2][x] * weights[2] + rows[3][x] * weights[3];
    }
    out
}

/// Down all columns.
#[inline(always)]
fn down(block: &Block) -> Block {
    let (mut sums, mut differences) = ([[0.0; 8]; 4], [[0.0; 8]; 4]);
    for n in 0..4 {
        for x in 0..8 {
            sums[n][x] = block[n][x] + block[7 - n][x];
            differences[n][x] = block[n][x] - block[7 - n][x];
        }
    }
    let [a, b, c, d] = &sums;
    let [e, f, g, h] = &differences;
    let mut out = [[0.0; 8]; 8];
    for n in 0..4 {
        out[2 * n] = weighted([a, b, c, d], EVEN[n]);
        out[2 * n + 1] = weighted([e, f, g, h], ODD[n]);
    }
    out
}

/// Back up all columns.
#[inline(always)]
fn up(block: &Block) -> Block {
    let [a, b, c, d, e, f, g, h] = block;
    let mut out = [[0.0; 8]; 8];
    for n in 0..4 {
        let even = weighted([a, c, e, g], [EVEN[0][n], EVEN[1][n], EVEN[2][n], EVEN[3][n]]);
        let odd = weighted([b, d, f, h], [ODD[0][n], ODD[1][n], ODD[2][n], ODD[3][n]]);
        for x in 0..8 {
            out[n][x] = even[x] + odd[x];
            out[7 - n][x] = even[x] - odd[x];
        }
    }
    out
}

#[inline(always)]
fn flipped(block: &Block) -> Block {
    let mut out = [[0.0; 8]; 8];
    for (y, row) in block.iter().enumerate() {
        for (x, value) in row.iter().enumerate() {
            out[x][y] = *value;
        }
    }
    out
}

/// Frequencies of a block: across by row, down by column.
#[inline(always)]
pub(super) fn forward(block: &Block) -> Block {
    down(&flipped(&down(block)))
}

/// The block of these frequencies.
#[inline(always)]
pub(super) fn backward(block: &Block) -> Block {
    up(&flipped(&up(block)))
}
