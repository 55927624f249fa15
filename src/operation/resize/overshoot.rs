//! What a kernel with negative lobes adds beside edges is taken away again: in linear light even a faint overshoot below a
//! dark ground is black to eyes, and letters, logos and lamps get rims. No result leaves the range of the source samples next to
//! it, so that plain grounds stay plain, too.

use std::ops::Range;

/// For each of `results` positions the source positions next to it, of `source`: a step to either side.
pub(super) fn windows(start: f64, step: f64, results: usize, source: usize) -> Vec<Range<usize>> {
    let reach = step.max(1.0);
    let window = |at: usize| {
        let centre = start + (at as f64 + 0.5) * step;
        let from = ((centre - reach).floor().max(0.0) as usize).min(source - 1);
        from..((centre + reach).ceil() as usize).clamp(from + 1, source)
    };
    (0..results).map(window).collect()
}

/// Of pixels of `N` samples, in rows of which each result has a window.
pub(super) fn across<const N: usize>(source: &[u16], columns: usize, windows: &[Range<usize>], results: &mut [u16]) {
    let (source, _) = source.as_chunks::<N>();
    let (results, _) = results.as_chunks_mut::<N>();
    for (source, results) in source.chunks_exact(columns).zip(results.chunks_exact_mut(windows.len())) {
        for (result, window) in results.iter_mut().zip(windows) {
            let (mut low, mut high) = ([u16::MAX; N], [0; N]);
            for pixel in &source[window.clone()] {
                widen(&mut low, &mut high, pixel);
            }
            clamp(result, &low, &high);
        }
    }
}

/// Of rows of `length` samples, each of which has a window.
pub(super) fn down(source: &[u16], length: usize, windows: &[Range<usize>], results: &mut [u16]) {
    let (mut low, mut high) = (vec![0; length], vec![0; length]);
    for (result, window) in results.chunks_exact_mut(length).zip(windows) {
        low.fill(u16::MAX);
        high.fill(0);
        for row in source[window.start * length..window.end * length].chunks_exact(length) {
            widen(&mut low, &mut high, row);
        }
        clamp(result, &low, &high);
    }
}

fn widen(low: &mut [u16], high: &mut [u16], samples: &[u16]) {
    for ((low, high), &sample) in low.iter_mut().zip(high).zip(samples) {
        *low = sample.min(*low);
        *high = sample.max(*high);
    }
}

fn clamp(results: &mut [u16], low: &[u16], high: &[u16]) {
    for ((result, &low), &high) in results.iter_mut().zip(low).zip(high) {
        *result = (*result).clamp(low, high);
    }
}
