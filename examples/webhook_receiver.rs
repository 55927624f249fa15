//! A receiver of notifications that believes only what is signed, and takes each once.
//!
//! `WEBHOOK_SECRET=whsec_… cargo run --example webhook_receiver` listens at <http://127.0.0.1:8080/>. Put TLS in front of
//! it, or let the service speak to private addresses.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use anyhow::{Context, Result};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use lapidary::{
    Clock, SystemClock,
    service::webhook::{Signed, SigningSecret, verify},
};

struct Receiver {
    /// One, or two while the service changes from one to the other.
    secrets: Vec<SigningSecret>,
    clock: SystemClock,
    /// Ids of what was taken; a real receiver keeps them for a week, in its database.
    seen: Mutex<BTreeSet<String>>,
}

async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let signed = Signed {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        body: &body,
    };
    if let Err(refused) = verify(&receiver.secrets, signed, receiver.clock.now()) {
        eprintln!("not believed: {refused}");
        return StatusCode::UNAUTHORIZED;
    }
    let first = receiver.seen.lock().is_ok_and(|mut seen| seen.insert(signed.id.to_owned()));
    if first {
        println!("{}", String::from_utf8_lossy(&body));
    }
    // Also for one that came before: the service would send it again.
    StatusCode::OK
}

#[tokio::main]
async fn main() -> Result<()> {
    let secret = std::env::var("WEBHOOK_SECRET").context("WEBHOOK_SECRET is not set")?;
    let secrets = secret.split_whitespace().map(SigningSecret::parse).collect::<Result<_, _>>()?;
    let receiver = Receiver { secrets, clock: SystemClock::new(), seen: Mutex::default() };
    let app = Router::new().route("/", post(receive)).with_state(Arc::new(receiver));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    eprintln!("listening at http://{}/", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
