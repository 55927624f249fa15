//! The data folder: ledger, blobs, the keys that seal, the certificate.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
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

/// The ledger's file.
const LEDGER: &str = "ledger.sqlite";

/// A folder that is this server's alone.
#[derive(Debug, Clone)]
pub(crate) struct Data(PathBuf);

impl Data {
    /// Opens the folder, made where there is none.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("the folder {} cannot be made", folder.display()))?;
        Ok(Self(folder.to_owned()))
    }

    /// Opens a folder that a server has worked on. Of a name that was misspelled none is made.
    pub(crate) fn existing(folder: &Path) -> Result<Self> {
        let data = Self(folder.to_owned());
        if !is_there(&data.path(LEDGER)) {
            bail!("{} holds no {LEDGER}: --data must name the folder of a server", folder.display());
        }
        Ok(data)
    }

    /// Waits until no other server makes the files of a first start in this folder, and keeps others out until dropped.
    pub(crate) fn alone(&self) -> Result<File> {
        let path = self.path("lock");
        let lock = private(OpenOptions::new().create(true), &path).and_then(|file| file.lock().map(|()| file));
        lock.with_context(|| format!("{} cannot be locked", path.display()))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The service on this folder.
    pub(crate) fn service(&self, engine: Engine, settings: Settings, world: World) -> Result<Service> {
        // Before the ledger is made, whose presence tells that there must be keys.
        let keyring = self.keyring()?;
        let ports = Ports {
            ledger: Arc::new(SqliteLedger::open(self.path(LEDGER))?),
            blobs: Arc::new(DirectoryBlobs::open(self.path("blobs"))?),
            fetcher: world.fetcher,
            storage: world.storage,
            notifier: world.notifier,
        };
        Ok(Service::new(ports, engine, keyring, settings))
    }

    /// The keys that seal: 64 random bytes in hexadecimal, made at first start. Without them no stored secret opens, so no
    /// others are made for a ledger that is there already.
    fn keyring(&self) -> Result<Keyring> {
        let path = self.path("secrets");
        if !is_there(&self.path(LEDGER)) && !is_there(&path) {
            let mut fresh = [0; 64];
            getrandom::fill(&mut fresh)?;
            write_private(&path, hex(&fresh).as_bytes())?;
        }
        let needed = || format!("{} cannot be read: nothing in {LEDGER} opens without its keys", path.display());
        let text = fs::read_to_string(&path).with_context(needed)?;
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

/// Writes a file that only its owner can read, whole or not at all, for who is [alone](Data::alone).
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let unfinished = path.with_extension("new");
    let written = private(OpenOptions::new().create(true).truncate(true), &unfinished)
        .and_then(|file| write(file, bytes))
        .and_then(|()| fs::rename(&unfinished, path));
    written.with_context(|| format!("{} cannot be written", path.display()))
}

/// Whether there is anything of this name, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.write(true).open(path)
}

fn write(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An empty data folder of this name.
    pub(crate) fn folder(name: &str) -> Data {
        let folder = std::env::temp_dir().join(format!("lapidary-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        Data::open(&folder).unwrap()
    }

    #[test]
    fn keys_that_are_lost_are_never_replaced_beside_a_ledger() {
        let data = folder("secrets");
        let secrets = data.path("secrets");
        data.keyring().unwrap();
        let made = fs::read(&secrets).unwrap();
        fs::write(data.path(LEDGER), "").unwrap();
        data.keyring().unwrap();
        assert_eq!(fs::read(&secrets).unwrap(), made, "once made, they stay");
        fs::remove_file(&secrets).unwrap();
        let refused = data.keyring().unwrap_err().to_string();
        assert!(refused.contains("nothing in ledger.sqlite opens"), "{refused}");
        assert!(!is_there(&secrets));
        fs::remove_dir_all(&data.0).unwrap();
    }

    #[test]
    fn a_folder_of_no_server_is_refused_and_not_made() {
        let data = folder("existing");
        let refused = Data::existing(&data.0).unwrap_err().to_string();
        assert!(refused.contains("holds no ledger.sqlite"), "{refused}");
        assert!(Data::existing(&data.path("misspelled")).is_err() && !is_there(&data.path("misspelled")));
        fs::write(data.path(LEDGER), "").unwrap();
        Data::existing(&data.0).unwrap();
        fs::remove_dir_all(&data.0).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_keys_that_leads_nowhere_is_not_replaced() {
        let data = folder("secrets-link");
        let secrets = data.path("secrets");
        std::os::unix::fs::symlink("/nowhere/secrets", &secrets).unwrap();
        assert!(data.keyring().is_err());
        assert!(secrets.is_symlink());
        fs::remove_dir_all(&data.0).unwrap();
    }
}
