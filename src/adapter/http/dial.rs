//! The way to a host: its name looked up, every address judged, one of them dialled, TLS begun.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use url::Host;

use super::{
    guard::{Guard, Target, not_public},
    network::{Connection, Network, Stream},
};
use crate::{
    port::{Failure, Result},
    request::Secret,
};

/// Where connections leave from.
#[derive(Debug, Clone, Default)]
pub struct Egress {
    /// The local address of connections to IPv4. Where only this or [`Self::v6`] is given, nothing else is dialled.
    pub v4: Option<Ipv4Addr>,
    /// The local address of connections to IPv6.
    pub v6: Option<Ipv6Addr>,
    /// A proxy that every connection goes through.
    pub proxy: Option<Proxy>,
}

/// An HTTP proxy, which is asked by `CONNECT` for plain HTTP too.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// Its name or address. The guard does not judge it.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Value of `Proxy-Authorization`.
    pub authorization: Option<Secret>,
    /// Whether the proxy is given names. It has to judge the addresses that they lead to, then, since nobody else can. By
    /// `false` names are looked up and judged here, and the proxy is given addresses.
    pub resolves: bool,
}

/// Addresses of one name that are dialled at most, of those that were judged.
const DIALLED: usize = 8;
/// How long the next address waits for the one before (RFC 8305).
const STAGGER: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub(super) struct Dialer {
    pub(super) guard: Guard,
    pub(super) egress: Egress,
    pub(super) network: Arc<dyn Network>,
    pub(super) tls: TlsConnector,
    pub(super) connect: Duration,
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer")
            .field("guard", &self.guard)
            .field("egress", &self.egress)
            .field("network", &self.network)
            .field("connect", &self.connect)
            .finish_non_exhaustive()
    }
}

impl Dialer {
    /// A connection to `target`, with TLS where it says https.
    pub(super) async fn dial(&self, target: &Target) -> Result<Box<dyn Stream>> {
        let way = async {
            let stream = match &self.egress.proxy {
                None => self.direct(target, self.addresses(target).await?).await?,
                Some(proxy) => self.through(proxy, target).await?,
            };
            if target.is_tls() { self.begin_tls(target, stream).await } else { Ok(stream) }
        };
        timeout(self.connect, way).await.unwrap_or_else(|_| Err(no_connection(target)))
    }

