//! Certificates: one made for this machine at first start, or the operator's own.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

use super::data::{Data, is_there, write_private};

/// The files of certificate chain and key: the operator's own, which must be there, or those of the data folder, made at
/// first start if there is neither: one alone is somebody's.
pub(crate) fn files(own: Option<&(PathBuf, PathBuf)>, data: &Data) -> Result<(PathBuf, PathBuf)> {
    if let Some((certificate, key)) = own {
        for file in [certificate, key] {
            fs::metadata(file).with_context(|| format!("there is no file {}", file.display()))?;
        }
        return Ok((certificate.clone(), key.clone()));
    }
    let (certificate, key) = (data.path("certificate.pem"), data.path("certificate.key.pem"));
    match (is_there(&certificate), is_there(&key)) {
        (false, false) => make_certificate(&certificate, &key)?,
        (true, true) => {}
        _ => bail!(
            "of {} and {} there is but one: put back the other, or take it away",
            certificate.display(),
            key.display()
        ),
    }
    Ok((certificate, key))
}

/// Makes a self-signed certificate for `localhost` and the loopback addresses.
fn make_certificate(certificate: &Path, key: &Path) -> Result<()> {
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names)?;
    write_private(key, made.signing_key.serialize_pem().as_bytes())?;
    write_private(certificate, made.cert.pem().as_bytes())
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

#[cfg(test)]
mod tests {
    use super::{super::data::tests::folder, *};

    #[test]
    fn an_operators_key_is_never_written_over() {
        let data = folder("tls");
        let (wanting, key) = (data.path("own.pem"), data.path("own.key.pem"));
        fs::write(&key, "the operator's").unwrap();
        let refused = files(Some(&(wanting.clone(), key.clone())), &data).unwrap_err();
        assert!(refused.to_string().contains("own.pem"), "{refused:#}");
        assert_eq!((fs::read_to_string(&key).unwrap().as_str(), wanting.exists()), ("the operator's", false));
        let (certificate, key) = files(None, &data).unwrap();
        assert!(acceptor(&certificate, &key).is_ok());
        let made = fs::read(&key).unwrap();
        files(None, &data).unwrap();
        assert_eq!(fs::read(&key).unwrap(), made, "once made, it stays");
        fs::remove_dir_all(data.path("")).unwrap();
    }

    #[test]
    fn where_only_one_of_key_and_certificate_is_there_nothing_is_written() {
        for (there, missing) in [("certificate.pem", "certificate.key.pem"), ("certificate.key.pem", "certificate.pem")]
        {
            let data = folder("tls-half");
            fs::write(data.path(there), "the operator's").unwrap();
            let refused = files(None, &data).unwrap_err().to_string();
            assert!(refused.contains(missing), "{refused}");
            assert_eq!(fs::read_to_string(data.path(there)).unwrap(), "the operator's");
            assert!(!is_there(&data.path(missing)));
            fs::remove_dir_all(data.path("")).unwrap();
        }
    }
}
