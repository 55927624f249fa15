//! Accounts, keys, connectors, rates.

use std::sync::Arc;

use super::*;
use crate::port::ledger::{Account, ConnectorView, KeyHolder, KeyView, RateGrant, SKEW};

pub(super) const FACTS: &[Fact<dyn Ledger>] = facts![
    an_account_is_made_once,
    a_name_is_one_accounts,
    accounts_are_listed_and_found_by_name,
    a_plan_can_be_changed,
    what_is_asked_of_no_account_is_false,
    secrets_are_replaced,
    who_does_not_know_the_present_secret_replaces_none,
    a_key_leads_to_its_account,
    a_removed_key_leads_nowhere,
    keys_are_listed_by_account,
    a_key_stays_with_its_first_account,
    connectors_are_kept_by_account,
    connectors_are_replaced_and_removed,
    a_connector_that_has_changed_meanwhile_is_left_alone,
    a_window_grants_its_limit_and_no_more,
    a_window_ends,
    keys_have_windows_of_their_own,
    a_limit_may_change_within_a_window,
    a_window_begins_anew_when_the_clock_jumps_back,
    an_ended_window_survives_no_sweep,
];

async fn an_account_is_made_once(ledger: Arc<dyn Ledger>) -> Result<()> {
    let id = account_id(1);
    assert_eq!(ledger.account(id, NOW).await?, None);
    assert!(ledger.create_account(new_account(1, 100), NOW).await?);
    let account = Account {
        id,
        name: "account 001".to_owned(),
        plan: "pro".to_owned(),
        disabled: false,
        credits: Credits { total: 100, used: 0, reserved: 0, reset: NOW.next_month() },
    };
    assert_eq!(ledger.account(id, NOW).await?, Some(account.clone()));
    assert!(ledger.create_account(NewAccount { name: "other".to_owned(), ..new_account(1, 5) }, NOW).await?);
    assert_eq!(ledger.account(id, NOW).await?, Some(account), "the same id changes nothing");
    Ok(())
}

async fn a_name_is_one_accounts(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let taken = NewAccount { name: new_account(1, 0).name, ..new_account(2, 100) };
    assert!(!ledger.create_account(taken, NOW).await?);
    assert_eq!(ledger.account(account_id(2), NOW).await?, None);
    Ok(())
}

async fn accounts_are_listed_and_found_by_name(ledger: Arc<dyn Ledger>) -> Result<()> {
    for (number, name) in [(1, "b"), (2, "ä"), (3, "B"), (4, "a")] {
        let account = NewAccount { name: name.to_owned(), ..new_account(number, 100) };
        assert!(ledger.create_account(account, NOW).await?);
    }
    let listed = async |after: &str, max| -> Result<Vec<String>> {
        Ok(ledger.accounts(after, max, NOW).await?.into_iter().map(|account| account.name).collect())
    };
    assert_eq!(listed("", 10).await?, ["B", "a", "b", "ä"], "by the bytes of their names");
    assert_eq!(listed("", 2).await?, ["B", "a"]);
    assert_eq!(listed("a", 10).await?, ["b", "ä"]);
    assert_eq!(listed("ä", 10).await?, [""; 0]);
    let fourth = ledger.account(account_id(4), NOW).await?;
    assert_eq!(ledger.accounts("B", 1, NOW).await?.pop(), fourth);
    assert_eq!(ledger.account_named("a", NOW).await?, fourth);
    assert_eq!(ledger.account_named("A", NOW).await?, None);
    Ok(())
}

async fn a_plan_can_be_changed(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    settled(&*ledger, NewJob { cost: 40, ..new_job(1, 1) }, completed()).await?;
    assert!(ledger.set_plan(account_id(1), "free", 10, NOW).await?);
    let account = ledger.account(account_id(1), NOW).await?.expect("the account exists");
    let credits = Credits { total: 10, used: 40, reserved: 0, reset: NOW.next_month() };
    assert_eq!((account.plan.as_str(), account.credits), ("free", credits));
    let next = ledger.account(account_id(1), NOW.next_month()).await?.expect("the account exists").credits;
    assert_eq!((next.total, next.used), (10, 0));
    Ok(())
}

async fn what_is_asked_of_no_account_is_false(ledger: Arc<dyn Ledger>) -> Result<()> {
    let nobody = account_id(1);
    let secrets = new_account(1, 0).secrets;
    assert!(!ledger.set_disabled(nobody, true).await?);
    assert!(!ledger.set_plan(nobody, "free", 10, NOW).await?);
    assert!(!ledger.set_secrets(nobody, &secrets.current.clone(), secrets).await?);
    assert!(!ledger.add_key(nobody, key(1), NOW).await?);
    assert!(!ledger.put_connector(nobody, "s3", None, b"sealed", NOW).await?);
    assert!(!ledger.remove_connector(nobody, "s3").await?);
    assert_eq!(ledger.secrets(nobody).await?, None);
    assert_eq!(ledger.connector(nobody, "s3").await?, None);
    assert_eq!(ledger.connectors(nobody).await?, []);
    assert_eq!(ledger.key_holder(key(1)).await?, None);
    assert_eq!(ledger.keys(nobody).await?, []);
    Ok(())
}

