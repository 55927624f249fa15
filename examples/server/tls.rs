//! Certificates: one made for this machine at first start, or the operator's own.

use std::{fs, path::Path, sync::Arc};

use anyhow::{Context, Result};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

use super::data::write_private;

/// Makes a self-signed certificate for `localhost` and the loopback addresses, unless there is one.
pub(crate) fn ensure_certificate(certificate: &Path, key: &Path) -> Result<()> {
    if certificate.exists() && key.exists() {
        return Ok(());
    }
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names)?;
    write_private(key, made.signing_key.serialize_pem().as_bytes())?;
    fs::write(certificate, made.cert.pem())?;
    Ok(())
}

/// Reads a certificate chain and its key.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("no certificate can be read from {}", certificate.display()))?;
    let key =
        PrivateKeyDer::from_pem_file(key).with_context(|| format!("no key can be read from {}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    // By HTTP/2 a client that is refused in the middle of its upload would see a broken stream and not the reason.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
