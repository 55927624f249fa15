//! Decimal numbers of the fewest characters inside an interval.

/// Powers of ten that an `f64` holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Past this an integer is no longer exact in an `f64`.
const EXACT: f64 = 9e15;

/// The shortest decimal within `tolerance` of `value` (the closest of those), as an SVG or CSS number: no leading zero, an exponent where it
/// is shorter.
///
/// `value` must be finite; a `tolerance` of 0 gives the shortest text that reads back as the same `f64`.
pub(crate) fn shortest(value: f64, tolerance: f64) -> String {
    let mut text = String::new();
    Grid::new(tolerance).nearest(value).push(&mut text);
    text
}

/// `values` as a list with the fewest separators, each within `tolerance`.
pub(crate) fn list(values: &[f64], tolerance: f64) -> String {
    let grid = Grid::new(tolerance);
    let mut text = String::new();
    let mut tail = Tail::Open;
    for value in values {
        tail = grid.nearest(*value).append(tail, &mut text);
    }
    text
}

/// What the text ends with, as far as the next number's separator depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// A letter, a flag or nothing: no separator.
    Open,
    /// A number that a dot or digit would continue.
    Digits,
    /// A number with a dot: a second dot starts the next number.
    Dotted,
}

/// `mantissa` / 10^`decimals`, its mantissa without trailing zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    mantissa: i64,
    decimals: i16,
}

/// How a decimal is written.
#[derive(Clone, Copy)]
enum Layout {
    /// Digits and this many zeros.
    Whole(usize),
    /// A dot inside the digits.
    Inside,
    /// A dot, this many zeros, digits.
    Below(usize),
    /// Digits, `e`, this exponent.
    Power(i32),
}

impl Decimal {
    pub(crate) const ZERO: Self = Self { mantissa: 0, decimals: 0 };
    pub(crate) const ONE: Self = Self { mantissa: 1, decimals: 0 };

    pub(crate) fn value(self) -> f64 {
        let mantissa = self.mantissa as f64;
        match usize::from(self.decimals.unsigned_abs()) {
            0 => mantissa,
            power if power < TENS.len() && self.decimals > 0 => mantissa / TENS[power],
            power if power < TENS.len() => mantissa * TENS[power],
            // Past the exact powers the library's own correctly rounded reading is asked.
            _ => format!("{}e{}", self.mantissa, -i32::from(self.decimals)).parse().unwrap_or(0.0),
        }
    }

    fn digits(self) -> usize {
        self.mantissa.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1)
    }

    fn layout(self) -> Layout {
        let (digits, decimals) = (self.digits() as i32, i32::from(self.decimals));
        let exponent = |power: i32| 2 + i32::from(power.abs() > 9) + i32::from(power.abs() > 99) + i32::from(power < 0);
        match decimals {
            ..=0 if -decimals > exponent(-decimals) => Layout::Power(-decimals),
            ..=0 => Layout::Whole(-decimals as usize),
            _ if decimals < digits => Layout::Inside,
            _ if decimals + 1 > digits + exponent(-decimals) => Layout::Power(-decimals),
            _ => Layout::Below((decimals - digits) as usize),
        }
    }

    /// Characters of this number after `tail`, separator included, and the new tail.
    pub(crate) fn cost(self, tail: Tail) -> (u32, Tail) {
        let digits = self.digits();
        let (len, next, dot) = match self.layout() {
            Layout::Whole(zeros) => (digits + zeros, Tail::Digits, false),
            Layout::Inside => (digits + 1, Tail::Dotted, false),
            Layout::Below(zeros) => (digits + zeros + 1, Tail::Dotted, true),
            Layout::Power(power) => {
                let sign = usize::from(power < 0);
                let more = usize::from(power.abs() > 9) + usize::from(power.abs() > 99);
                (digits + 2 + sign + more, Tail::Digits, false)
            }
        };
        let minus = self.mantissa < 0;
        let joined = minus || tail == Tail::Open || (dot && tail == Tail::Dotted);
        (len as u32 + u32::from(minus) + u32::from(!joined), next)
    }

    /// Writes the number after `tail`, with a separator where one is needed.
    pub(crate) fn append(self, tail: Tail, text: &mut String) -> Tail {
        let dot = matches!(self.layout(), Layout::Below(_));
        if self.mantissa >= 0 && tail != Tail::Open && !(dot && tail == Tail::Dotted) {
            text.push(' ');
        }
        self.push(text);
        self.cost(Tail::Open).1
    }

    fn push(self, text: &mut String) {
        if self.mantissa < 0 {
            text.push('-');
        }
        let mut buffer = [0u8; 20];
        let digits = spell(self.mantissa.unsigned_abs(), &mut buffer);
        match self.layout() {
            Layout::Whole(zeros) => {
                text.push_str(digits);
                text.extend(std::iter::repeat_n('0', zeros));
            }
            Layout::Inside => {
                let (whole, part) = digits.split_at(digits.len() - self.decimals as usize);
                text.push_str(whole);
                text.push('.');
                text.push_str(part);
            }
            Layout::Below(zeros) => {
                text.push('.');
                text.extend(std::iter::repeat_n('0', zeros));
                text.push_str(digits);
            }
            Layout::Power(power) => {
                text.push_str(digits);
                text.push('e');
                text.push_str(&power.to_string());
            }
        }
    }

    /// The shortest decimal that reads back as `value`.
    fn exact(value: f64) -> Self {
        let text = format!("{value:e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, part)| part.len() as i16);
        let mantissa = digits.replace('.', "").parse().unwrap_or(0);
        let mut decimal = Self { mantissa, decimals: decimals - power.parse::<i16>().unwrap_or(0) };
        while decimal.mantissa != 0 && decimal.mantissa % 10 == 0 {
            decimal = Self { mantissa: decimal.mantissa / 10, decimals: decimal.decimals - 1 };
        }
        if decimal.mantissa == 0 { Self::ZERO } else { decimal }
    }
}