async fn secrets_are_replaced(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    assert_eq!(ledger.secrets(account_id(1)).await?, Some(new_account(1, 0).secrets));
    for previous in [Some((b"before".to_vec(), NOW + seconds(60))), None] {
        let secrets = SealedSecrets { current: b"now".to_vec(), previous };
        let before = new_account(1, 0).secrets.current;
        assert!(ledger.set_secrets(account_id(1), &before, secrets.clone()).await?, "by the first call or again");
        assert_eq!(ledger.secrets(account_id(1)).await?, Some(secrets));
    }
    Ok(())
}

async fn who_does_not_know_the_present_secret_replaces_none(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let first = new_account(1, 0).secrets;
    let secrets = |current: &[u8]| SealedSecrets { current: current.to_vec(), previous: None };
    assert!(!ledger.set_secrets(account_id(1), b"another", secrets(b"second")).await?);
    assert_eq!(ledger.secrets(account_id(1)).await?, Some(first.clone()));
    assert!(ledger.set_secrets(account_id(1), &first.current, secrets(b"second")).await?);
    assert!(!ledger.set_secrets(account_id(1), &first.current, secrets(b"third")).await?);
    assert_eq!(ledger.secrets(account_id(1)).await?, Some(secrets(b"second")));
    Ok(())
}

async fn a_key_leads_to_its_account(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    for (number, account) in [(1, 1), (2, 1), (3, 2)] {
        assert!(ledger.add_key(account_id(account), key(number), NOW).await?);
    }
    let holds = async |number| -> Result<_> {
        Ok(ledger.key_holder(key(number)).await?.map(|holder| (holder.account, holder.disabled)))
    };
    assert_eq!(holds(1).await?, Some((account_id(1), false)));
    assert_eq!(holds(2).await?, Some((account_id(1), false)));
    assert_eq!(holds(4).await?, None);
    assert!(ledger.set_disabled(account_id(1), true).await?);
    assert_eq!(holds(1).await?, Some((account_id(1), true)));
    assert_eq!(holds(3).await?, Some((account_id(2), false)));
    assert!(ledger.account(account_id(1), NOW).await?.is_some_and(|account| account.disabled));
    Ok(())
}

async fn a_removed_key_leads_nowhere(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    ledger.add_key(account_id(1), key(1), NOW).await?;
    assert!(ledger.remove_key(key(1)).await?);
    assert!(!ledger.remove_key(key(1)).await?);
    assert_eq!(ledger.key_holder(key(1)).await?, None);
    Ok(())
}

async fn a_key_stays_with_its_first_account(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    assert!(ledger.add_key(account_id(1), key(1), NOW).await?);
    assert!(ledger.add_key(account_id(1), key(1), NOW).await?, "the answer was lost");
    assert!(!ledger.add_key(account_id(2), key(1), NOW).await?);
    let holder = KeyHolder { account: account_id(1), disabled: false };
    assert_eq!(ledger.key_holder(key(1)).await?, Some(holder));
    Ok(())
}

async fn keys_are_listed_by_account(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    for (account, number, late) in [(1, 2, 0), (1, 1, 5), (2, 3, 0), (1, 2, 9)] {
        assert!(ledger.add_key(account_id(account), key(number), NOW + seconds(late)).await?);
    }
    let view = |number, late| KeyView { mac: key(number), added: NOW + seconds(late) };
    assert_eq!(ledger.keys(account_id(1)).await?, [view(2, 0), view(1, 5)]);
    assert!(ledger.remove_key(key(2)).await?);
    assert_eq!(ledger.keys(account_id(1)).await?, [view(1, 5)]);
    assert_eq!(ledger.keys(account_id(2)).await?, [view(3, 0)]);
    Ok(())
}

async fn connectors_are_kept_by_account(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 2).await?;
    assert!(ledger.put_connector(account_id(1), "s3", None, b"mine", NOW).await?);
    assert!(ledger.put_connector(account_id(2), "s3", None, b"theirs", NOW).await?);
    assert!(ledger.put_connector(account_id(1), "another", None, b"more", NOW + seconds(1)).await?);
    assert_eq!(ledger.connector(account_id(1), "s3").await?, Some(b"mine".to_vec()));
    assert_eq!(ledger.connector(account_id(2), "s3").await?, Some(b"theirs".to_vec()));
    assert_eq!(ledger.connector(account_id(2), "another").await?, None);
    let view = |id: &str, saved| ConnectorView { id: id.to_owned(), saved };
    let mine = [view("another", NOW + seconds(1)), view("s3", NOW)];
    assert_eq!(ledger.connectors(account_id(1)).await?, mine);
    Ok(())
}

