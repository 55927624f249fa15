//! Orders of a palette that make its indices compress well.

use super::indexed::Indexed;

/// Swaps further apart than this hardly ever pay.
const FARTHEST_SWAP: usize = 50;

/// By alpha, then from bright to dark.
pub(super) fn by_luma(palette: &[[u8; 4]]) -> Vec<u8> {
    let mut order: Vec<u8> = (0..palette.len()).map(|index| index as u8).collect();
    order.sort_by_key(|&index| {
        let [r, g, b, a] = palette[usize::from(index)].map(u32::from);
        (a, std::cmp::Reverse(299 * r + 587 * g + 114 * b), [r, g, b])
    });
    order
}

/// Entries that are often neighbours in the picture get near indices: greedy insertion (after Zeng, Li and Lei, "An
/// efficient color re-indexing scheme for palette-based compression", 2000, inserting anywhere instead of at the ends)
/// followed by swaps as long as they shorten the way.
pub(super) fn by_neighbours(indexed: &Indexed) -> Vec<u8> {
    let weights = Weights::of(indexed);
    let mut order = inserted(&weights);
    while swapped(&mut order, &weights) > 1 {}
    order.iter().map(|&index| index as u8).collect()
}

/// The order turned in a circle, so that the entry of most pixels comes first. Where rows are not filtered it then is
/// the same byte as their filter, and they match across their ends: up to 6 % on pictures with a flat background.
pub(super) fn turned(mut order: Vec<u8>, indexed: &Indexed) -> Vec<u8> {
    let first = most_frequent(indexed);
    let place = order.iter().position(|&index| index == first).unwrap_or(0);
    if place >= order.len() / 2 {
        order.reverse();
        order.rotate_right(place + 1);
    } else {
        order.rotate_left(place);
    }
    order
}

/// The order with the entry of most pixels moved to its front.
pub(super) fn led(mut order: Vec<u8>, indexed: &Indexed) -> Vec<u8> {
    let first = most_frequent(indexed);
    order.sort_by_key(|&index| index != first);
    order
}

fn most_frequent(indexed: &Indexed) -> u8 {
    let mut counts = [0u32; 256];
    indexed.indices.iter().for_each(|&index| counts[usize::from(index)] += 1);
    (0..=255).rev().max_by_key(|&index: &u8| counts[usize::from(index)]).unwrap_or(0)
}

/// Behind the first entry the translucent ones come before the others, so that `tRNS` is short; otherwise the order
/// stays.
pub(super) fn translucent_first(order: &mut [u8], palette: &[[u8; 4]]) {
    if palette.iter().any(|colour| colour[3] != 255) {
        order[1..].sort_by_key(|&index| palette[usize::from(index)][3] == 255);
    }
}

/// How often two entries are neighbours, across or down.
struct Weights {
    entries: usize,
    of: Vec<i64>,
}

impl Weights {
    fn of(indexed: &Indexed) -> Self {
        let entries = indexed.palette.len();
        let mut of = vec![0; entries * entries];
        let mut count = |a: u8, b: u8| of[usize::from(a) * entries + usize::from(b)] += 1;
        let mut above: &[u8] = &[];
        for row in indexed.indices.chunks_exact(indexed.width as usize) {
            row.windows(2).for_each(|pair| count(pair[0], pair[1]));
            row.iter().zip(above).for_each(|(&index, &up)| count(index, up));
            above = row;
        }
        for a in 0..entries {
            for b in 0..a {
                let both = of[a * entries + b] + of[b * entries + a];
                of[a * entries + b] = both;
                of[b * entries + a] = both;
            }
            of[a * entries + a] = 0;
        }
        Self { entries, of }
    }

    fn row(&self, entry: usize) -> &[i64] {
        &self.of[entry * self.entries..][..self.entries]
    }
}

/// Begins with the entry that has the most neighbours; then the one that is drawn most to those placed goes where it
/// costs least.
fn inserted(weights: &Weights) -> Vec<usize> {
    let entries = weights.entries;
    let mut pull: Vec<i64> = (0..entries).map(|entry| weights.row(entry).iter().sum()).collect();
    let mut waiting: Vec<usize> = (0..entries).collect();
    let mut order = Vec::with_capacity(entries);
    while let Some(at) = (0..waiting.len()).max_by_key(|&at| (pull[waiting[at]], waiting.len() - at)) {
        let entry = waiting.remove(at);
        if order.is_empty() {
            pull.fill(0);
        }
        order.insert(cheapest_place(&order, entry, weights), entry);
        pull.iter_mut().zip(weights.row(entry)).for_each(|(pull, weight)| *pull += weight);
    }
    order
}

