//! Notifications.

use std::sync::Arc;

use super::*;
use crate::port::ledger::{Delivery, DeliveryState, HookLease, HookOutcome, SKEW};

pub(super) const FACTS: &[Fact<dyn Ledger>] = facts![
    a_job_without_a_hook_notifies_nobody,
    a_hook_holds_what_was_accepted_and_the_result,
    a_failed_job_notifies_too,
    nobody_is_told_before_the_end_or_the_delay,
    the_longest_due_is_leased_first,
    no_more_hooks_are_leased_than_asked_for,
    a_lane_has_no_more_than_its_share,
    a_slow_lane_holds_up_no_other,
    accounts_share_a_lane,
    accounts_take_turns_in_a_lane_that_is_full,
    a_hook_lease_that_ran_out_goes_to_another,
    a_failed_attempt_is_made_again,
    what_is_given_up_is_dead,
    what_is_delivered_is_over,
    ending_a_hook_lease_twice_changes_nothing,
    handing_back_leaves_no_trace,
    the_last_twenty_attempts_are_kept,
    deliveries_are_listed_newest_first,
    a_dead_delivery_can_be_replayed,
    hook_leases_end_when_the_clock_jumps_back,
];

/// A notification that can be leased now.
async fn told(ledger: &dyn Ledger, number: u64) -> Result<HookLease> {
    settled(ledger, hooked_job(1, number), completed()).await?;
    hook(ledger, NOW).await
}

/// Leases the one hook that can be.
async fn hook(ledger: &dyn Ledger, now: Timestamp) -> Result<HookLease> {
    Ok(ledger.claim_hooks(1, 10, LEASE, now).await?.pop().expect("a hook can be leased"))
}

/// Ids of the jobs of all the hooks that can be leased.
async fn hooks(ledger: &dyn Ledger, now: Timestamp) -> Result<Vec<JobId>> {
    Ok(ledger.claim_hooks(1_000, 1_000, LEASE, now).await?.into_iter().map(|hook| hook.job).collect())
}

fn in_lane(number: u64, lane: u64) -> NewJob {
    NewJob { hook: Some(NewHook { sealed: b"address".to_vec(), lane, delay: Duration::ZERO }), ..new_job(1, number) }
}

/// Ten deliveries of each account to one lane, those of the first the longest due.
async fn of_two_to_one_lane(ledger: &dyn Ledger) -> Result<()> {
    open(ledger, 2).await?;
    for number in 1..=20 {
        settled(ledger, hooked_job(1 + (number - 1) / 10, number), completed()).await?;
    }
    Ok(())
}

async fn delivered(ledger: &dyn Ledger, hook: &HookLease) -> Result<()> {
    let held = ledger.settle_hook(hook.job, hook.fence, HookOutcome::Delivered, "200", NOW).await?;
    assert_eq!(held, Held::Yes);
    Ok(())
}

async fn a_job_without_a_hook_notifies_nobody(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    settled(&*ledger, new_job(1, 1), completed()).await?;
    assert_eq!(hooks(&*ledger, NOW + seconds(99)).await?, []);
    assert_eq!(ledger.deliveries(account_id(1), 10).await?, []);
    Ok(())
}

async fn a_hook_holds_what_was_accepted_and_the_result(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let mut job = hooked_job(1, 1);
    let lane = u64::MAX - 5;
    job.hook = job.hook.map(|hook| NewHook { lane, ..hook });
    settled(&*ledger, job, completed()).await?;
    let leased = hook(&*ledger, NOW).await?;
    let whole = HookLease {
        job: job_id(1),
        account: account_id(1),
        fence: leased.fence,
        failures: 0,
        sealed: b"address 1".to_vec(),
        lane,
        body: b"{\"done\":true}".to_vec(),
    };
    assert_eq!(leased, whole);
    Ok(())
}

async fn a_failed_job_notifies_too(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    settled(&*ledger, hooked_job(1, 1), failed()).await?;
    assert_eq!(hook(&*ledger, NOW).await?.body, b"{\"done\":false}");
    Ok(())
}

