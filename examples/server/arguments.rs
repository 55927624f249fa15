//! The command line.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use anyhow::{Context, Result, bail, ensure};
use lapidary::{
    adapter::http::{Egress, Place},
    request::Url,
};

pub(crate) const HELP: &str = "\
The reference server: the image service of the crate `lapidary` under HTTPS.

Usage: server [OPTIONS]                          serves
       server account create NAME [--plan PLAN] [--credits N]
       server account change NAME [--plan PLAN] [--credits N]
       server account list
       server account disable NAME | enable NAME
       server key NAME                           makes an API key and prints it, once
       server key list NAME                      ids and ages of the keys of an account
       server key revoke KEY | revoke NAME ID
       server connector add NAME ID PROVIDER     reads key and secret, a line each, from standard input
       server connector list NAME | remove NAME ID
       server webhook rotate NAME                makes a new signing secret; the old one signs too for a day
       server webhook list NAME                  the latest notifications
       server webhook replay NAME REQUEST        sends one that was given up again

  --data DIR         ledger, images, keys, certificate [default: lapidary-data]
  --listen ADDR      address and port; port 0 takes a free one [default: 127.0.0.1:8443]
  --public-url URL   how clients reach it [default: https:// and the address, if that is one to reach]
  --cert FILE        certificate chain in PEM, with --key; else one is made for localhost
  --key FILE         its private key in PEM
  --behind-proxy     takes plain HTTP from a proxy that says X-Forwarded-Proto: https; listen where only it can connect
  --allow-private    lets images and webhooks have private addresses: for trying things out
  --open HOST:PORT   lets images and webhooks be at this private place, and no other; may be given several times
  --egress ADDR      local address that fetches and webhooks leave from; one of IPv4, one of IPv6, or both
  --contact URL      shown to hosts of fetched images, in the User-Agent [default: the public URL]
  --font FILE        font for the text of SVG, or a folder of fonts; may be given several times; without any, text is
                     not drawn where SVG is turned to pixels
  --s3-endpoint URL  endpoint of the storage provider `custom`; in a private network it is open to storage alone
  --workers N        pictures worked on at a time [default: one a core]
  --threads N        threads that networks and compression work on for one picture [default: 8, no more than there are cores]
  --queue N          requests that may wait [default: 10000]
  --rate N           requests of a key in 15 minutes [default: 100000]
  --json             first line of standard output: {\"url\":..,\"key\":..,\"certificate\":..}
  -h, --help         this text

Signals: TERM and INT finish what runs, for 25 s at most, and hand back the rest.
";

/// What to do.
#[derive(Debug)]
pub(crate) enum Command {
    Help,
    Serve,
    /// Administration: the words of the command.
    Administer(Vec<String>),
}

/// Options of all commands.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) data: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) public_url: Option<String>,
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    pub(crate) behind_proxy: bool,
    pub(crate) allow_private: bool,
    pub(crate) open: Vec<Place>,
    pub(crate) egress: Egress,
    pub(crate) contact: Option<String>,
    pub(crate) fonts: Vec<PathBuf>,
    pub(crate) s3_endpoint: Option<String>,
    pub(crate) workers: Option<usize>,
    pub(crate) threads: Option<usize>,
    pub(crate) queue: Option<u64>,
    pub(crate) rate: Option<u64>,
    pub(crate) json: bool,
    pub(crate) plan: Option<String>,
    pub(crate) credits: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data: "lapidary-data".into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8443)),
            public_url: None,
            certificate: None,
            behind_proxy: false,
            allow_private: false,
            open: Vec::new(),
            egress: Egress::default(),
            contact: None,
            fonts: Vec::new(),
            s3_endpoint: None,
            workers: None,
            threads: None,
            queue: None,
            rate: None,
            json: false,
            plan: None,
            credits: None,
        }
    }
}

impl Options {
    /// Plan and credits of a new account.
    pub(crate) fn subscription(&self) -> (&str, u64) {
        (self.plan.as_deref().unwrap_or("standard"), self.credits.unwrap_or(10_000))
    }
}

/// Reads the arguments behind the program's name.
pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<(Command, Options)> {
    let mut options = Options::default();
    let (mut words, mut certificate, mut key) = (Vec::new(), None, None);
    let mut rest = arguments.into_iter();
    while let Some(word) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "-h" | "--help" => return Ok((Command::Help, options)),
            "--data" => options.data = value()?.into(),
            "--listen" => options.listen = value()?.parse().context("--listen needs an address and a port")?,
            "--public-url" => options.public_url = Some(public_url(value()?)?),
            "--cert" => certificate = Some(value()?.into()),
            "--key" => key = Some(value()?.into()),
            "--behind-proxy" => options.behind_proxy = true,
            "--allow-private" => options.allow_private = true,
            "--open" => options.open.push(value()?.parse()?),
            "--egress" => match value()?.parse().context("--egress needs an address")? {
                IpAddr::V4(address) => options.egress.v4 = Some(address),
                IpAddr::V6(address) => options.egress.v6 = Some(address),
            },
            "--contact" => options.contact = Some(value()?),
            "--font" => options.fonts.push(value()?.into()),
            "--s3-endpoint" => options.s3_endpoint = Some(value()?),
            "--workers" => options.workers = Some(number(&word, value()?)?),
            "--threads" => options.threads = Some(number(&word, value()?)?),
            "--queue" => options.queue = Some(number(&word, value()?)?),
            "--rate" => options.rate = Some(number(&word, value()?)?),
            "--json" => options.json = true,
            "--plan" => options.plan = Some(value()?),
            "--credits" => {
                // Ledgers keep signed numbers.
                let credits = value()?.parse().ok().filter(|credits| *credits <= i64::MAX as u64);
                options.credits = Some(credits.context("--credits needs a number from 0 to 9223372036854775807")?);
            }
            _ if word.starts_with('-') => bail!("there is no option {word}"),
            _ => words.push(word),
        }
    }
    options.certificate = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => bail!("--cert and --key go together"),
    };
    if !words.is_empty() {
        return Ok((Command::Administer(words), options));
    }
    if options.public_url.is_none() && (options.behind_proxy || options.listen.ip().is_unspecified()) {
        bail!("--public-url must say how clients reach the server, since the address that it listens at does not");
    }
    Ok((Command::Serve, options))
}

fn public_url(text: String) -> Result<String> {
    let is_served = text.starts_with("https://") && Url::from(text.as_str()).origin().is_some();
    ensure!(is_served && !text.contains(['?', '#']), "--public-url needs a URL that begins with https://");
    Ok(text)
}

fn number<T: TryFrom<u64>>(option: &str, text: String) -> Result<T> {
    let number = text.parse::<u64>().ok().filter(|number| *number > 0).and_then(|number| number.try_into().ok());
    number.with_context(|| format!("{option} needs a number from 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_url_is_needed_where_the_address_is_none_to_reach() {
        for (line, served) in [
            ("", true),
            ("--listen 127.0.0.1:0", true),
            ("--listen 0.0.0.0:8443", false),
            ("--listen [::]:8443", false),
            ("--behind-proxy", false),
            ("--listen 0.0.0.0:8443 --public-url https://images.test", true),
            ("--behind-proxy --public-url https://images.test", true),
            ("--behind-proxy account list", true),
            ("--public-url images.test", false),
            ("--public-url http://images.test", false),
            ("--public-url https://images.test/?a=b", false),
        ] {
            let read = read(line.split_whitespace().map(str::to_owned));
            assert!(read.as_ref().is_ok() == served, "{line}");
            assert!(read.err().is_none_or(|refused| refused.to_string().contains("--public-url")), "{line}");
        }
    }
}