    /// Where `target` leads. One address that is refused refuses the name, so that chance cannot decide.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>> {
        // A name may be known in a while. One that leads inside is tried as often, else the time taken would tell of it.
        let nowhere = || Failure { may_pass: matches!(target.host, Host::Domain(_)), ..not_public(&target.host) };
        let found = match &target.host {
            Host::Ipv4(address) => vec![IpAddr::from(*address)],
            Host::Ipv6(address) => vec![IpAddr::from(*address)],
            Host::Domain(name) => self.network.resolve(name).await.map_err(|error| nowhere().because(error))?,
        };
        if found.is_empty() || !found.iter().all(|address| self.guard.admits(target, *address)) {
            return Err(nowhere());
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address.to_canonical(), target.port)).collect())
    }

    async fn direct(&self, target: &Target, addresses: Vec<SocketAddr>) -> Result<Box<dyn Stream>> {
        let (dialled, connection) =
            self.first(addresses).await.map_err(|error| no_connection(target).because(error))?;
        // What was judged must be what is spoken to.
        if SocketAddr::new(connection.peer.ip().to_canonical(), connection.peer.port()) != dialled {
            return Err(not_public(&target.host));
        }
        Ok(connection.stream)
    }

    async fn through(&self, proxy: &Proxy, target: &Target) -> Result<Box<dyn Stream>> {
        let authorities = if proxy.resolves {
            vec![format!("{}:{}", target.host, target.port)]
        } else {
            by_turns(self.addresses(target).await?).iter().take(DIALLED).map(SocketAddr::to_string).collect()
        };
        let lost = |error: io::Error| Failure::passing("the way out is blocked").because(error);
        let found = self.network.resolve(&proxy.host).await.map_err(lost)?;
        let places: Vec<_> = found.into_iter().map(|address| SocketAddr::new(address, proxy.port)).collect();
        for authority in authorities {
            let (_, mut connection) = self.first(places.clone()).await.map_err(lost)?;
            match tunnel(&mut connection.stream, &authority, proxy.authorization.as_ref()).await.map_err(lost)? {
                200..=299 => return Ok(connection.stream),
                // It did not reach that one.
                500..=599 => {}
                _ => break,
            }
        }
        Err(no_connection(target))
    }

    /// The first of `addresses` that answers, each given a start before the next (RFC 8305).
    async fn first(&self, addresses: Vec<SocketAddr>) -> io::Result<(SocketAddr, Connection)> {
        let mut waiting = self.order(addresses).into_iter().take(DIALLED).peekable();
        let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
        let mut attempts = JoinSet::new();
        loop {
            match waiting.next() {
                Some(to) => drop(attempts.spawn(self.attempt(to))),
                None if attempts.is_empty() => return Err(failed),
                None => {}
            }
            let ended = if waiting.peek().is_some() {
                timeout(STAGGER, attempts.join_next()).await.unwrap_or_default()
            } else {
                attempts.join_next().await
            };
            match ended {
                Some(Ok((to, Ok(connection)))) => return Ok((to, connection)),
                Some(Ok((_, Err(error)))) => failed = error,
                Some(Err(error)) => failed = io::Error::other(error),
                None => {}
            }
        }
    }

    fn attempt(&self, to: SocketAddr) -> impl Future<Output = (SocketAddr, io::Result<Connection>)> + Send + 'static {
        let network = Arc::clone(&self.network);
        let from = if to.is_ipv4() { self.egress.v4.map(IpAddr::from) } else { self.egress.v6.map(IpAddr::from) };
        async move { (to, network.connect(to, from).await) }
    }

    /// By turns, without what no local address is for.
    fn order(&self, mut addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
        let [v4, v6] = [self.egress.v4.is_some(), self.egress.v6.is_some()];
        if v4 || v6 {
            addresses.retain(|address| if address.is_ipv4() { v4 } else { v6 });
        }
        by_turns(addresses)
    }

    async fn begin_tls(&self, target: &Target, stream: Box<dyn Stream>) -> Result<Box<dyn Stream>> {
        let name = match &target.host {
            Host::Ipv4(address) => ServerName::from(IpAddr::from(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::from(*address)),
            Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
                .map_err(|error| Failure::lasting(format!("{name} cannot be asked for by TLS")).because(error))?,
        };
        match self.tls.connect(name, stream).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) if is_certificate_refusal(&error) => {
                Err(Failure::lasting(format!("the certificate of {} is not valid", target.host)).because(error))
            }
            Err(error) => Err(no_connection(target).because(error)),
        }
    }
}

/// IPv6 and IPv4 by turns.
fn by_turns(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let (v4, v6): (Vec<_>, Vec<_>) = addresses.into_iter().partition(SocketAddr::is_ipv4);
    let (mut v4, mut v6) = (v4.into_iter(), v6.into_iter());
    let mut order = Vec::new();
    loop {
        let pair = [v6.next(), v4.next()];
        if pair == [None, None] {
            return order;
        }
        order.extend(pair.into_iter().flatten());
    }
}

fn is_certificate_refusal(error: &io::Error) -> bool {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}

/// Without the reason, which would tell what is at a port.
fn no_connection(target: &Target) -> Failure {
    Failure::passing(format!("no connection to {}", target.authority()))
}

/// Asks a proxy for `authority`; answers its status.
async fn tunnel(stream: &mut Box<dyn Stream>, authority: &str, authorization: Option<&Secret>) -> io::Result<u16> {
    const HEAD_AT_MOST: usize = 16 * 1024;
    let mut ask = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(authorization) = authorization {
        ask = ask + "Proxy-Authorization: " + authorization.expose() + "\r\n";
    }
    stream.write_all((ask + "\r\n").as_bytes()).await?;
    let mut head = Vec::new();
    // By the octet, since what follows the head is the tunnel's.
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == HEAD_AT_MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
