//! Which addresses may be spoken to, as far as their text tells.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use url::Host;

use super::address::{Reach, reach};
use crate::{
    percent,
    port::{Failure, Result},
    request::Secret,
};

/// Which addresses may be spoken to: by default those of the public internet at ports 80, 443, 8080 and 8443.
///
/// An address is read once, by the WHATWG's rules, and what was read is what is dialled. Names are judged here; the
/// addresses that they lead to when they are dialled.
#[derive(Debug, Clone)]
pub struct Guard {
    ports: Vec<u16>,
    open: Vec<Place>,
    private: bool,
}

impl Default for Guard {
    fn default() -> Self {
        Self { ports: vec![80, 443, 8080, 8443], open: Vec::new(), private: false }
    }
}

impl Guard {
    /// Lets in these ports besides.
    #[must_use]
    pub fn ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports.extend(ports);
        self
    }

    /// Lets in one place in the private network.
    #[must_use]
    pub fn open(mut self, place: Place) -> Self {
        self.open.push(place);
        self
    }

    /// Lets in private names and addresses and all ports, for trying things out. Link-local and reserved addresses and
    /// the metadata services of clouds stay shut.
    #[must_use]
    pub fn allow_private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Reads `text` and judges what it names.
    ///
    /// # Errors
    /// A lasting failure that says what the address must be, in words that begin with "must".
    pub(in crate::adapter) fn target(&self, text: &str) -> Result<Target> {
        refuse_ambiguous(text)?;
        let url = url::Url::parse(text).map_err(unreadable)?;
        // The WHATWG lets slashes be wanting or too many.
        let authority = text.split_once(':').and_then(|(_, rest)| rest.strip_prefix("//")).unwrap_or_default();
        if is_web(&url) && (authority.is_empty() || authority.starts_with(['/', '?', '#'])) {
            return Err(Failure::lasting("must have a host"));
        }
        self.judge(url)
    }

    /// Reads the `location` that `from` redirects to, and judges it.
    ///
    /// # Errors
    /// As of [`Self::target`], and where it would leave TLS.
    pub(super) fn redirect(&self, from: &Target, location: &str) -> Result<Target> {
        refuse_ambiguous(location)?;
        let target = self.judge(from.url.join(location).map_err(unreadable)?)?;
        if from.is_tls() && !target.is_tls() {
            return Err(Failure::lasting("must not leave https"));
        }
        Ok(target)
    }

    fn judge(&self, mut url: url::Url) -> Result<Target> {
        if !is_web(&url) {
            return Err(not_web());
        }
        let authorization = basic(&url);
        // They cannot fail for a scheme that has a host.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        url.set_fragment(None);
        let (Some(host), Some(port)) = (url.host().map(|host| host.to_owned()), url.port_or_known_default()) else {
            return Err(Failure::lasting("must have a host"));
        };
        let target = Target { host, port, url, authorization };
        self.judge_place(&target)?;
        Ok(target)
    }

    fn judge_place(&self, target: &Target) -> Result<()> {
        let port_is_open = target.port != 0 && (self.private || self.ports.contains(&target.port));
        if !port_is_open && !self.is_open(target) {
            let ports: Vec<_> = self.ports.iter().map(u16::to_string).collect();
            return Err(Failure::lasting(format!("must be at one of the ports {}", ports.join(", "))));
        }
        let passes = match &target.host {
            Host::Domain(name) => !is_private_name(name) || self.private || self.is_open(target),
            Host::Ipv4(address) => self.admits(target, (*address).into()),
            Host::Ipv6(address) => self.admits(target, (*address).into()),
        };
        if passes { Ok(()) } else { Err(Failure::lasting("must lead to the public internet")) }
    }

    /// Whether `target` may be spoken to at `address`.
    pub(super) fn admits(&self, target: &Target, address: IpAddr) -> bool {
        let socket = SocketAddr::new(address, target.port);
        match reach(address) {
            Reach::Public => true,
            Reach::Private if self.private || self.is_open(target) => true,
            Reach::Private | Reach::Never => self.open.contains(&Place::Socket(socket)),
        }
    }

    /// Whether the host has opened this place by the words that name it.
    fn is_open(&self, target: &Target) -> bool {
        self.open.iter().any(|place| match (place, &target.host) {
            (Place::Name(name, port), Host::Domain(host)) => name == host && *port == target.port,
            (Place::Socket(socket), Host::Ipv4(host)) => *socket == SocketAddr::from((*host, target.port)),
            (Place::Socket(socket), Host::Ipv6(host)) => *socket == SocketAddr::from((*host, target.port)),
            _ => false,
        })
    }
}

