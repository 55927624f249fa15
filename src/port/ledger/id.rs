//! The names of requests and accounts.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

/// A text is not the hyphenated lowercase form of a UUID, which is the only one, so that one request has one address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID in lowercase with hyphens, got {text:?}")]
#[non_exhaustive]
pub struct NoId {
    /// The text.
    pub text: String,
}

/// Defines a UUID that names something; written and read in its one form.
macro_rules! id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NoId;

            fn from_str(text: &str) -> Result<Self, NoId> {
                let id = Uuid::try_parse(text).ok().filter(|id| id.to_string() == text);
                id.map(Self).ok_or_else(|| NoId { text: text.to_owned() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(from)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

id! {
    /// Names a request, in the ledger and to its client. Made (UUID v7) before it is accepted, so that accepting can be
    /// repeated.
    JobId
}

id! {
    /// Names an account.
    AccountId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_form() {
        let text = "01890a5d-ac96-774b-bcce-b302099a8057";
        let id: JobId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(serde_json::to_value(id).unwrap(), text);
        assert_eq!(serde_json::from_value::<JobId>(text.into()).unwrap(), id);
        for other in [text.to_uppercase(), text.replace('-', ""), format!("{{{text}}}"), String::new()] {
            let error = other.parse::<AccountId>().unwrap_err();
            assert_eq!(error.text, other);
            assert!(serde_json::from_value::<AccountId>(other.into()).is_err());
        }
    }
}
