//! [`Fetcher`](crate::port::Fetcher) and [`Notifier`](crate::port::Notifier) over HTTP/1.1, with a guard against addresses
//! that clients have no business with.
//!
//! | | |
//! |---|---|
//! | [`Guard`] | judges an address as it is written, and every address that its name leads to, at the moment of dialling |
//! | [`Network`] | looks up and connects; the guard stands before it |
//! | [`Http`] | fetches and notifies |
//!
//! A connection serves one request. Nothing is decompressed, and redirects of a fetch are followed by hand, each judged
//! like the first address.

mod address;
pub(super) mod client;
mod dial;
pub(super) mod fetch;
pub(super) mod guard;
mod network;
mod notify;

use std::{sync::Arc, time::Duration};

use http::HeaderValue;
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use tokio_rustls::TlsConnector;

use self::{client::Client, dial::Dialer};
pub use self::{
    client::Drip,
    dial::{Egress, Proxy},
    guard::{Guard, Place},
    network::{Connection, Network, Stream, System},
};
use crate::{
    clock::{Clock, SystemClock},
    port::{Failure, Result},
};

/// What a host may choose.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where people who see the service's requests in their logs find out about it: a URL. The User-Agent is
    /// `Lapidary/1.0 (+<contact>)`, without contact `Lapidary/1.0`.
    pub contact: Option<String>,
    /// Whom the service may speak to.
    pub guard: Guard,
    /// Where connections leave from.
    pub egress: Egress,
    /// How long looking up, connecting and beginning TLS may take together; 5 s.
    pub connect: Duration,
    /// How long a fetch may take, redirects included; 30 s.
    pub fetch: Duration,
    /// How many redirects a fetch follows; 5.
    pub redirects: u32,
    /// How long a notification may take, the body of its answer included; 10 s. The service gives a notification to another
    /// hand after 30 s, so longer ones may come twice.
    pub notify: Duration,
    /// The slowest that the body of a fetch may come; 5 KiB in 5 s.
    pub drip: Drip,
    /// Certificates of authorities to trust beside Mozilla's, in DER.
    pub authorities: Vec<Vec<u8>>,
    /// Looks up and connects; [`System`].
    pub network: Arc<dyn Network>,
    /// Tells how far away a date in `Retry-After` is; [`SystemClock`].
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            contact: None,
            guard: Guard::default(),
            egress: Egress::default(),
            connect: Duration::from_secs(5),
            fetch: Duration::from_secs(30),
            redirects: 5,
            notify: Duration::from_secs(10),
            drip: Drip { bytes: 5 * 1024, window: Duration::from_secs(5) },
            authorities: Vec::new(),
            network: Arc::new(System),
            clock: Arc::new(SystemClock::new()),
        }
    }
}

/// Fetches images and posts notifications. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Http {
    client: Client,
    agent: HeaderValue,
    fetch: Duration,
    redirects: u32,
    notify: Duration,
    clock: Arc<dyn Clock>,
}

impl Http {
    /// Makes one. Needs a tokio runtime, with time and I/O, when it is used.
    ///
    /// # Errors
    /// Where the contact does not fit into a header, or an authority is no certificate.
    pub fn new(options: Options) -> Result<Self> {
        let agent = options.contact.as_ref().map(|contact| format!(" (+{contact})")).unwrap_or_default();
        let agent = HeaderValue::try_from(format!("Lapidary/1.0{agent}"))
            .map_err(|error| Failure::lasting("the contact must be a URL").because(error))?;
        let dialer = Dialer {
            guard: options.guard,
            egress: options.egress,
            network: options.network,
            tls: tls(&options.authorities)?,
            connect: options.connect,
        };
        let client = Client { dialer: Arc::new(dialer), drip: options.drip };
        let Options { fetch, redirects, notify, clock, .. } = options;
        Ok(Self { client, agent, fetch, redirects, notify, clock })
    }

    /// The client beneath, for adapters that speak another protocol over HTTP.
    #[cfg(feature = "s3")]
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    #[cfg(feature = "s3")]
    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }
}

/// TLS 1.2 and 1.3 with ring, whatever provider the process has installed.
fn tls(authorities: &[Vec<u8>]) -> Result<TlsConnector> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for authority in authorities {
        let certificate = CertificateDer::from(authority.clone());
        roots
            .add(certificate)
            .map_err(|error| Failure::lasting("an authority is no certificate in DER").because(error))?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::lasting("no version of TLS can be spoken").because(error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests;
