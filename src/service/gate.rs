//! Who knocks, and whether too often.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{
    Engine as _,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::response::{Problem, Rate};
use crate::{
    clock::Timestamp,
    port::{
        Ledger,
        ledger::{KeyHolder, KeyMac, SKEW},
    },
    request::Secret,
};

/// Counts requests of each key. The ledger grants permits in blocks, which are spent here in memory; an end of
/// the process loses no more than the unspent rest of a block, and never is more granted than allowed.
#[derive(Debug)]
pub(super) struct Gate {
    limit: u64,
    window: Duration,
    seen: Mutex<BTreeMap<KeyMac, Seen>>,
}

/// What is remembered of a key.
#[derive(Debug, Clone, Copy)]
struct Seen {
    holder: KeyHolder,
    /// When the holder was looked up: a disabled account is refused this much later at most.
    asked: Timestamp,
    /// Permits granted in this window, and those of them that are unspent.
    granted: u64,
    unspent: u64,
    resets: Timestamp,
}

/// A holder is looked up again after this time.
const HOLDER_LIFE: Duration = Duration::from_secs(1);
/// Keys remembered at most; then those whose window is over are forgotten, and if there are none all.
const KEYS: usize = 100_000;
/// Permits taken at a time, at most.
const BLOCK: u64 = 256;

/// A request that may go on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admitted {
    pub(super) holder: KeyHolder,
    pub(super) rate: Rate,
}

impl Gate {
    pub(super) fn new(limit: u64, window: Duration) -> Self {
        Self { limit, window, seen: Mutex::default() }
    }

    /// What is told of the rate without a valid key.
    pub(super) fn full(&self) -> Rate {
        Rate { limit: self.limit, remaining: self.limit, reset_s: self.window.as_secs() }
    }

    /// Takes one request out of the key's window. The rate comes with a refusal, too.
    pub(super) async fn admit(
        &self,
        ledger: &dyn Ledger,
        key: KeyMac,
        now: Timestamp,
    ) -> Result<Admitted, (Problem, Rate)> {
        let unknown = |problem: Problem| (problem, self.full());
        let mut seen = match self.remembered(key, now) {
            Some(seen) => seen,
            None => {
                let holder = ledger.key_holder(key).await.map_err(|failure| unknown(failure.into()))?;
                let holder = holder.ok_or_else(|| unknown(Problem::unauthorised()))?;
                self.remember(key, |seen| Seen { holder, asked: now, ..seen }, holder, now)
            }
        };
        let runs = self.runs(&seen, now);
        let mut spent = runs && self.spend(key, now, &mut seen);
        if !spent && (!runs || seen.granted < self.limit) {
            let left = if runs { self.limit - seen.granted } else { self.limit };
            let want = (left / 8).clamp(1, BLOCK);
            let grant = ledger.take_rate(key, want, self.limit, self.window, now).await;
            let grant = grant.map_err(|failure| unknown(failure.into()))?;
            let renewed = |seen: Seen| Seen {
                granted: grant.used.max(if seen.resets == grant.resets { seen.granted } else { 0 }),
                unspent: grant.granted + if seen.resets == grant.resets { seen.unspent } else { 0 },
                resets: grant.resets,
                ..seen
            };
            seen = self.remember(key, renewed, seen.holder, now);
            spent = self.spend(key, now, &mut seen);
        }
        let rate = self.rate(&seen, now);
        if spent { Ok(Admitted { holder: seen.holder, rate }) } else { Err((Problem::too_fast(rate.reset_s), rate)) }
    }

    /// Whether a window has not ended. One that ends later than any that begins now is of a clock that was set back, but for
    /// requests that come out of order, as in the ledger.
    fn runs(&self, seen: &Seen, now: Timestamp) -> bool {
        seen.resets > now && seen.resets <= now + self.window + SKEW
    }

    fn rate(&self, seen: &Seen, now: Timestamp) -> Rate {
        let reset_s = seen.resets.since(now).as_millis().div_ceil(1000);
        let remaining = self.limit.saturating_sub(seen.granted) + seen.unspent;
        Rate { limit: self.limit, remaining, reset_s: u64::try_from(reset_s).unwrap_or(u64::MAX).max(1) }
    }

    fn remembered(&self, key: KeyMac, now: Timestamp) -> Option<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&key).copied().filter(|seen| seen.asked <= now && now.since(seen.asked) < HOLDER_LIFE)
    }

    fn remember(&self, key: KeyMac, change: impl Fn(Seen) -> Seen, holder: KeyHolder, now: Timestamp) -> Seen {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEYS && !all.contains_key(&key) {
            all.retain(|_, seen| self.runs(seen, now));
            if all.len() >= KEYS {
                all.clear();
            }
        }
        let fresh = Seen { holder, asked: now, granted: 0, unspent: 0, resets: Timestamp::default() };
        let seen = all.entry(key).or_insert(fresh);
        *seen = change(*seen);
        *seen
    }

    fn spend(&self, key: KeyMac, now: Timestamp, seen: &mut Seen) -> bool {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kept) = all.get_mut(&key).filter(|kept| self.runs(kept, now)) else { return false };
        let may = kept.unspent > 0;
        kept.unspent -= u64::from(may);
        *seen = *kept;
        may
    }
}

/// The API key in an `Authorization` header: the user of Basic (with an empty password) or the token of Bearer.
pub(super) fn api_key(authorization: &str) -> Option<Secret> {
    // Clients differ in whether they pad.
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let (scheme, value) = authorization.trim().split_once(' ')?;
    let value = value.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return (!value.is_empty()).then(|| value.into());
    }
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| LENIENT.decode(value).ok())??;
    let pair = Secret::from(String::from_utf8(decoded).ok()?);
    let (user, password) = pair.expose().split_once(':')?;
    (!user.is_empty() && password.is_empty()).then(|| user.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_by_either_scheme() {
        for header in ["Bearer abc", "bearer  abc ", "Basic YWJjOg==", "BASIC YWJjOg", "basic YWJjOg=="] {
            assert_eq!(api_key(header), Some("abc".into()), "{header}");
        }
    }

    #[test]
    fn other_headers_hold_no_key() {
        for header in
            ["", "abc", "Bearer", "Bearer ", "Digest abc", "Basic !!!", "Basic YWJj", "Basic Og==", "Basic YWJjOng="]
        {
            assert_eq!(api_key(header), None, "{header}");
        }
    }
}
