//! Leases of jobs: whose turn it is, what runs out, who still holds.

use std::sync::Arc;

use super::*;
use crate::port::ledger::SKEW;

pub(super) const FACTS: &[Fact<dyn Ledger>] = facts![
    a_lease_holds_what_was_accepted,
    nothing_is_leased_twice,
    no_more_are_leased_than_asked_for,
    an_account_is_served_in_the_order_of_acceptance,
    accounts_take_turns,
    many_jobs_of_one_do_not_delay_another,
    the_jobs_of_an_account_that_is_left_out_wait,
    a_lease_that_ran_out_goes_to_another,
    a_lease_that_ran_out_is_held_until_it_goes_to_another,
    prolonging_keeps_a_lease,
    prolonging_answers_in_order,
    a_job_to_be_tried_again_waits_until_then,
    handing_back_is_no_attempt,
    what_is_handed_back_as_counted_is_counted_and_no_attempt,
    ending_a_lease_twice_changes_nothing,
    an_ended_lease_cannot_be_prolonged,
    leases_end_when_the_clock_jumps_back,
    callers_out_of_order_take_nothing_from_each_other,
];

async fn a_lease_holds_what_was_accepted(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    assert_eq!(lease_all(&*ledger, NOW).await?, []);
    let job = NewJob { source_bytes: Some(1234), ..new_job(1, 1) };
    accept(&*ledger, job.clone()).await?.expect("it is within the quota");
    let leased = ledger.claim(1, None, LEASE, NOW + seconds(5)).await?;
    let fence = leased[0].fence;
    let whole = JobLease {
        id: job.id,
        account: job.account,
        fence,
        attempt: 1,
        failures: 0,
        sealed: job.sealed,
        source_bytes: Some(1234),
        accepted: NOW,
    };
    assert_eq!(leased, [whole]);
    Ok(())
}

async fn nothing_is_leased_twice(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, 1..=3).await?;
    assert_eq!(lease_all(&*ledger, NOW).await?.len(), 3);
    assert_eq!(lease_all(&*ledger, NOW).await?, []);
    assert_eq!(lease_all(&*ledger, NOW + LEASE - Duration::from_millis(1)).await?, []);
    Ok(())
}

async fn no_more_are_leased_than_asked_for(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, 1..=5).await?;
    for (max, got) in [(0, 0), (2, 2), (10, 3), (10, 0)] {
        assert_eq!(ledger.claim(max, None, LEASE, NOW).await?.len(), got);
    }
    Ok(())
}

async fn an_account_is_served_in_the_order_of_acceptance(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [5, 3, 4]).await?;
    let earlier = NOW - seconds(3600);
    ledger.accept(new_job(1, 1), ROOM, earlier).await?.expect("it is within the quota");
    assert_eq!(lease_all(&*ledger, NOW).await?, [5, 3, 4, 1].map(job_id));
    Ok(())
}

async fn accounts_take_turns(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 3).await?;
    accept_all(&*ledger, 1, [11, 12, 13, 14]).await?;
    accept_all(&*ledger, 2, [21, 22]).await?;
    accept_all(&*ledger, 3, [31]).await?;
    let order: Vec<JobId> = lease_all(&*ledger, NOW).await?;
    let rounds: Vec<Vec<JobId>> = [3, 2, 1, 1]
        .into_iter()
        .scan(0, |at, len| {
            let mut round = order[*at..*at + len].to_vec();
            *at += len;
            round.sort_unstable();
            Some(round)
        })
        .collect();
    let expected = [vec![11, 21, 31], vec![12, 22], vec![13], vec![14]];
    assert_eq!(rounds, expected.map(|round| round.into_iter().map(job_id).collect::<Vec<_>>()));
    Ok(())
}

async fn many_jobs_of_one_do_not_delay_another(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    accept_all(&*ledger, 1, 1..=50).await?;
    assert_eq!(ledger.claim(10, None, LEASE, NOW).await?.len(), 10);
    accept_all(&*ledger, 2, [100, 101]).await?;
    assert_eq!(lease(&*ledger, NOW).await?.id, job_id(100));
    assert_eq!(lease(&*ledger, NOW).await?.id, job_id(11));
    assert_eq!(lease(&*ledger, NOW).await?.id, job_id(101));
    Ok(())
}

