//! Acceptance, results, sweeping.

use std::sync::Arc;

use super::*;
use crate::port::{
    BlobKey,
    ledger::{HookOutcome, Image, JobView, Link, Load, Standing, Swept},
};

pub(super) const FACTS: &[Fact<dyn Ledger>] = facts![
    accepting_reserves_the_cost,
    accepting_again_changes_nothing,
    what_the_quota_does_not_cover_is_refused,
    the_last_credit_can_be_spent_and_nothing_costs_nothing,
    unknown_and_disabled_accounts_are_refused,
    a_full_queue_refuses,
    a_queue_full_of_bytes_refuses,
    who_has_little_finds_room_in_a_queue_that_another_has_filled,
    the_first_reason_of_closed_credits_full_is_given,
    completing_charges_once,
    failing_gives_back,
    a_result_is_its_accounts_alone,
    a_job_stands_where_it_stands,
    an_image_is_there_until_it_expires,
    a_sweep_forgets_expired_images,
    a_sweep_removes_old_records,
    a_record_stays_while_its_notification_is_pending,
    a_sweep_does_no_more_than_asked,
    orphans_are_what_nothing_needs,
    the_load_counts_what_there_is,
    a_charge_belongs_to_the_month_of_acceptance,
    a_month_does_not_turn_back,
];

fn image(number: u64, fence: Fence) -> Image {
    Image {
        blob: BlobKey::Result(job_id(number), fence),
        link: Link(u128::MAX - u128::from(number)),
        name: "a b.webp".to_owned(),
        media_type: "image/webp".to_owned(),
        expires: NOW + seconds(3600),
    }
}

/// A job that is completed with an image.
async fn pictured(ledger: &dyn Ledger, number: u64) -> Result<Image> {
    accept_all(ledger, 1, [number]).await?;
    let lease = lease(ledger, NOW).await?;
    let image = image(number, lease.fence);
    let outcome = Outcome::Completed { body: b"{}".to_vec(), image: Some(image.clone()) };
    assert_eq!(ledger.settle(lease.id, lease.fence, outcome, NOW).await?, Held::Yes);
    Ok(image)
}

async fn accepting_reserves_the_cost(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    assert_eq!(accept(&*ledger, NewJob { cost: 30, ..new_job(1, 1) }).await?, Ok(Accepted::Now));
    assert_eq!(accept(&*ledger, NewJob { cost: 12, ..new_job(1, 2) }).await?, Ok(Accepted::Now));
    let credits = credits(&*ledger, 1, NOW).await?;
    assert_eq!(credits, Credits { total: 100, used: 0, reserved: 42, reset: NOW.next_month() });
    assert_eq!(spent(&*ledger, 2).await?, (0, 0), "another account's");
    Ok(())
}

async fn accepting_again_changes_nothing(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let job = NewJob { cost: 100, ..new_job(1, 1) };
    assert_eq!(accept(&*ledger, job.clone()).await?, Ok(Accepted::Now));
    assert_eq!(accept(&*ledger, job.clone()).await?, Ok(Accepted::Before));
    let full = Capacity { jobs: 0, source_bytes: 0 };
    assert_eq!(ledger.accept(job.clone(), full, NOW).await?, Ok(Accepted::Before));
    assert_eq!(spent(&*ledger, 1).await?, (0, 100));
    let leased = lease(&*ledger, NOW).await?;
    ledger.set_disabled(account_id(1), true).await?;
    assert_eq!(accept(&*ledger, job.clone()).await?, Ok(Accepted::Before));
    assert_eq!(ledger.settle(leased.id, leased.fence, completed(), NOW).await?, Held::Yes);
    assert_eq!(accept(&*ledger, job).await?, Ok(Accepted::Before));
    assert_eq!(spent(&*ledger, 1).await?, (100, 0));
    assert_eq!(lease_all(&*ledger, NOW + LEASE).await?, []);
    Ok(())
}

async fn what_the_quota_does_not_cover_is_refused(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    settled(&*ledger, NewJob { cost: 50, ..new_job(1, 1) }, completed()).await?;
    assert_eq!(accept(&*ledger, NewJob { cost: 30, ..new_job(1, 2) }).await?, Ok(Accepted::Now));
    let refused = accept(&*ledger, NewJob { cost: 21, ..new_job(1, 3) }).await?;
    assert_eq!(refused, Err(Refusal::NoCredits { remaining: 20 }));
    assert_eq!(spent(&*ledger, 1).await?, (50, 30));
    assert_eq!(ledger.job(account_id(1), job_id(3)).await?, None);
    assert_eq!(lease_all(&*ledger, NOW).await?, [job_id(2)]);
    Ok(())
}

