//! Secrets at rest: what is sealed, and what is kept only as a keyed hash.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{
    port::ledger::{AccountId, KeyMac},
    request::Secret,
};

/// The host's keys. The last seals, all open, so that a new one can be put at the end while the old ones are still there
/// for what they have sealed.
///
/// ```
/// # use lapidary::service::Keyring;
/// # let ([old, new], pepper) = ([[1; 32], [2; 32]], [3; 32]);
/// // The new key seals, the old one still opens: until `Admin::reseal` has been through all accounts, and for as long as it says.
/// let both = Keyring::new(old, pepper).with_key(1, new);
/// // Then the old one may go.
/// let alone = Keyring::with_id(1, new, pepper);
/// ```
///
/// Sealed with XChaCha20-Poly1305 under a random nonce; the layout is `1`, key id, 24 bytes of nonce, ciphertext with tag.
#[derive(Clone)]
pub struct Keyring {
    keys: Vec<(u8, Zeroizing<[u8; 32]>)>,
    pepper: Zeroizing<[u8; 32]>,
}

/// A sealed thing did not open: its key is not in the ring, or it was altered, or it belongs elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value does not open with the keys of this service")]
pub(super) struct Unopened;

const LAYOUT: u8 = 1;
const NONCE: usize = 24;

impl Keyring {
    /// With one key, whose id is 0, and the pepper of the API keys' hashes, which must never change.
    pub fn new(key: [u8; 32], pepper: [u8; 32]) -> Self {
        Self::with_id(0, key, pepper)
    }

    /// With one key of another id, where those before it are gone.
    pub fn with_id(id: u8, key: [u8; 32], pepper: [u8; 32]) -> Self {
        Self { keys: vec![(id, Zeroizing::new(key))], pepper: Zeroizing::new(pepper) }
    }

    /// With a newer key, which seals from now on, in place of any other of its id.
    #[must_use]
    pub fn with_key(mut self, id: u8, key: [u8; 32]) -> Self {
        self.keys.retain(|(known, _)| *known != id);
        self.keys.push((id, Zeroizing::new(key)));
        self
    }

    /// Seals `plain` for one `place`, outside of which it does not open.
    pub(super) fn seal(&self, plain: &[u8], place: &str) -> Vec<u8> {
        let (id, key) = self.keys.last().map_or((0, &self.pepper), |(id, key)| (*id, key));
        let nonce: [u8; NONCE] = random();
        let cipher = XChaCha20Poly1305::new((&**key).into());
        let payload = Payload { msg: plain, aad: place.as_bytes() };
        // Encryption fails beyond 256 GiB alone.
        let sealed = cipher.encrypt(&XNonce::from(nonce), payload).unwrap_or_default();
        [&[LAYOUT, id][..], &nonce, &sealed].concat()
    }

    /// Opens what was sealed for `place`.
    pub(super) fn open(&self, sealed: &[u8], place: &str) -> Result<Zeroizing<Vec<u8>>, Unopened> {
        let [LAYOUT, id, rest @ ..] = sealed else { return Err(Unopened) };
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or(Unopened)?;
        let (_, key) = self.keys.iter().find(|(known, _)| known == id).ok_or(Unopened)?;
        let cipher = XChaCha20Poly1305::new((&**key).into());
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        cipher.decrypt(&XNonce::from(*nonce), payload).map(Zeroizing::new).map_err(|_| Unopened)
    }

    /// Whether the key that seals now has sealed this.
    pub(super) fn is_newest(&self, sealed: &[u8]) -> bool {
        self.keys.last().is_some_and(|(id, _)| sealed.get(1) == Some(id))
    }

    /// What is kept of an API key.
    pub(super) fn mac(&self, api_key: &str) -> KeyMac {
        KeyMac(self.digest(api_key.as_bytes()))
    }

    /// The lane of deliveries to an origin.
    pub(super) fn lane(&self, origin: &str) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.digest(origin.as_bytes());
        // Ledgers keep signed numbers.
        u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1
    }

    fn digest(&self, text: &[u8]) -> [u8; 32] {
        // HMAC takes keys of every length.
        #[allow(clippy::unwrap_used, reason = "cannot fail")]
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&*self.pepper).unwrap();
        mac.chain_update(text).finalize().into_bytes().into()
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|(id, _)| id)).finish()
    }
}

/// Where an account's things are sealed for.
pub(super) fn place(account: AccountId, what: &str) -> String {
    format!("{account}/{what}")
}

/// A new API key: `lap_` and 256 random bits.
pub(super) fn new_api_key() -> Secret {
    Secret::new(format!("lap_{}", URL_SAFE_NO_PAD.encode(random::<32>())))
}

/// Random bytes of the operating system.
///
/// # Panics
/// If the system has none to give: no secret can be made then.
#[allow(clippy::expect_used, reason = "a service without randomness must not go on")]
pub(super) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> Keyring {
        Keyring::new([1; 32], [2; 32])
    }

    #[test]
    fn what_is_sealed_opens_in_its_place_alone() {
        let sealed = ring().seal(b"secret", "account/connector");
        assert_eq!(ring().open(&sealed, "account/connector").unwrap().as_slice(), b"secret");
        assert!(ring().open(&sealed, "other/connector").is_err());
        assert!(!sealed.windows(6).any(|bytes| bytes == b"secret"));
    }

    #[test]
    fn no_bit_can_be_changed() {
        let sealed = ring().seal(b"s", "p");
        for bit in 0..sealed.len() * 8 {
            let mut altered = sealed.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(ring().open(&altered, "p").is_err(), "{bit}");
        }
        for len in 0..sealed.len() {
            assert!(ring().open(&sealed[..len], "p").is_err(), "{len}");
        }
    }

    #[test]
    fn after_a_rotation_the_new_key_seals_and_both_open() {
        let old = ring().seal(b"x", "p");
        let rotated = ring().with_key(7, [9; 32]);
        let new = rotated.seal(b"x", "p");
        assert!(rotated.open(&old, "p").is_ok() && rotated.open(&new, "p").is_ok());
        assert!(ring().open(&new, "p").is_err());
        assert_eq!((rotated.is_newest(&old), rotated.is_newest(&new)), (false, true));
        // Then the old one may go.
        let alone = Keyring::with_id(7, [9; 32], [2; 32]);
        assert!(alone.open(&old, "p").is_err() && alone.open(&new, "p").is_ok() && alone.is_newest(&new));
    }

    #[test]
    fn nothing_of_a_key_is_printed_and_its_hash_depends_on_the_pepper() {
        let key = new_api_key();
        assert_eq!((key.expose().len(), format!("{key:?} {:?}", ring())), (47, "*** [0]".to_owned()));
        assert_ne!(key, new_api_key());
        assert_ne!(ring().mac("k"), Keyring::new([1; 32], [3; 32]).mac("k"));
    }
}