async fn nobody_is_told_before_the_end_or_the_delay(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let mut job = hooked_job(1, 1);
    job.hook = job.hook.map(|hook| NewHook { delay: seconds(86_400), ..hook });
    accept(&*ledger, job).await?.expect("it is within the quota");
    assert_eq!(hooks(&*ledger, NOW + seconds(999_999)).await?, []);
    let leased = lease(&*ledger, NOW).await?;
    assert_eq!(hooks(&*ledger, NOW + seconds(999_999)).await?, []);
    assert_eq!(ledger.deliveries(account_id(1), 10).await?, []);
    ledger.settle(leased.id, leased.fence, completed(), NOW + seconds(10)).await?;
    let due = NOW + seconds(86_410);
    let delivery = Delivery { job: job_id(1), state: DeliveryState::Pending { due }, attempts: Vec::new() };
    assert_eq!(ledger.deliveries(account_id(1), 10).await?, [delivery]);
    assert_eq!(hooks(&*ledger, due - Duration::from_millis(1)).await?, []);
    assert_eq!(hooks(&*ledger, due).await?, [job_id(1)]);
    Ok(())
}

async fn the_longest_due_is_leased_first(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    for (number, delay) in [(1, 30), (2, 10), (3, 20), (4, 99)] {
        let mut job = in_lane(number, number % 2);
        job.hook = job.hook.map(|hook| NewHook { delay: seconds(delay), ..hook });
        settled(&*ledger, job, completed()).await?;
    }
    assert_eq!(hooks(&*ledger, NOW + seconds(40)).await?, [2, 3, 1].map(job_id));
    Ok(())
}

async fn no_more_hooks_are_leased_than_asked_for(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    for number in 1..=5 {
        settled(&*ledger, in_lane(number, number), completed()).await?;
    }
    for (max, got) in [(0, 0), (2, 2), (10, 3), (10, 0)] {
        assert_eq!(ledger.claim_hooks(max, 10, LEASE, NOW).await?.len(), got);
    }
    Ok(())
}

async fn a_lane_has_no_more_than_its_share(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    for number in 1..=5 {
        settled(&*ledger, in_lane(number, 7), completed()).await?;
    }
    let first = ledger.claim_hooks(10, 2, LEASE, NOW).await?;
    assert_eq!(first.len(), 2);
    assert_eq!(ledger.claim_hooks(10, 2, LEASE, NOW).await?, []);
    ledger.settle_hook(first[0].job, first[0].fence, HookOutcome::Delivered, "200", NOW).await?;
    let second = ledger.claim_hooks(10, 2, LEASE, NOW + seconds(1)).await?;
    assert_eq!(second.len(), 1);
    let after = ledger.claim_hooks(10, 2, LEASE, NOW + LEASE).await?;
    assert_eq!(after.len(), 1, "one lease ran out, the other still runs");
    assert_eq!(ledger.claim_hooks(10, 3, LEASE, NOW + LEASE).await?.len(), 1);
    Ok(())
}

async fn a_slow_lane_holds_up_no_other(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    for number in 1..=20 {
        settled(&*ledger, in_lane(number, 1), completed()).await?;
    }
    for number in 21..=23 {
        settled(&*ledger, in_lane(number, 2), completed()).await?;
    }
    let lanes = |hooks: &[HookLease]| {
        let mut lanes: Vec<u64> = hooks.iter().map(|hook| hook.lane).collect();
        lanes.sort_unstable();
        lanes
    };
    assert_eq!(lanes(&ledger.claim_hooks(4, 2, LEASE, NOW).await?), [1, 1, 2, 2]);
    assert_eq!(lanes(&ledger.claim_hooks(4, 3, LEASE, NOW).await?), [1, 2]);
    Ok(())
}

