//! Signatures of notifications by Standard Webhooks 1.0.0
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>): HMAC-SHA256 over
//! `id.timestamp.body`.

use std::{fmt, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::super::seal::random;
use crate::{clock::Timestamp, request::Secret};

const PREFIX: &str = "whsec_";

/// How far a notification's time may be from the receiver's.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// What both sides know: 24 to 64 octets, written as `whsec_` and Base64. Prints as `***`, and overwrites its memory when
/// dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

impl SigningSecret {
    /// Of 24 to 64 random octets; `None` of fewer or more.
    pub fn new(octets: impl Into<Vec<u8>>) -> Option<Self> {
        let octets = Zeroizing::new(octets.into());
        (24..=64).contains(&octets.len()).then_some(Self(octets))
    }

    /// Of 32 octets from the operating system.
    pub fn generate() -> Self {
        Self(Zeroizing::new(random::<32>().into()))
    }

    /// Reads `whsec_…`.
    ///
    /// # Errors
    /// Where it is not `whsec_` and Base64 of 24 to 64 octets.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let encoded = text.strip_prefix(PREFIX).ok_or(Refused::Secret)?;
        Self::new(STANDARD.decode(encoded).map_err(|_| Refused::Secret)?).ok_or(Refused::Secret)
    }

    /// As it is shown to its owner, once.
    pub fn to_text(&self) -> Secret {
        let encoded = Zeroizing::new(STANDARD.encode(&*self.0));
        Secret::new([PREFIX, &encoded].concat())
    }

    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
        // HMAC takes keys of every length.
        #[allow(clippy::unwrap_used, reason = "cannot fail")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).unwrap();
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The headers that prove a notification: `webhook-id`, `webhook-timestamp` and `webhook-signature`, which has a signature
/// by each of `secrets` (two while one takes over from the other).
///
/// `id` names the notification, the same at every attempt, and holds no full stop. `now` is the time of this attempt.
pub fn sign(secrets: &[SigningSecret], id: &str, now: Timestamp, body: &[u8]) -> Vec<(&'static str, String)> {
    debug_assert!(!id.contains('.'), "a full stop in {id} would let it be taken for another");
    let timestamp = now.seconds().to_string();
    let signature = |secret: &SigningSecret| {
        format!("v1,{}", STANDARD.encode(secret.mac(id, &timestamp, body).finalize().into_bytes()))
    };
    let signatures: Vec<_> = secrets.iter().map(signature).collect();
    vec![("webhook-id", id.to_owned()), ("webhook-signature", signatures.join(" ")), ("webhook-timestamp", timestamp)]
}

/// A notification as its receiver has it.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// `webhook-id`.
    pub id: &'a str,
    /// `webhook-timestamp`.
    pub timestamp: &'a str,
    /// `webhook-signature`.
    pub signature: &'a str,
    /// The body, to the byte as it came.
    pub body: &'a [u8],
}

/// Whether somebody who knows one of `secrets` signed this notification within five minutes of `now`. Who was told of
/// the same `id` before may leave it at that: a notification can arrive more than once.
///
/// # Errors
/// Says what is wrong, to the receiver: whoever sent it had better not be told.
pub fn verify(secrets: &[SigningSecret], signed: Signed<'_>, now: Timestamp) -> Result<(), Refused> {
    let digits = !signed.timestamp.is_empty() && signed.timestamp.bytes().all(|b| b.is_ascii_digit());
    let sent = signed.timestamp.parse::<u64>().ok().filter(|_| digits).ok_or(Refused::Timestamp)?;
    if Duration::from_secs(now.seconds().abs_diff(sent)) > TOLERANCE {
        return Err(Refused::Timestamp);
    }
    let signatures = signed.signature.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
    let known = signatures.filter_map(|signature| STANDARD.decode(signature).ok()).any(|signature| {
        // Compares in constant time.
        let proves = |secret: &SigningSecret| {
            secret.mac(signed.id, signed.timestamp, signed.body).verify_slice(&signature).is_ok()
        };
        secrets.iter().any(proves)
    });
    if known { Ok(()) } else { Err(Refused::Signature) }
}

