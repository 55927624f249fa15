//! Administration: accounts, keys, connectors, webhooks.

use std::{io::BufRead, time::Duration};

use anyhow::{Context, Result, bail};
use lapidary::{
    Clock, SystemClock,
    port::{
        Credentials,
        ledger::{Account, AccountId, DeliveryState, JobId, KeyView},
    },
    request::{Provider, Secret},
    service::Admin,
};

use super::arguments::Options;

/// Does what the words say, printing what it finds.
pub(crate) async fn administer(admin: Admin<'_>, words: &[String], options: &Options) -> Result<()> {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["account", "create", name] => create(admin, name, options).await,
        ["account", "change", name] => change(admin, name, options).await,
        ["account", "list"] => list(admin).await,
        ["account", "disable", name] => Ok(admin.set_disabled(id(admin, name).await?, true).await?),
        ["account", "enable", name] => Ok(admin.set_disabled(id(admin, name).await?, false).await?),
        ["key", "list", name] => keys(admin, name).await,
        ["key", "revoke", key] => revoked(admin.revoke_key(key).await?),
        ["key", "revoke", name, key] => revoked(admin.revoke_key_by_id(id(admin, name).await?, key).await?),
        ["key", name] => {
            println!("{}", admin.new_key(id(admin, name).await?).await?.expose());
            Ok(())
        }
        ["connector", "add", name, connector, provider] => add(admin, name, connector, provider).await,
        ["connector", "list", name] => {
            for connector in admin.connectors(id(admin, name).await?).await? {
                println!("{}", connector.id);
            }
            Ok(())
        }
        ["connector", "remove", name, connector] => {
            let removed = admin.remove_connector(id(admin, name).await?, connector).await?;
            if removed { Ok(()) } else { bail!("there is no connector {connector}") }
        }
        ["webhook", "rotate", name] => {
            let secret = admin.rotate_webhook_secret(id(admin, name).await?, Duration::from_secs(24 * 60 * 60)).await?;
            println!("{}", secret.expose());
            Ok(())
        }
        ["webhook", "list", name] => deliveries(admin, name).await,
        ["webhook", "replay", name, request] => {
            let request: JobId = request.parse().context("the request is given by its id")?;
            let replayed = admin.replay(id(admin, name).await?, request).await?;
            if replayed { Ok(()) } else { bail!("no notification of this request was given up") }
        }
        _ => bail!("there is no such command; --help lists them"),
    }
}

async fn create(admin: Admin<'_>, name: &str, options: &Options) -> Result<()> {
    let (plan, credits) = options.subscription();
    let opened = admin.open_account(name, plan, credits).await?;
    let key = admin.new_key(opened.account).await?;
    println!("account         {}", opened.account);
    println!("API key         {}", key.expose());
    println!("webhook secret  {}", opened.webhook_secret.expose());
    eprintln!("Key and secret are not shown again.");
    Ok(())
}

/// What is not given stays.
async fn change(admin: Admin<'_>, name: &str, options: &Options) -> Result<()> {
    let account = admin.account(id(admin, name).await?).await?;
    let plan = options.plan.as_deref().unwrap_or(&account.plan);
    Ok(admin.set_plan(account.id, plan, options.credits.unwrap_or(account.credits.total)).await?)
}

/// Every account, a page at a time.
async fn all(admin: Admin<'_>) -> Result<Vec<Account>> {
    const PAGE: usize = 100;
    let mut all: Vec<Account> = Vec::new();
    loop {
        let after = all.last().map_or("", |account| &account.name).to_owned();
        let page = admin.accounts(&after, PAGE).await?;
        let last = page.len() < PAGE;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}

async fn id(admin: Admin<'_>, name: &str) -> Result<AccountId> {
    Ok(admin.account_named(name).await?.with_context(|| format!("there is no account {name}"))?.id)
}

async fn list(admin: Admin<'_>) -> Result<()> {
    println!("{:<24} {:<16} {:>10} {:>10}  state", "name", "plan", "credits", "used");
    for account in all(admin).await? {
        let state = if account.disabled { "disabled" } else { "open" };
        let Account { name, plan, credits, .. } = account;
        println!("{name:<24} {plan:<16} {:>10} {:>10}  {state}", credits.total, credits.used);
    }
    Ok(())
}

/// Ids and ages of an account's keys, which themselves are not kept.
async fn keys(admin: Admin<'_>, name: &str) -> Result<()> {
    let now = SystemClock::new().now();
    for KeyView { mac, added } in admin.keys(id(admin, name).await?).await? {
        println!("{}  {} days old", mac.id(), now.since(added).as_secs() / (24 * 60 * 60));
    }
    Ok(())
}

fn revoked(done: bool) -> Result<()> {
    if done { Ok(()) } else { bail!("there is no such key") }
}

async fn add(admin: Admin<'_>, name: &str, connector: &str, provider: &str) -> Result<()> {
    let account = id(admin, name).await?;
    let known = Provider::ALL.iter().find(|known| known.as_str() == provider);
    let provider = *known.with_context(|| format!("there is no provider {provider}"))?;
    let mut lines = std::io::stdin().lock().lines();
    let mut line = |what: &str| -> Result<Secret> {
        let line = lines.next().transpose()?.unwrap_or_default();
        if line.trim().is_empty() { bail!("standard input must hold the {what}") } else { Ok(line.trim().into()) }
    };
    let credentials =
        Credentials { provider, key: line("key in its first line")?, secret: line("secret in its second line")? };
    Ok(admin.put_connector(account, connector, &credentials).await?)
}

async fn deliveries(admin: Admin<'_>, name: &str) -> Result<()> {
    for delivery in admin.deliveries(id(admin, name).await?, 100).await? {
        let state = match delivery.state {
            DeliveryState::Pending { .. } => "pending",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Dead => "given up",
        };
        let notes: Vec<String> = delivery.attempts.into_iter().map(|(_, note)| note).collect();
        println!("{} {state:<10} {}", delivery.job, notes.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use lapidary::{
        Engine,
        adapter::memory,
        service::{Keyring, Service, Settings},
    };

    use super::*;

    #[tokio::test]
    async fn of_plan_and_credits_what_is_not_given_stays() {
        let keyring = Keyring::new([1; 32], [2; 32]);
        let service = Service::new(memory::ports(), Engine::new(), keyring, Settings::new("https://images.test"));
        let account = service.admin().open_account("demo", "gold", 5).await.unwrap().account;
        let words = ["account", "change", "demo"].map(str::to_owned);
        for (plan, credits, expected) in [(None, Some(7), ("gold", 7)), (Some("silver"), None, ("silver", 7))] {
            let options = Options { plan: plan.map(str::to_owned), credits, ..Options::default() };
            administer(service.admin(), &words, &options).await.unwrap();
            let changed = service.admin().account(account).await.unwrap();
            assert_eq!((changed.plan.as_str(), changed.credits.total), expected);
        }
    }
}