async fn the_last_credit_can_be_spent_and_nothing_costs_nothing(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    assert_eq!(accept(&*ledger, NewJob { cost: 100, ..new_job(1, 1) }).await?, Ok(Accepted::Now));
    assert_eq!(accept(&*ledger, new_job(1, 2)).await?, Err(Refusal::NoCredits { remaining: 0 }));
    assert_eq!(accept(&*ledger, NewJob { cost: 0, ..new_job(1, 3) }).await?, Ok(Accepted::Now));
    ledger.set_plan(account_id(1), "free", 10, NOW).await?;
    assert_eq!(accept(&*ledger, new_job(1, 4)).await?, Err(Refusal::NoCredits { remaining: 0 }));
    assert_eq!(accept(&*ledger, NewJob { cost: 0, ..new_job(1, 5) }).await?, Ok(Accepted::Now));
    Ok(())
}

async fn unknown_and_disabled_accounts_are_refused(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    ledger.set_disabled(account_id(1), true).await?;
    assert_eq!(accept(&*ledger, new_job(1, 2)).await?, Err(Refusal::Closed));
    assert_eq!(accept(&*ledger, new_job(9, 3)).await?, Err(Refusal::Closed));
    assert_eq!(lease_all(&*ledger, NOW).await?, [job_id(1)], "what was accepted is still done");
    ledger.set_disabled(account_id(1), false).await?;
    assert_eq!(accept(&*ledger, new_job(1, 2)).await?, Ok(Accepted::Now));
    Ok(())
}

async fn a_full_queue_refuses(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    let two = Capacity { jobs: 2, ..ROOM };
    assert_eq!(ledger.accept(new_job(1, 1), two, NOW).await?, Ok(Accepted::Now));
    assert_eq!(ledger.accept(new_job(2, 2), two, NOW).await?, Ok(Accepted::Now));
    assert_eq!(ledger.accept(new_job(1, 3), two, NOW).await?, Err(Refusal::QueueFull));
    assert_eq!(spent(&*ledger, 1).await?, (0, 1));
    let leased = lease(&*ledger, NOW).await?;
    assert_eq!(ledger.accept(new_job(1, 3), two, NOW).await?, Err(Refusal::QueueFull), "leased ones count");
    ledger.settle(leased.id, leased.fence, failed(), NOW).await?;
    assert_eq!(ledger.accept(new_job(1, 3), two, NOW).await?, Ok(Accepted::Now));
    Ok(())
}

async fn a_queue_full_of_bytes_refuses(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let sized = |number, bytes| NewJob { source_bytes: Some(bytes), ..new_job(1, number) };
    let room = Capacity { source_bytes: 1000, ..ROOM };
    assert_eq!(ledger.accept(sized(1, 600), room, NOW).await?, Ok(Accepted::Now));
    assert_eq!(ledger.accept(sized(2, 401), room, NOW).await?, Err(Refusal::QueueFull));
    assert_eq!(ledger.accept(sized(3, 400), room, NOW).await?, Ok(Accepted::Now));
    assert_eq!(ledger.accept(new_job(1, 4), room, NOW).await?, Ok(Accepted::Now), "nothing takes no room");
    let leased = lease(&*ledger, NOW).await?;
    assert_eq!((leased.id, leased.source_bytes), (job_id(1), Some(600)));
    ledger.settle(leased.id, leased.fence, completed(), NOW).await?;
    assert_eq!(ledger.accept(sized(2, 401), room, NOW).await?, Ok(Accepted::Now));
    Ok(())
}