async fn the_jobs_of_an_account_that_is_left_out_wait(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 3).await?;
    accept_all(&*ledger, 1, [1, 2]).await?;
    accept_all(&*ledger, 2, [3]).await?;
    let left_out = async |account, now| -> Result<Vec<JobId>> {
        let leases = ledger.claim(10, Some(account_id(account)), LEASE, now).await?;
        Ok(leases.into_iter().map(|lease| lease.id).collect())
    };
    assert_eq!(left_out(1, NOW).await?, [job_id(3)]);
    assert_eq!(left_out(1, NOW + LEASE).await?, [job_id(3)], "also where leases have run out");
    assert_eq!(left_out(3, NOW).await?, [1, 2].map(job_id), "it has none");
    Ok(())
}

async fn a_lease_that_ran_out_goes_to_another(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    let first = lease(&*ledger, NOW).await?;
    let second = lease(&*ledger, NOW + LEASE).await?;
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert!(second.fence > first.fence);
    assert_eq!(second.sealed, first.sealed);
    let later = NOW + LEASE + seconds(1);
    assert_eq!(ledger.prolong(&[(first.id, first.fence)], LEASE, later).await?, [Held::Lost]);
    assert_eq!(ledger.settle(first.id, first.fence, completed(), later).await?, Held::Lost);
    assert_eq!(spent(&*ledger, 1).await?, (0, 1));
    assert_eq!(ledger.settle(second.id, second.fence, completed(), later).await?, Held::Yes);
    assert_eq!(ledger.settle(first.id, first.fence, failed(), later).await?, Held::Lost);
    assert_eq!(spent(&*ledger, 1).await?, (1, 0));
    Ok(())
}

async fn a_lease_that_ran_out_is_held_until_it_goes_to_another(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1, 2]).await?;
    let (first, second) = (lease(&*ledger, NOW).await?, lease(&*ledger, NOW).await?);
    let later = NOW + LEASE + LEASE;
    assert_eq!(ledger.claim(0, None, LEASE, later).await?, []);
    assert_eq!(ledger.prolong(&[(first.id, first.fence)], LEASE, later).await?, [Held::Yes]);
    assert_eq!(ledger.settle(second.id, second.fence, completed(), later).await?, Held::Yes);
    assert_eq!(lease_all(&*ledger, later).await?, []);
    assert_eq!(ledger.settle(first.id, first.fence, completed(), later).await?, Held::Yes);
    assert_eq!(spent(&*ledger, 1).await?, (2, 0));
    Ok(())
}

async fn prolonging_keeps_a_lease(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    let leased = lease(&*ledger, NOW).await?;
    for beat in 1..=5 {
        let now = NOW + seconds(20 * beat);
        assert_eq!(lease_all(&*ledger, now).await?, []);
        assert_eq!(ledger.prolong(&[(leased.id, leased.fence)], LEASE, now).await?, [Held::Yes]);
    }
    assert_eq!(lease_all(&*ledger, NOW + seconds(129)).await?, []);
    assert_eq!(lease_all(&*ledger, NOW + seconds(130)).await?, [job_id(1)]);
    Ok(())
}

async fn prolonging_answers_in_order(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, 1..=3).await?;
    let leases = ledger.claim(3, None, LEASE, NOW).await?;
    ledger.settle(leases[1].id, leases[1].fence, completed(), NOW).await?;
    let mut held: Vec<(JobId, Fence)> = leases.iter().map(|lease| (lease.id, lease.fence)).collect();
    held.push((job_id(9), Fence(1)));
    held.reverse();
    let answers = ledger.prolong(&held, LEASE, NOW).await?;
    assert_eq!(answers, [Held::Lost, Held::Yes, Held::Lost, Held::Yes]);
    assert_eq!(ledger.prolong(&[], LEASE, NOW).await?, []);
    Ok(())
}