async fn accounts_share_a_lane(ledger: Arc<dyn Ledger>) -> Result<()> {
    of_two_to_one_lane(&*ledger).await?;
    let jobs = |hooks: &[HookLease]| hooks.iter().map(|hook| hook.job).collect::<Vec<_>>();
    let first = ledger.claim_hooks(10, 4, LEASE, NOW).await?;
    assert_eq!(jobs(&first), [1, 11, 2, 12].map(job_id));
    for hook in [&first[1], &first[3]] {
        delivered(&*ledger, hook).await?;
    }
    let second = ledger.claim_hooks(10, 4, LEASE, NOW).await?;
    assert_eq!(jobs(&second), [13, 14].map(job_id), "whoever's are slow has two on their way still");
    let third = ledger.claim_hooks(10, 4, LEASE, NOW + LEASE).await?;
    assert_eq!(third.len(), 4, "leases that ran out count no more");
    Ok(())
}

async fn accounts_take_turns_in_a_lane_that_is_full(ledger: Arc<dyn Ledger>) -> Result<()> {
    of_two_to_one_lane(&*ledger).await?;
    for number in [1, 11, 2, 12, 3] {
        let [next] = ledger.claim_hooks(10, 1, LEASE, NOW).await?.try_into().expect("there is room for one");
        assert_eq!(next.job, job_id(number));
        delivered(&*ledger, &next).await?;
    }
    Ok(())
}

async fn a_hook_lease_that_ran_out_goes_to_another(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let first = told(&*ledger, 1).await?;
    assert_eq!(hooks(&*ledger, NOW + LEASE - Duration::from_millis(1)).await?, []);
    let second = hook(&*ledger, NOW + LEASE).await?;
    assert!(second.fence > first.fence);
    assert_eq!((&second.sealed, second.failures), (&first.sealed, 0));
    let late = ledger.settle_hook(first.job, first.fence, HookOutcome::Delivered, "200", NOW).await?;
    assert_eq!(late, Held::Lost);
    let ended = ledger.settle_hook(second.job, second.fence, HookOutcome::Delivered, "200", NOW).await?;
    assert_eq!(ended, Held::Yes);
    assert_eq!(ledger.deliveries(account_id(1), 1).await?[0].attempts.len(), 1);
    Ok(())
}

async fn a_failed_attempt_is_made_again(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let first = told(&*ledger, 1).await?;
    let due = NOW + seconds(300);
    let outcome = HookOutcome::Failed { again: Some(due) };
    assert_eq!(ledger.settle_hook(first.job, first.fence, outcome, "503", NOW).await?, Held::Yes);
    assert_eq!(hooks(&*ledger, due - Duration::from_millis(1)).await?, []);
    let second = hook(&*ledger, due).await?;
    assert_eq!((second.failures, second.sealed), (1, first.sealed));
    Ok(())
}

async fn what_is_given_up_is_dead(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let leased = told(&*ledger, 1).await?;
    ledger.settle_hook(leased.job, leased.fence, HookOutcome::Failed { again: None }, "410", NOW).await?;
    assert_eq!(hooks(&*ledger, NOW + seconds(999_999)).await?, []);
    let attempts = vec![(NOW, "410".to_owned())];
    let dead = Delivery { job: job_id(1), state: DeliveryState::Dead, attempts };
    assert_eq!(ledger.deliveries(account_id(1), 10).await?, [dead]);
    Ok(())
}

async fn what_is_delivered_is_over(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let leased = told(&*ledger, 1).await?;
    let later = NOW + seconds(2);
    ledger.settle_hook(leased.job, leased.fence, HookOutcome::Delivered, "200", later).await?;
    assert_eq!(hooks(&*ledger, NOW + seconds(999_999)).await?, []);
    let attempts = vec![(later, "200".to_owned())];
    let delivered = Delivery { job: job_id(1), state: DeliveryState::Delivered, attempts };
    assert_eq!(ledger.deliveries(account_id(1), 10).await?, [delivered]);
    Ok(())
}

async fn ending_a_hook_lease_twice_changes_nothing(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let leased = told(&*ledger, 1).await?;
    let again = HookOutcome::Failed { again: Some(NOW + seconds(5)) };
    for outcome in [again.clone(), again, HookOutcome::Delivered, HookOutcome::Failed { again: None }] {
        assert_eq!(ledger.settle_hook(leased.job, leased.fence, outcome, "500", NOW).await?, Held::Yes);
    }
    let unknown = ledger.settle_hook(job_id(9), Fence(1), HookOutcome::Delivered, "200", NOW).await?;
    assert_eq!(unknown, Held::Lost);
    assert_eq!(ledger.deliveries(account_id(1), 1).await?[0].attempts.len(), 1);
    assert_eq!(hook(&*ledger, NOW + seconds(5)).await?.failures, 1);
    Ok(())
}