async fn who_has_little_finds_room_in_a_queue_that_another_has_filled(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    let room = Capacity { jobs: 8, source_bytes: 1000 };
    let job = |account, number, source_bytes| NewJob { source_bytes, ..new_job(account, number) };
    for number in 1..=8 {
        let job = job(1, number, (number <= 2).then_some(500));
        assert_eq!(ledger.accept(job, room, NOW).await?, Ok(Accepted::Now));
    }
    assert_eq!(ledger.accept(job(1, 9, None), room, NOW).await?, Err(Refusal::QueueFull), "who has filled it");
    assert_eq!(ledger.accept(job(2, 10, Some(126)), room, NOW).await?, Err(Refusal::QueueFull), "too much of it");
    assert_eq!(ledger.accept(job(2, 11, Some(125)), room, NOW).await?, Ok(Accepted::Now));
    assert_eq!(ledger.accept(job(2, 12, None), room, NOW).await?, Err(Refusal::QueueFull), "who has had that");
    let leased = lease(&*ledger, NOW).await?;
    ledger.settle(leased.id, leased.fence, completed(), NOW).await?;
    let leased = lease(&*ledger, NOW).await?;
    ledger.settle(leased.id, leased.fence, failed(), NOW).await?;
    assert_eq!(ledger.accept(job(2, 12, None), room, NOW).await?, Ok(Accepted::Now), "what is settled is gone");
    Ok(())
}

async fn the_first_reason_of_closed_credits_full_is_given(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let full = Capacity { jobs: 0, ..ROOM };
    let dear = NewJob { cost: 101, ..new_job(1, 1) };
    let refused = ledger.accept(dear.clone(), full, NOW).await?;
    assert_eq!(refused, Err(Refusal::NoCredits { remaining: 100 }));
    ledger.set_disabled(account_id(1), true).await?;
    assert_eq!(ledger.accept(dear, full, NOW).await?, Err(Refusal::Closed));
    Ok(())
}

async fn completing_charges_once(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let fence = settled(&*ledger, NewJob { cost: 5, ..new_job(1, 1) }, completed()).await?;
    assert_eq!(spent(&*ledger, 1).await?, (5, 0));
    assert_eq!(ledger.settle(job_id(1), fence, completed(), NOW).await?, Held::Yes);
    assert_eq!(ledger.settle(job_id(1), fence, failed(), NOW).await?, Held::Yes, "another outcome changes nothing");
    assert_eq!(ledger.settle(job_id(1), Fence(fence.0 + 1), completed(), NOW).await?, Held::Lost);
    assert_eq!(spent(&*ledger, 1).await?, (5, 0));
    let view = ledger.job(account_id(1), job_id(1)).await?.expect("the job exists");
    assert_eq!(view.standing, Standing::Settled { status: 200, body: b"{\"done\":true}".to_vec() });
    Ok(())
}

async fn failing_gives_back(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let fence = settled(&*ledger, NewJob { cost: 5, ..new_job(1, 1) }, failed()).await?;
    assert_eq!(spent(&*ledger, 1).await?, (0, 0));
    assert_eq!(ledger.settle(job_id(1), fence, completed(), NOW).await?, Held::Yes);
    assert_eq!(spent(&*ledger, 1).await?, (0, 0));
    let view = ledger.job(account_id(1), job_id(1)).await?.expect("the job exists");
    assert_eq!(view.standing, Standing::Settled { status: 422, body: b"{\"done\":false}".to_vec() });
    Ok(())
}

async fn a_result_is_its_accounts_alone(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    settled(&*ledger, new_job(1, 1), completed()).await?;
    assert!(ledger.job(account_id(1), job_id(1)).await?.is_some());
    assert_eq!(ledger.job(account_id(2), job_id(1)).await?, None);
    assert_eq!(ledger.job(account_id(1), job_id(2)).await?, None);
    Ok(())
}

async fn a_job_stands_where_it_stands(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    accept_all(&*ledger, 1, [1]).await?;
    let stands = async || ledger.job(account_id(1), job_id(1)).await;
    assert_eq!(stands().await?, Some(JobView { accepted: NOW, standing: Standing::Accepted }));
    let first = lease(&*ledger, NOW).await?;
    assert_eq!(stands().await?, Some(JobView { accepted: NOW, standing: Standing::Processing }));
    let again = Outcome::Again { at: NOW + seconds(1), counts: true };
    ledger.settle(first.id, first.fence, again, NOW).await?;
    assert_eq!(stands().await?, Some(JobView { accepted: NOW, standing: Standing::Accepted }));
    Ok(())
}

