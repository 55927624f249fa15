//! Whose work is under way, so that nobody takes all that there is room for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::port::ledger::AccountId;

/// What each account has under way. A quarter of the room, from four on, is never the busiest account's: one whose sources
/// hang or whose uploads drip would have all of it in the end, since whoever else comes has theirs but for moments.
#[derive(Debug, Default)]
pub(super) struct Shares(Mutex<BTreeMap<AccountId, Share>>);

/// Something under way, until it is dropped, also by a panic.
pub(super) type Share = Arc<()>;

impl Shares {
    /// What one account may have of the room for `all`.
    pub(super) const fn most(all: usize) -> usize {
        all - all / 4
    }

    /// One more for an account that has fewer than `most`.
    pub(super) fn take(&self, account: AccountId, most: usize) -> Option<Share> {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shares.retain(|_, share| held(share) > 0);
        let share = shares.entry(account).or_default();
        (held(share) < most).then(|| Arc::clone(share))
    }

    /// How much the busiest account has, and which that is.
    pub(super) fn busiest(&self) -> Option<(usize, AccountId)> {
        let shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shares.iter().map(|(account, share)| (held(share), *account)).filter(|(held, _)| *held > 0).max()
    }
}

fn held(share: &Share) -> usize {
    // But for the one that is kept to be cloned.
    Arc::strong_count(share) - 1
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_is_dropped_is_under_way_no_more() {
        let shares = Shares::default();
        let [a, b] = [1, 2].map(|number| AccountId(Uuid::from_u128(number)));
        let first = shares.take(a, 2);
        let second = shares.take(a, 2);
        let other = shares.take(b, 2);
        assert!(first.is_some() && second.is_some() && other.is_some());
        assert!(shares.take(a, 2).is_none());
        assert_eq!(shares.busiest(), Some((2, a)));
        drop((first, second));
        assert_eq!(shares.busiest(), Some((1, b)));
        assert!(shares.take(a, 1).is_some());
        drop(other);
        assert_eq!(shares.busiest(), None);
    }

    #[test]
    fn a_quarter_is_for_others_where_there_is_one() {
        assert_eq!([1, 2, 3, 4, 8, 256].map(Shares::most), [1, 2, 3, 3, 6, 192]);
    }
}