/// Where `entry` adds least to the sum of weights times distances: its own, and one step for every pair it parts.
fn cheapest_place(order: &[usize], entry: usize, weights: &Weights) -> usize {
    let own = weights.row(entry);
    let (mut parted, mut best) = (0, (i64::MAX, 0));
    for place in 0..=order.len() {
        let before = order[..place].iter().rev().zip(1i64..).map(|(&other, distance)| own[other] * distance);
        let after = order[place..].iter().zip(1i64..).map(|(&other, distance)| own[other] * distance);
        best = best.min((before.sum::<i64>() + after.sum::<i64>() + parted, place));
        if let Some(&moved) = order.get(place) {
            let row = weights.row(moved);
            parted += order[place + 1..].iter().map(|&other| row[other]).sum::<i64>();
            parted -= order[..place].iter().map(|&other| row[other]).sum::<i64>();
        }
    }
    best.1
}

/// One sweep of swaps that make the sum of weights times distances smaller; how many there were.
fn swapped(order: &mut [usize], weights: &Weights) -> usize {
    let mut swaps = 0;
    for a in 0..order.len() {
        for b in a + 1..order.len().min(a + 1 + FARTHEST_SWAP) {
            if gain(order, a, b, weights) > 0 {
                order.swap(a, b);
                swaps += 1;
            }
        }
    }
    swaps
}

/// By how much the sum shrinks if the entries at `a` < `b` change places. Between the two the difference of distances
/// runs from one end to the other; outside it is constant.
fn gain(order: &[usize], a: usize, b: usize, weights: &Weights) -> i64 {
    let (of_a, of_b) = (weights.row(order[a]), weights.row(order[b]));
    let distance = (b - a) as i64;
    let difference = |others: &[usize]| others.iter().map(|&other| of_b[other] - of_a[other]).sum::<i64>();
    let between: i64 = order[a + 1..b]
        .iter()
        .zip(a as i64 + 1..)
        .map(|(&other, at)| (of_b[other] - of_a[other]) * ((a + b) as i64 - 2 * at))
        .sum();
    distance * (difference(&order[..a]) - difference(&order[b + 1..])) + between
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::png::fixtures::noise;

    fn cost(order: &[u8], weights: &Weights) -> i64 {
        let mut sum = 0;
        for (i, &a) in order.iter().enumerate() {
            for (j, &b) in order.iter().enumerate().skip(i + 1) {
                sum += weights.row(usize::from(a))[usize::from(b)] * (j - i) as i64;
            }
        }
        sum
    }

    fn walk(entries: u8) -> Indexed {
        // A walk over a line of entries whose names are shuffled.
        let mut at = i32::from(entries) / 2;
        let names: Vec<u8> = (0..entries).map(|entry| (u32::from(entry) * 7 % u32::from(entries)) as u8).collect();
        let steps = noise(9).take(4096).map(|byte| i32::from(byte % 3) - 1);
        let indices: Vec<u8> = steps
            .map(|step| {
                at = (at + step).clamp(0, i32::from(entries) - 1);
                names[at as usize]
            })
            .collect();
        Indexed {
            width: 4096,
            palette: noise(4).take(4 * usize::from(entries)).collect::<Vec<_>>().as_chunks().0.to_vec(),
            indices,
        }
    }

    #[test]
    fn neighbours_in_the_picture_become_neighbours_in_the_palette() {
        let indexed = walk(20);
        let order = by_neighbours(&indexed);
        let along: Vec<u8> = (0..20u32).map(|entry| (entry * 7 % 20) as u8).collect();
        let weights = Weights::of(&indexed);
        assert_eq!(cost(&order, &weights), cost(&along, &weights));
    }

    #[test]
    fn the_gain_of_a_swap_is_the_difference_of_the_costs() {
        let indexed = walk(12);
        let weights = Weights::of(&indexed);
        let order: Vec<usize> = (0..12).collect();
        let narrow = |order: &[usize]| order.iter().map(|&entry| entry as u8).collect::<Vec<_>>();
        for a in 0..12 {
            for b in a + 1..12 {
                let mut after = order.clone();
                after.swap(a, b);
                let expected = cost(&narrow(&order), &weights) - cost(&narrow(&after), &weights);
                assert_eq!(gain(&order, a, b, &weights), expected);
            }
        }
    }

    #[test]
    fn the_entry_of_most_pixels_leads() {
        let indexed = Indexed { width: 6, palette: vec![[0; 4]; 4], indices: vec![2, 2, 1, 3, 0, 2] };
        assert_eq!(turned(vec![0, 1, 2, 3], &indexed), [2, 1, 0, 3]);
        assert_eq!(turned(vec![0, 2, 1, 3], &indexed), [2, 1, 3, 0]);
        assert_eq!(led(vec![0, 1, 2, 3], &indexed), [2, 0, 1, 3]);
    }

    #[test]
    fn every_order_holds_every_entry_once() {
        for entries in [1, 2, 3, 255] {
            let indexed = walk(entries);
            let orders = [by_neighbours(&indexed), by_luma(&indexed.palette)];
            let moved = orders.clone().map(|order| turned(order, &indexed));
            let led = orders.clone().map(|order| led(order, &indexed));
            for mut order in orders.into_iter().chain(moved).chain(led) {
                translucent_first(&mut order, &indexed.palette);
                order.sort_unstable();
                assert_eq!(order, (0..entries).collect::<Vec<_>>());
            }
        }
    }
}