async fn an_image_is_there_until_it_expires(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let image = pictured(&*ledger, 1).await?;
    assert_eq!(ledger.image(image.link, NOW).await?, Some(image.clone()));
    assert_eq!(ledger.image(image.link, image.expires - seconds(1)).await?, Some(image.clone()));
    assert_eq!(ledger.image(image.link, image.expires).await?, None);
    assert_eq!(ledger.image(Link(image.link.0 - 1), NOW).await?, None);
    Ok(())
}

async fn a_sweep_forgets_expired_images(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let image = pictured(&*ledger, 1).await?;
    let never = Timestamp::default();
    assert_eq!(ledger.sweep(never, 10, image.expires - seconds(1)).await?, Swept::default());
    assert_eq!(ledger.sweep(never, 10, image.expires).await?, Swept { blobs: vec![image.blob], records: 0 });
    assert_eq!(ledger.sweep(never, 10, image.expires).await?, Swept::default(), "once");
    assert_eq!(ledger.image(image.link, NOW).await?, None);
    assert!(ledger.job(account_id(1), job_id(1)).await?.is_some(), "the record stays");
    Ok(())
}

async fn a_sweep_removes_old_records(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    settled(&*ledger, new_job(1, 1), completed()).await?;
    let image = pictured(&*ledger, 2).await?;
    accept_all(&*ledger, 1, [3]).await?;
    let later = NOW + seconds(1);
    assert_eq!(ledger.sweep(NOW, 10, later).await?.records, 0, "neither is old enough");
    assert_eq!(ledger.sweep(later, 10, later).await?, Swept { blobs: Vec::new(), records: 1 }, "one has an image");
    assert_eq!(ledger.job(account_id(1), job_id(1)).await?, None);
    assert!(ledger.job(account_id(1), job_id(2)).await?.is_some());
    ledger.sweep(later, 10, image.expires).await?;
    ledger.sweep(later, 10, image.expires).await?;
    assert_eq!(ledger.job(account_id(1), job_id(2)).await?, None);
    assert!(ledger.job(account_id(1), job_id(3)).await?.is_some(), "it is not settled");
    assert_eq!(spent(&*ledger, 1).await?, (2, 1), "the charge stays");
    assert_eq!(ledger.settle(job_id(1), Fence(1), completed(), NOW).await?, Held::Lost);
    Ok(())
}

async fn a_record_stays_while_its_notification_is_pending(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let later = NOW + seconds(1);
    let ends = [HookOutcome::Delivered, HookOutcome::Failed { again: None }];
    for (number, end) in (1..).zip(ends) {
        settled(&*ledger, hooked_job(1, number), completed()).await?;
        assert_eq!(ledger.sweep(later, 10, later).await?.records, 0);
        let hooks = ledger.claim_hooks(10, 10, LEASE, NOW).await?;
        assert_eq!(ledger.sweep(later, 10, later).await?.records, 0);
        ledger.settle_hook(hooks[0].job, hooks[0].fence, end, "200", NOW).await?;
        assert_eq!(ledger.sweep(later, 10, later).await?.records, 1);
        assert_eq!(ledger.deliveries(account_id(1), 10).await?, []);
    }
    Ok(())
}

async fn a_sweep_does_no_more_than_asked(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    for number in 1..=3 {
        pictured(&*ledger, number).await?;
        settled(&*ledger, new_job(1, 10 + number), completed()).await?;
    }
    let later = NOW + seconds(3600);
    let (mut blobs, mut records) = (Vec::new(), 0);
    for _ in 0..4 {
        let swept = ledger.sweep(later, 2, later).await?;
        assert!(swept.blobs.len() <= 2 && swept.records <= 2, "{swept:?}");
        blobs.extend(swept.blobs.into_iter().map(BlobKey::job));
        records += swept.records;
    }
    blobs.sort_unstable();
    assert_eq!(blobs, [job_id(1), job_id(2), job_id(3)]);
    assert_eq!(records, 6);
    Ok(())
}