async fn handing_back_leaves_no_trace(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let first = told(&*ledger, 1).await?;
    let at = NOW + seconds(3);
    ledger.settle_hook(first.job, first.fence, HookOutcome::HandedBack { at }, "shut down", NOW).await?;
    assert_eq!(hooks(&*ledger, NOW + seconds(2)).await?, []);
    let second = hook(&*ledger, at).await?;
    assert_eq!((second.failures, second.sealed), (0, first.sealed));
    assert_eq!(ledger.deliveries(account_id(1), 1).await?[0].attempts, []);
    Ok(())
}

async fn the_last_twenty_attempts_are_kept(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let mut leased = told(&*ledger, 1).await?;
    for attempt in 1..=25 {
        let now = NOW + seconds(attempt);
        let outcome = HookOutcome::Failed { again: Some(now) };
        ledger.settle_hook(leased.job, leased.fence, outcome, &format!("attempt\n{attempt}"), now).await?;
        leased = hook(&*ledger, now).await?;
    }
    assert_eq!(leased.failures, 25);
    let last: Vec<_> = (6..=25).map(|attempt| (NOW + seconds(attempt), format!("attempt\n{attempt}"))).collect();
    assert_eq!(ledger.deliveries(account_id(1), 1).await?[0].attempts, last);
    Ok(())
}

async fn deliveries_are_listed_newest_first(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    for number in [3, 1, 2] {
        settled(&*ledger, hooked_job(1, number), completed()).await?;
    }
    settled(&*ledger, hooked_job(2, 9), completed()).await?;
    let listed = async |account, max| -> Result<Vec<JobId>> {
        Ok(ledger.deliveries(account_id(account), max).await?.into_iter().map(|delivery| delivery.job).collect())
    };
    assert_eq!(listed(1, 10).await?, [2, 1, 3].map(job_id));
    assert_eq!(listed(1, 2).await?, [2, 1].map(job_id));
    assert_eq!(listed(2, 10).await?, [job_id(9)]);
    assert_eq!(listed(3, 10).await?, []);
    Ok(())
}

async fn a_dead_delivery_can_be_replayed(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    let leased = told(&*ledger, 1).await?;
    let replay = async |account, job| ledger.replay(account_id(account), job_id(job), NOW + seconds(50)).await;
    ledger.settle_hook(leased.job, leased.fence, HookOutcome::Failed { again: None }, "410", NOW).await?;
    assert!(!replay(2, 1).await?, "another account's");
    assert!(!replay(1, 9).await?, "no such job");
    assert!(replay(1, 1).await?);
    assert!(replay(1, 1).await?, "the answer was lost");
    let due = NOW + seconds(50);
    assert_eq!(ledger.deliveries(account_id(1), 1).await?[0].state, DeliveryState::Pending { due });
    let again = hook(&*ledger, due).await?;
    assert_eq!((again.failures, &again.sealed), (0, &leased.sealed));
    let stale = HookOutcome::Failed { again: None };
    assert_eq!(ledger.settle_hook(leased.job, leased.fence, stale, "410", due).await?, Held::Lost);
    ledger.settle_hook(again.job, again.fence, HookOutcome::Delivered, "200", due).await?;
    assert!(!replay(1, 1).await?, "it is delivered");
    Ok(())
}

async fn hook_leases_end_when_the_clock_jumps_back(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    settled(&*ledger, hooked_job(1, 1), completed()).await?;
    let later = NOW + seconds(3600);
    let first = hook(&*ledger, later).await?;
    assert_eq!(hooks(&*ledger, later - SKEW).await?, [], "callers may come out of order");
    let second = hook(&*ledger, NOW).await?;
    assert!(second.fence > first.fence);
    Ok(())
}