/// Why a notification is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The secret is not `whsec_` and Base64 of 24 to 64 octets.
    #[error("a signing secret is whsec_ and Base64 of 24 to 64 octets")]
    Secret,
    /// The time is no number of seconds, or more than five minutes away: an old notification, sent again by somebody
    /// who overheard it.
    #[error("the notification's time is not within five minutes of now")]
    Timestamp,
    /// No signature is by a secret that is known.
    #[error("the notification is signed by nobody who is known")]
    Signature,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's reference libraries.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const NOW: Timestamp = Timestamp::from_millis(1_614_265_330_000);

    fn secret(octet: u8) -> SigningSecret {
        SigningSecret::new([octet; 32]).unwrap()
    }

    fn check(
        secrets: &[SigningSecret],
        headers: &[(&str, String)],
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), Refused> {
        let [id, signature, timestamp] = [0, 1, 2].map(|at: usize| headers[at].1.as_str());
        verify(secrets, Signed { id, timestamp, signature, body }, now)
    }

    #[test]
    fn the_published_example_is_signed_as_published() {
        let headers = sign(&[SigningSecret::parse(SECRET).unwrap()], ID, NOW, BODY);
        let expected = [
            ("webhook-id", ID),
            ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            ("webhook-timestamp", "1614265330"),
        ];
        assert_eq!(headers, expected.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(check(&[SigningSecret::parse(SECRET).unwrap()], &headers, BODY, NOW), Ok(()));
    }

    #[test]
    fn a_change_of_anything_is_refused() {
        let headers = sign(&[secret(1)], "a", NOW, b"body");
        let with = |at: usize, value: &str| {
            let mut changed = headers.clone();
            value.clone_into(&mut changed[at].1);
            changed
        };
        let refused = Err(Refused::Signature);
        assert_eq!(check(&[secret(1)], &headers, b"bodx", NOW), refused);
        assert_eq!(check(&[secret(1)], &headers, b"", NOW), refused);
        assert_eq!(check(&[secret(2)], &headers, b"body", NOW), refused);
        assert_eq!(check(&[], &headers, b"body", NOW), refused);
        assert_eq!(check(&[secret(1)], &with(0, "b"), b"body", NOW), refused);
        assert_eq!(check(&[secret(1)], &with(2, "1614265331"), b"body", NOW), refused);
        let signature = headers[1].1.clone();
        for wrong in
            ["", "v1,", "v1", &signature[3..], &signature.replace("v1", "v2"), &signature[..signature.len() - 4]]
        {
            assert_eq!(check(&[secret(1)], &with(1, wrong), b"body", NOW), refused, "{wrong}");
        }
    }

    #[test]
    fn one_known_signature_among_others_is_enough() {
        let headers = sign(&[secret(1), secret(2)], "a", NOW, b"body");
        for known in [&[secret(1)] as &[_], &[secret(2)], &[secret(3), secret(2)]] {
            assert_eq!(check(known, &headers, b"body", NOW), Ok(()));
        }
        let mut foreign = headers.clone();
        foreign[1].1.insert_str(0, "v1a,xyz v1,!!! ");
        assert_eq!(check(&[secret(1)], &foreign, b"body", NOW), Ok(()));
    }

    #[test]
    fn five_minutes_either_way_are_borne() {
        let headers = sign(&[secret(1)], "a", NOW, b"");
        for seconds in [0, 299, 300] {
            let away = Duration::from_secs(seconds);
            assert_eq!(check(&[secret(1)], &headers, b"", NOW + away), Ok(()));
            assert_eq!(check(&[secret(1)], &headers, b"", NOW - away), Ok(()));
        }
        let away = Duration::from_secs(301);
        assert_eq!(check(&[secret(1)], &headers, b"", NOW + away), Err(Refused::Timestamp));
        assert_eq!(check(&[secret(1)], &headers, b"", NOW - away), Err(Refused::Timestamp));
        for timestamp in ["", "x", "-1", "+1614265330", "1614265330.5", "99999999999999999999"] {
            let signed = Signed { id: "a", timestamp, signature: &headers[1].1, body: b"" };
            assert_eq!(verify(&[secret(1)], signed, NOW), Err(Refused::Timestamp), "{timestamp}");
        }
    }

    #[test]
    fn a_secret_is_24_to_64_octets_reads_as_it_writes_and_prints_as_stars() {
        for length in [24, 32, 64] {
            let secret = SigningSecret::new(vec![7; length]).unwrap();
            assert_eq!(SigningSecret::parse(secret.to_text().expose()).unwrap(), secret);
            assert_eq!(format!("{secret:?}"), "***");
        }
        assert_ne!(SigningSecret::generate(), SigningSecret::generate());
        assert!(SigningSecret::new([7; 23]).is_none() && SigningSecret::new([7; 65]).is_none());
        for text in [
            "",
            "whsec_",
            "whsec_AAAA",
            &SECRET[6..],
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw!",
            "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        ] {
            assert_eq!(SigningSecret::parse(text), Err(Refused::Secret), "{text}");
        }
    }
}
