//! Text that must not be seen.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that is needed in clear by the machine and by nobody who looks on: prints as `***`, compares and serialises in
/// clear, and overwrites its memory when dropped (as well as safe code can; copies made by others are theirs).
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Takes `text` in; its memory is overwritten with this value's end.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text in clear.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        // The hint keeps the compiler from leaving out a write that nobody reads.
        std::hint::black_box(wiped(std::mem::take(&mut self.0)));
    }
}

fn wiped(text: String) -> Vec<u8> {
    let mut bytes = text.into_bytes();
    bytes.fill(0);
    bytes
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_as_stars_and_serialises_in_clear() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "*** *** Some(***)");
        assert_eq!(serde_json::to_string(&secret).unwrap(), r#""hunter2""#);
        assert_eq!(serde_json::from_str::<Secret>(r#""hunter2""#).unwrap(), secret);
        assert_ne!(secret, "hunter3".into());
    }

    #[test]
    fn wiping_leaves_zeros_in_the_same_memory() {
        let text = String::from("hunter2");
        let at = text.as_ptr();
        let bytes = wiped(text);
        assert_eq!((bytes.as_ptr(), bytes), (at, vec![0; 7]));
    }
}
