//! The reference server: the image service under HTTPS, with one command.
//!
//! `cargo run --release --example server` makes a data folder, an account and a key, and prints a `curl` line that works.

mod arguments;
mod commands;
mod data;
#[path = "../lapidary/fonts.rs"]
mod fonts;
mod http;
mod tls;

use std::{fs, net::SocketAddr, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use lapidary::{
    Engine, Limits,
    adapter::{
        http::{Guard, Http, Options as HttpOptions},
        s3::{Endpoint, S3},
    },
    service::{Service, Settings},
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::{net::TcpListener, signal};

use self::{
    arguments::{Command, Options},
    data::{Data, World, write_private},
};

/// Time that running work has to finish after a signal.
const GRACE: Duration = Duration::from_secs(25);
/// Time that threads have to end after that. Some look names up, which nothing can break off.
const LAST_GRACE: Duration = Duration::from_secs(3);
/// How often the metrics fold what they were told into what they tell; else it would pile up until somebody asks.
const UPKEEP: Duration = Duration::from_secs(5);
/// The account of a first start.
const FIRST: &str = "default";

fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()))
        .init();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let (command, options) = arguments::read(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(obey(command, &options));
    runtime.shutdown_timeout(LAST_GRACE);
    done
}

async fn obey(command: Command, options: &Options) -> Result<()> {
    match command {
        Command::Help => print!("{}", arguments::HELP),
        Command::Serve => serve(options).await?,
        Command::Administer(words) => {
            let (settings, world) = (settings(options, String::new()), world(options, None)?);
            // An account may be opened before the server's first start.
            let is_first = words.starts_with(&["account".into(), "create".into()]);
            let data = if is_first { Data::open(&options.data) } else { Data::existing(&options.data) }?;
            let alone = data.alone()?;
            let service = data.service(Engine::new(), settings, world)?;
            drop(alone);
            commands::administer(service.admin(), &words, options).await?;
        }
    }
    Ok(())
}

fn settings(options: &Options, public_url: String) -> Settings {
    let mut settings = Settings::new(public_url);
    settings.workers = options.workers.unwrap_or(settings.workers);
    settings.capacity.jobs = options.queue.unwrap_or(settings.capacity.jobs);
    settings.rate_limit = options.rate.unwrap_or(settings.rate_limit);
    settings
}

fn world(options: &Options, public_url: Option<&str>) -> Result<World> {
    let guard = options.open.iter().cloned().fold(Guard::default(), Guard::open);
    let guard = if options.allow_private { guard.allow_private() } else { guard };
    let contact = options.contact.clone().or_else(|| public_url.map(str::to_owned));
    let http = Http::new(HttpOptions { guard, contact, egress: options.egress.clone(), ..HttpOptions::default() })?;
    let storage = S3::new(&http, options.s3_endpoint.clone().map(Endpoint::new))?;
    Ok(World { fetcher: Arc::new(http.clone()), storage: Arc::new(storage), notifier: Arc::new(http) })
}

async fn serve(options: &Options) -> Result<()> {
    let metrics: PrometheusHandle = PrometheusBuilder::new().install_recorder()?;
    tokio::spawn(upkeep(metrics.clone()));
    let data = Data::open(&options.data)?;
    let listener =
        TcpListener::bind(options.listen).await.with_context(|| format!("cannot listen at {}", options.listen))?;
    let address = listener.local_addr()?;
    let public_url = options.public_url.clone().unwrap_or_else(|| format!("https://{address}"));
    let alone = data.alone()?;
    let (certificate, key) = tls::files(options.certificate.as_ref(), &data)?;
    let acceptor = tls::acceptor(&certificate, &key)?;
    let mut limits = Limits::default();
    limits.threads = options.threads.unwrap_or(limits.threads);
    let engine = Engine::new().with_limits(limits).with_fonts(fonts::read(&options.fonts)?);
    let service = data.service(engine, settings(options, public_url.clone()), world(options, Some(&public_url))?)?;
    let first_key = first_account(&service, &data, options).await?;
    drop(alone);
    let certificate = fs::canonicalize(certificate)?;
    if options.allow_private {
        eprintln!("WARNING: images and webhooks may have private addresses; for trying things out");
    }
    if options.json {
        let line = serde_json::json!({ "url": public_url, "key": first_key, "certificate": certificate });
        println!("{line}");
    } else {
        greet(&public_url, &first_key, options, address);
    }
    let running = service.start();
    let front = http::Front { service, public_url, metrics, behind_proxy: options.behind_proxy };
    http::serve(listener, acceptor, front, running, GRACE, stopped()).await
}