async fn a_job_to_be_tried_again_waits_until_then(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1, 2]).await?;
    let first = lease(&*ledger, NOW).await?;
    let at = NOW + seconds(90);
    assert_eq!(ledger.settle(first.id, first.fence, Outcome::Again { at, counts: true }, NOW).await?, Held::Yes);
    assert_eq!(spent(&*ledger, 1).await?, (0, 2), "the credits stay reserved");
    assert_eq!(lease_all(&*ledger, NOW).await?, [job_id(2)], "it holds up no other");
    assert_eq!(ledger.prolong(&[(job_id(2), Fence(1))], seconds(1000), NOW).await?, [Held::Yes]);
    assert_eq!(lease_all(&*ledger, at - Duration::from_millis(1)).await?, []);
    let second = lease(&*ledger, at).await?;
    assert_eq!((second.id, second.attempt, second.accepted), (job_id(1), 1, NOW));
    assert!(second.fence > first.fence);
    Ok(())
}

async fn handing_back_is_no_attempt(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    let mut fence = Fence(0);
    for _ in 0..3 {
        let leased = lease(&*ledger, NOW).await?;
        assert_eq!(leased.attempt, 1);
        assert!(leased.fence > fence);
        fence = leased.fence;
        ledger.settle(leased.id, leased.fence, Outcome::Again { at: NOW, counts: false }, NOW).await?;
    }
    Ok(())
}

async fn what_is_handed_back_as_counted_is_counted_and_no_attempt(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    for (counts, failures) in [(false, 0), (true, 0), (false, 1), (true, 1), (true, 2)] {
        let leased = lease(&*ledger, NOW).await?;
        assert_eq!((leased.attempt, leased.failures), (1, failures));
        ledger.settle(leased.id, leased.fence, Outcome::Again { at: NOW, counts }, NOW).await?;
    }
    let left_behind = lease(&*ledger, NOW).await?;
    let taken_up = lease(&*ledger, NOW + LEASE).await?;
    assert_eq!([left_behind, taken_up].map(|lease| (lease.attempt, lease.failures)), [(1, 3), (2, 3)]);
    Ok(())
}

async fn ending_a_lease_twice_changes_nothing(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    let leased = lease(&*ledger, NOW).await?;
    let again = Outcome::Again { at: NOW + seconds(10), counts: false };
    for outcome in [again.clone(), again, completed(), Outcome::Again { at: NOW, counts: true }] {
        assert_eq!(ledger.settle(leased.id, leased.fence, outcome, NOW).await?, Held::Yes);
    }
    assert_eq!(spent(&*ledger, 1).await?, (0, 1));
    assert_eq!(lease_all(&*ledger, NOW).await?, []);
    assert_eq!(lease(&*ledger, NOW + seconds(10)).await?.attempt, 1);
    Ok(())
}

async fn an_ended_lease_cannot_be_prolonged(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    let leased = lease(&*ledger, NOW).await?;
    ledger.settle(leased.id, leased.fence, Outcome::Again { at: NOW, counts: true }, NOW).await?;
    assert_eq!(ledger.prolong(&[(leased.id, leased.fence)], LEASE, NOW).await?, [Held::Lost]);
    assert_eq!(lease_all(&*ledger, NOW).await?, [job_id(1)]);
    Ok(())
}

async fn leases_end_when_the_clock_jumps_back(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1, 2]).await?;
    let (first, second) = (lease(&*ledger, NOW).await?, lease(&*ledger, NOW).await?);
    let back = NOW - seconds(3600);
    assert_eq!(ledger.prolong(&[(second.id, second.fence)], LEASE, back).await?, [Held::Yes], "it lives");
    let third = lease(&*ledger, back).await?;
    assert_eq!((third.id, third.attempt), (first.id, 2));
    assert_eq!(lease_all(&*ledger, back).await?, []);
    assert_eq!(ledger.settle(first.id, first.fence, completed(), back).await?, Held::Lost);
    assert_eq!(ledger.settle(third.id, third.fence, completed(), back).await?, Held::Yes);
    assert_eq!(lease_all(&*ledger, back + LEASE).await?, [second.id]);
    Ok(())
}

async fn callers_out_of_order_take_nothing_from_each_other(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    let leased = lease(&*ledger, NOW + SKEW).await?;
    assert_eq!(lease_all(&*ledger, NOW).await?, []);
    assert_eq!(ledger.settle(leased.id, leased.fence, completed(), NOW).await?, Held::Yes);
    Ok(())
}