/// A place in a private network that a host opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An address and its port.
    Socket(SocketAddr),
    /// A name, in lower case, and its port. Opens the private addresses that it leads to.
    Name(String, u16),
}

impl Place {
    /// The one that an address names.
    ///
    /// # Errors
    /// As of [`Guard::target`], for what is no address with a host.
    #[cfg(feature = "s3")]
    pub(in crate::adapter) fn of(text: &str) -> Result<Self> {
        let url = url::Url::parse(text).map_err(unreadable)?;
        if !is_web(&url) {
            return Err(not_web());
        }
        match (url.host(), url.port_or_known_default()) {
            (Some(Host::Domain(name)), Some(port)) => Ok(Self::Name(name.to_owned(), port)),
            (Some(Host::Ipv4(address)), Some(port)) => Ok(Self::Socket(SocketAddr::from((address, port)))),
            (Some(Host::Ipv6(address)), Some(port)) => Ok(Self::Socket(SocketAddr::from((address, port)))),
            _ => Err(Failure::lasting("must have a host")),
        }
    }
}

impl FromStr for Place {
    type Err = Failure;

    /// Reads `127.0.0.1:9000`, `[::1]:9000` and `minio:9000`.
    fn from_str(text: &str) -> Result<Self> {
        if let Ok(socket) = text.parse() {
            return Ok(Self::Socket(socket));
        }
        let refused = || Failure::lasting(format!("{text:?} is not of the form host:port"));
        let (name, port) = text.rsplit_once(':').ok_or_else(refused)?;
        match (Host::parse(name), port.parse()) {
            (Ok(Host::Domain(name)), Ok(port)) => Ok(Self::Name(name, port)),
            _ => Err(refused()),
        }
    }
}

/// An address that was read and let in. Prints without its path and query, which may hold secrets.
#[derive(Clone)]
pub(in crate::adapter) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
    /// Without user, password and fragment.
    pub(in crate::adapter) url: url::Url,
    /// `Basic …`, of the address's user and password.
    pub(super) authorization: Option<Secret>,
}

impl Target {
    pub(super) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(super) fn is_same_origin(&self, other: &Self) -> bool {
        (self.is_tls(), &self.host, self.port) == (other.is_tls(), &other.host, other.port)
    }

    /// What the `Host` header says: the port only where it is not the scheme's own.
    pub(in crate::adapter) fn authority(&self) -> String {
        self.url.port().map_or_else(|| self.host.to_string(), |port| format!("{}:{port}", self.host))
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.url.scheme(), self.authority())
    }
}

/// That `host` leads to no public address: the same words for one that leads nowhere, so that nobody learns which names a
/// private network knows.
pub(super) fn not_public(host: &Host) -> Failure {
    Failure::lasting(format!("{host} leads to no address on the public internet"))
}

/// Programs disagree on where these end a host, and whether they belong to an address at all.
fn refuse_ambiguous(text: &str) -> Result<()> {
    if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err(Failure::lasting("must not contain control characters, blanks and backslashes"));
    }
    Ok(())
}

fn is_web(url: &url::Url) -> bool {
    ["http", "https"].contains(&url.scheme())
}

fn not_web() -> Failure {
    Failure::lasting("must begin with http:// or https://")
}

fn unreadable(error: url::ParseError) -> Failure {
    Failure::lasting(format!("must be an address ({error})"))
}

fn basic(url: &url::Url) -> Option<Secret> {
    let (user, password) = (url.username(), url.password());
    if user.is_empty() && password.is_none() {
        return None;
    }
    let mut pair = percent::decode(user);
    pair.push(b':');
    pair.extend(percent::decode(password.unwrap_or_default()));
    let pair = zeroize::Zeroizing::new(pair);
    Some(Secret::new(format!("Basic {}", STANDARD.encode(&*pair))))
}

/// Names that mean this machine or a private network: those without a dot, and below domains set aside for it (RFC 2606,
/// 6761, 6762 with its appendix G, 7686, 8375, 9476; `internal` by ICANN in 2024; those of Kubernetes and Consul).
fn is_private_name(name: &str) -> bool {
    const DOMAINS: [&str; 19] = [
        "alt",
        "cluster.local",
        "consul",
        "corp",
        "example",
        "home",
        "home.arpa",
        "internal",
        "intranet",
        "invalid",
        "lan",
        "local",
        "localdomain",
        "localhost",
        "onion",
        "private",
        "svc",
        "test",
        "workgroup",
    ];
    let name = name.strip_suffix('.').unwrap_or(name);
    let below = |domain: &str| name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    !name.contains('.') || DOMAINS.iter().any(|domain| name == *domain || below(domain))
}

#[cfg(test)]
mod tests;