fn spell(mut value: u64, buffer: &mut [u8; 20]) -> &str {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    std::str::from_utf8(&buffer[at..]).unwrap_or_default()
}

/// The decimals that a tolerance asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Enough decimals that every interval of the tolerance holds one.
    decimals: i16,
    scale: f64,
    /// The tolerance in units of the last decimal, with room for rounding of the arithmetic.
    reach: f64,
}

impl Grid {
    pub(crate) fn new(tolerance: f64) -> Self {
        let width = 2.0 * tolerance * (1.0 + 1e-9);
        let mut decimals = 0i16;
        let mut scale = 1.0;
        while width * scale < 1.0 && decimals < 22 {
            decimals += 1;
            scale = TENS[decimals as usize];
        }
        while decimals > -15 && decimals <= 0 && width >= TENS[(1 - decimals) as usize] {
            decimals -= 1;
            scale = 1.0 / TENS[-decimals as usize];
        }
        Self { decimals, scale, reach: tolerance * scale * (1.0 + 1e-9) }
    }

    /// The decimal of the fewest characters within the tolerance of `value`.
    pub(crate) fn nearest(&self, value: f64) -> Decimal {
        let scaled = value * self.scale;
        if scaled.abs() >= EXACT || self.reach == 0.0 {
            return Decimal::exact(value);
        }
        let (mut mantissa, mut decimals) = (round(scaled), self.decimals);
        let mut unit = 1i64;
        while mantissa != 0 {
            let coarse = round(scaled / (unit * 10) as f64);
            if (coarse * unit * 10) as f64 - scaled > self.reach || scaled - (coarse * unit * 10) as f64 > self.reach {
                break;
            }
            unit *= 10;
            decimals -= 1;
            mantissa = coarse;
        }
        if mantissa == 0 { Decimal::ZERO } else { Decimal { mantissa, decimals } }
    }

    /// The other neighbour of `value` among numbers of as many decimals as `first`, if it is within the tolerance too.
    pub(crate) fn second(&self, value: f64, first: Decimal) -> Option<Decimal> {
        let scale = scale_of(first.decimals)?;
        let scaled = value * scale;
        let mantissa = first.mantissa + if scaled > first.mantissa as f64 { 1 } else { -1 };
        let off = (mantissa as f64 - scaled).abs() * (self.scale / scale);
        (off <= self.reach && mantissa % 10 != 0).then_some(Decimal { mantissa, decimals: first.decimals })
    }

    /// The number nearest to `value` with one decimal fewer than `number`, whatever the tolerance.
    pub(crate) fn coarser(value: f64, number: Decimal) -> Option<Decimal> {
        let mut decimals = number.decimals - 1;
        let mut mantissa = round(value * scale_of(decimals)?);
        while mantissa != 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            decimals -= 1;
        }
        Some(if mantissa == 0 { Decimal::ZERO } else { Decimal { mantissa, decimals } })
    }
}

fn scale_of(decimals: i16) -> Option<f64> {
    let power = *TENS.get(usize::from(decimals.unsigned_abs()))?;
    Some(if decimals < 0 { 1.0 / power } else { power })
}

/// Half away from zero; a cast is much faster than `f64::round` where the processor's rounding is not assumed.
fn round(value: f64) -> i64 {
    (value + 0.5f64.copysign(value)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_fewest_characters_inside_the_interval() {
        for (value, tolerance, text) in [
            (0.0, 0.1, "0"),
            (-0.04, 0.05, "0"),
            (0.5, 0.01, ".5"),
            (-0.512, 0.01, "-.51"),
            (0.996, 0.005, "1"),
            (12.3456, 0.0005, "12.346"),
            (12.3402, 0.0005, "12.34"),
            (1000.0, 0.1, "1e3"),
            (1200.0, 0.1, "1200"),
            (-123_000.2, 0.5, "-123e3"),
            (0.0001, 1e-6, "1e-4"),
            (0.001, 1e-6, ".001"),
            (0.000_012, 1e-8, "12e-6"),
            (149.0, 60.0, "100"),
            (0.1 + 0.2, 0.0, ".30000000000000004"),
            (1e300, 0.0, "1e300"),
            (1e-300, 0.0, "1e-300"),
        ] {
            assert_eq!(shortest(value, tolerance), text, "{value} within {tolerance}");
        }
    }

    #[test]
    fn every_number_reads_back_within_its_tolerance_and_costs_what_it_is_long() {
        let mut seed = 1u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = ((seed >> 20) as f64 / 1e10 - 800.0) * TENS[(seed % 7) as usize] / 1e4;
            let tolerance = 0.7 / TENS[(seed / 8 % 9) as usize];
            let number = Grid::new(tolerance).nearest(value);
            let text = shortest(value, tolerance);
            let read: f64 = text.parse().expect("a number");
            assert!((read - value).abs() <= tolerance * (1.0 + 1e-6), "{value} as {text} within {tolerance}");
            assert_eq!(number.value(), read);
            assert_eq!(number.cost(Tail::Open).0 as usize, text.len());
        }
    }

    #[test]
    fn lists_have_separators_only_where_numbers_would_run_together() {
        assert_eq!(list(&[0.5, 0.5, -1.0, 2.0, 0.25, 1e4, 0.5], 1e-6), ".5.5-1 2 .25 1e4 .5");
    }
}
