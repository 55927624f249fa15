//! The data folder: ledger, blobs, the keys that seal, the certificate.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use lapidary::{
    Engine,
    adapter::{directory::DirectoryBlobs, sqlite::SqliteLedger},
    port::{Fetcher, Notifier, Ports, Storage},
    service::{Keyring, Service, Settings},
};

/// A folder that is this server's alone.
#[derive(Debug, Clone)]
pub(crate) struct Data(PathBuf);

impl Data {
    /// Opens the folder, made where there is none.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("the folder {} cannot be made", folder.display()))?;
        Ok(Self(folder.to_owned()))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The service on this folder.
    pub(crate) fn service(&self, settings: Settings, world: World) -> Result<Service> {
        let ports = Ports {
            ledger: Arc::new(SqliteLedger::open(self.path("ledger.sqlite"))?),
            blobs: Arc::new(DirectoryBlobs::open(self.path("blobs"))?),
            fetcher: world.fetcher,
            storage: world.storage,
            notifier: world.notifier,
        };
        Ok(Service::new(ports, Engine::new(), self.keyring()?, settings))
    }

    /// The keys that seal: 64 random bytes in hexadecimal, made at first start. Without them no stored secret opens.
    fn keyring(&self) -> Result<Keyring> {
        let path = self.path("secrets");
        if !path.exists() {
            let mut fresh = [0; 64];
            getrandom::fill(&mut fresh)?;
            write_private(&path, hex(&fresh).as_bytes())?;
        }
        let text = fs::read_to_string(&path)?;
        let Some([key, pepper]) = unhex(text.trim()) else {
            bail!("{} does not hold 64 bytes in hexadecimal", path.display())
        };
        Ok(Keyring::new(key, pepper))
    }
}

/// The ports that touch other people's machines.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) fetcher: Arc<dyn Fetcher>,
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) notifier: Arc<dyn Notifier>,
}

/// Writes a file that only its owner can read, whole or not at all.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let unfinished = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(fs::rename(unfinished, path)?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[[u8; 32]; 2]> {
    let bytes: Option<Vec<u8>> =
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect();
    let (key, pepper) = bytes.as_deref()?.split_first_chunk()?;
    Some([*key, pepper.try_into().ok()?])
}