async fn connectors_are_replaced_and_removed(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    ledger.put_connector(account_id(1), "s3", None, b"first", NOW).await?;
    ledger.put_connector(account_id(1), "s3", None, b"second", NOW + seconds(1)).await?;
    assert_eq!(ledger.connector(account_id(1), "s3").await?, Some(b"second".to_vec()));
    assert_eq!(ledger.connectors(account_id(1)).await?[0].saved, NOW + seconds(1));
    assert!(ledger.remove_connector(account_id(1), "s3").await?);
    assert!(!ledger.remove_connector(account_id(1), "s3").await?);
    assert_eq!(ledger.connector(account_id(1), "s3").await?, None);
    Ok(())
}

async fn a_connector_that_has_changed_meanwhile_is_left_alone(ledger: Arc<dyn Ledger>) -> Result<()> {
    open(&*ledger, 1).await?;
    let put =
        async |before: &[u8], sealed: &[u8]| ledger.put_connector(account_id(1), "s3", Some(before), sealed, NOW).await;
    assert!(!put(b"first", b"second").await?, "it is gone");
    assert_eq!(ledger.connector(account_id(1), "s3").await?, None);
    ledger.put_connector(account_id(1), "s3", None, b"first", NOW).await?;
    assert!(put(b"first", b"second").await? && put(b"first", b"second").await?, "or again");
    assert!(!put(b"first", b"third").await?);
    assert_eq!(ledger.connector(account_id(1), "s3").await?, Some(b"second".to_vec()));
    Ok(())
}

const WINDOW: Duration = Duration::from_secs(900);

async fn take(ledger: &dyn Ledger, number: u8, want: u64, now: Timestamp) -> Result<RateGrant> {
    ledger.take_rate(key(number), want, 100, WINDOW, now).await
}

async fn a_window_grants_its_limit_and_no_more(ledger: Arc<dyn Ledger>) -> Result<()> {
    for (want, granted, used) in [(1, 1, 1), (0, 0, 1), (60, 60, 61), (60, 39, 100), (1, 0, 100)] {
        let grant = take(&*ledger, 1, want, NOW).await?;
        assert_eq!(grant, RateGrant { granted, used, resets: NOW + WINDOW });
    }
    Ok(())
}

async fn a_window_ends(ledger: Arc<dyn Ledger>) -> Result<()> {
    take(&*ledger, 1, 100, NOW).await?;
    let last = NOW + WINDOW - Duration::from_millis(1);
    assert_eq!(take(&*ledger, 1, 1, last).await?, RateGrant { granted: 0, used: 100, resets: NOW + WINDOW });
    let late = NOW + WINDOW + seconds(5);
    assert_eq!(take(&*ledger, 1, 3, late).await?, RateGrant { granted: 3, used: 3, resets: late + WINDOW });
    Ok(())
}

async fn keys_have_windows_of_their_own(ledger: Arc<dyn Ledger>) -> Result<()> {
    take(&*ledger, 1, 100, NOW).await?;
    assert_eq!(take(&*ledger, 2, 1, NOW + seconds(1)).await?.granted, 1);
    assert_eq!(take(&*ledger, 1, 1, NOW + seconds(1)).await?.granted, 0);
    Ok(())
}

async fn a_limit_may_change_within_a_window(ledger: Arc<dyn Ledger>) -> Result<()> {
    take(&*ledger, 1, 100, NOW).await?;
    let less = ledger.take_rate(key(1), 5, 50, WINDOW, NOW).await?;
    assert_eq!((less.granted, less.used), (0, 100));
    let more = ledger.take_rate(key(1), 5, 103, WINDOW, NOW).await?;
    assert_eq!((more.granted, more.used), (3, 103));
    Ok(())
}

async fn a_window_begins_anew_when_the_clock_jumps_back(ledger: Arc<dyn Ledger>) -> Result<()> {
    take(&*ledger, 1, 100, NOW).await?;
    let skewed = take(&*ledger, 1, 1, NOW - SKEW).await?;
    assert_eq!(skewed, RateGrant { granted: 0, used: 100, resets: NOW + WINDOW }, "callers may come out of order");
    let back = NOW - seconds(3600);
    assert_eq!(take(&*ledger, 1, 1, back).await?, RateGrant { granted: 1, used: 1, resets: back + WINDOW });
    Ok(())
}

async fn an_ended_window_survives_no_sweep(ledger: Arc<dyn Ledger>) -> Result<()> {
    take(&*ledger, 1, 100, NOW).await?;
    ledger.sweep(NOW, 10, NOW + seconds(1)).await?;
    assert_eq!(take(&*ledger, 1, 1, NOW + seconds(1)).await?.granted, 0, "it has not ended");
    ledger.sweep(NOW, 10, NOW + WINDOW).await?;
    assert_eq!(take(&*ledger, 1, 1, NOW + WINDOW).await?.used, 1);
    Ok(())
}