async fn orphans_are_what_nothing_needs(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let image = pictured(&*ledger, 1).await?;
    let (source, result) =
        (|job| BlobKey::Source(job_id(job)), |job, fence| BlobKey::Result(job_id(job), Fence(fence)));
    let never = source(9);
    accept_all(&*ledger, 1, [2]).await?;
    let asked = [never, source(1), image.blob, source(2), result(1, image_fence(&image) + 1), result(2, 1)];
    let orphans = [never, source(1), result(1, image_fence(&image) + 1), result(2, 1)];
    assert_eq!(ledger.orphans(&asked).await?, orphans);
    let first = lease(&*ledger, NOW).await?;
    assert_eq!(ledger.orphans(&[result(2, first.fence.0)]).await?, [], "somebody may be writing it");
    let second = lease(&*ledger, NOW + LEASE).await?;
    let left = ledger.orphans(&[result(2, first.fence.0), result(2, second.fence.0)]).await?;
    assert_eq!(left, [result(2, first.fence.0)]);
    ledger.settle(second.id, second.fence, completed(), NOW).await?;
    assert_eq!(ledger.orphans(&[result(2, second.fence.0), source(2)]).await?, [result(2, second.fence.0), source(2)]);
    ledger.sweep(NOW, 10, image.expires).await?;
    assert_eq!(ledger.orphans(&[image.blob]).await?, [image.blob]);
    Ok(())
}

fn image_fence(image: &Image) -> u64 {
    let BlobKey::Result(_, Fence(fence)) = image.blob else { panic!("an image is a result") };
    fence
}

async fn the_load_counts_what_there_is(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    assert_eq!(ledger.load().await?, Load::default());
    for number in 1..=3 {
        let job = NewJob { source_bytes: Some(100), ..hooked_job(1, number) };
        assert_eq!(ledger.accept(job, ROOM, NOW + seconds(number)).await?, Ok(Accepted::Now));
    }
    let load = Load { waiting: 3, source_bytes: 300, oldest: Some(NOW + seconds(1)), ..Load::default() };
    assert_eq!(ledger.load().await?, load);
    let first = lease(&*ledger, NOW + seconds(9)).await?;
    let load = Load { waiting: 2, leased: 1, oldest: Some(NOW + seconds(2)), ..load };
    assert_eq!(ledger.load().await?, load);
    ledger.settle(first.id, first.fence, completed(), NOW).await?;
    let load = Load { leased: 0, source_bytes: 200, notifications: 1, ..load };
    assert_eq!(ledger.load().await?, load);
    let hooks = ledger.claim_hooks(10, 10, LEASE, NOW).await?;
    assert_eq!(ledger.load().await?, load, "a leased notification is not delivered yet");
    ledger.settle_hook(hooks[0].job, hooks[0].fence, HookOutcome::Delivered, "200", NOW).await?;
    assert_eq!(ledger.load().await?, Load { notifications: 0, ..load });
    Ok(())
}

async fn a_charge_belongs_to_the_month_of_acceptance(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let turn = NOW.next_month();
    settled(&*ledger, NewJob { cost: 10, ..new_job(1, 1) }, completed()).await?;
    accept(&*ledger, NewJob { cost: 90, ..new_job(1, 2) }).await?.expect("it is within the quota");
    let fresh = Credits { total: 100, used: 0, reserved: 0, reset: turn.next_month() };
    assert_eq!(
        credits(&*ledger, 1, turn - seconds(1)).await?,
        Credits { used: 10, reserved: 90, reset: turn, ..fresh }
    );
    assert_eq!(credits(&*ledger, 1, turn).await?, fresh);
    let job = NewJob { cost: 100, ..new_job(1, 3) };
    assert_eq!(ledger.accept(job, ROOM, turn).await?, Ok(Accepted::Now), "the whole new quota is there");
    for (number, used) in [(2, 0), (3, 100)] {
        let leased = lease(&*ledger, turn).await?;
        assert_eq!(leased.id, job_id(number));
        ledger.settle(leased.id, leased.fence, completed(), turn).await?;
        let reserved = 100 - used;
        assert_eq!(credits(&*ledger, 1, turn).await?, Credits { used, reserved, ..fresh });
    }
    Ok(())
}

async fn a_month_does_not_turn_back(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let turn = NOW.next_month();
    let dear = |number| NewJob { cost: 60, ..new_job(1, number) };
    assert_eq!(ledger.accept(dear(1), ROOM, turn).await?, Ok(Accepted::Now));
    let before = turn - seconds(3600);
    assert_eq!(ledger.accept(dear(2), ROOM, before).await?, Err(Refusal::NoCredits { remaining: 40 }));
    let credits = credits(&*ledger, 1, before).await?;
    assert_eq!(credits, Credits { total: 100, used: 0, reserved: 60, reset: turn.next_month() });
    Ok(())
}