async fn upkeep(metrics: PrometheusHandle) {
    let mut times = tokio::time::interval(UPKEEP);
    loop {
        times.tick().await;
        metrics.run_upkeep();
    }
}

/// Makes the first account, whose key stays in a file for its operator, until it is deleted there. A start that was broken off
/// before that file was written is gone through again.
async fn first_account(service: &Service, data: &Data, options: &Options) -> Result<Option<String>> {
    let (path, begun) = (data.path("first-key"), data.path("first-start"));
    let admin = service.admin();
    let any = admin.accounts("", 1).await?.into_iter().next().map(|account| account.id);
    if let Some(account) = any {
        let elsewhere =
            || format!("{} is not the file that this ledger was begun with", data.path("secrets").display());
        admin.check_keys(account).await.with_context(elsewhere)?;
    }
    if any.is_none() || data::is_there(&begun) {
        write_private(&begun, b"")?;
        let (plan, credits) = options.subscription();
        // Others may have been opened since the start that was broken off.
        let (account, webhook_secret) = match admin.account_named(FIRST).await?.map(|account| account.id) {
            Some(account) => (account, admin.rotate_webhook_secret(account, Duration::ZERO).await?),
            None => {
                let opened = admin.open_account(FIRST, plan, credits).await?;
                (opened.account, opened.webhook_secret)
            }
        };
        for made in admin.keys(account).await? {
            admin.revoke_key_by_id(account, &made.mac.id()).await?;
        }
        write_private(&data.path("first-webhook-secret"), webhook_secret.expose().as_bytes())?;
        write_private(&path, admin.new_key(account).await?.expose().as_bytes())?;
        fs::remove_file(&begun)?;
    }
    Ok(fs::read_to_string(path).ok())
}

fn greet(public_url: &str, key: &Option<String>, options: &Options, address: SocketAddr) {
    let shown = key.as_deref().unwrap_or("KEY");
    println!("Lapidary serves {public_url}");
    println!("  data            {}", options.data.display());
    println!("  documentation   {public_url}/docs");
    match key {
        Some(key) => {
            println!("  API key         {key}  (account `{FIRST}`; kept in first-key until you delete that file)")
        }
        None => println!("  API key         make one: server key NAME --data {}", options.data.display()),
    }
    if !address.ip().is_loopback() && options.certificate.is_none() && !options.behind_proxy {
        println!("  WARNING         the certificate is for localhost alone; give --cert and --key");
    }
    println!("\nTry:\n  curl -k -u {shown}: -F file=@examples/pictures/coffee.jpg {public_url}/1.0/upload");
    println!("  curl -k -u {shown}: {public_url}/1.0/results/ID");
}

/// Done when the process is asked to end.
async fn stopped() {
    #[cfg(unix)]
    {
        let Ok(mut term) = signal::unix::signal(signal::unix::SignalKind::terminate()) else { return };
        tokio::select! { _ = term.recv() => {}, _ = signal::ctrl_c() => {} }
    }
    #[cfg(not(unix))]
    let _ = signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use lapidary::{adapter::memory, service::Keyring};

    use super::*;

    #[tokio::test]
    async fn a_first_start_that_was_broken_off_goes_on_with_its_own_account() {
        let data = data::tests::folder("first-start");
        let keyring = Keyring::new([1; 32], [2; 32]);
        let service = Service::new(memory::ports(), Engine::new(), keyring, Settings::new("https://images.test"));
        let admin = service.admin();
        let anothers = admin.open_account("alice", "gold", 5).await.unwrap().account;
        admin.new_key(anothers).await.unwrap();
        let begun = admin.open_account(FIRST, "gold", 5).await.unwrap().account;
        write_private(&data.path("first-start"), b"").unwrap();
        let key = first_account(&service, &data, &Options::default()).await.unwrap();
        assert!(key.is_some() && !data::is_there(&data.path("first-start")));
        for account in [anothers, begun] {
            assert_eq!(admin.keys(account).await.unwrap().len(), 1);
        }
        fs::remove_dir_all(data.path("")).unwrap();
    }
}
