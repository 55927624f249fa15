//! Values that are one of a few words.

use std::{borrow::Cow, str::FromStr};

use serde::{Deserialize, Deserializer, de};

/// A text is none of the words that a value has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{allowed}, got {word:?}")]
#[non_exhaustive]
pub struct UnknownWord {
    /// The text.
    pub word: String,
    /// The words, as the end of a sentence: `must be one of progressive, baseline`.
    pub allowed: String,
}

/// An enum of words, and how requests spell them.
pub(super) trait Choice: Copy + 'static {
    /// Every word that is understood, in the order of the interface; a value's own spelling comes before its aliases.
    const WORDS: &'static [(&'static str, Self)];

    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
    }

    /// What is allowed, as the end of a sentence.
    fn allowed() -> String {
        format!("must be one of {}", Self::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "))
    }

    /// The value that a text names.
    fn named(text: &str) -> Result<Self, UnknownWord> {
        Self::of(text).ok_or_else(|| UnknownWord { word: text.to_owned(), allowed: Self::allowed() })
    }
}

/// The value whose word is next.
pub(super) fn deserialised<'de, D: Deserializer<'de>, T: FromStr<Err = UnknownWord>>(from: D) -> Result<T, D::Error> {
    Cow::<str>::deserialize(from)?.parse().map_err(de::Error::custom)
}

/// Defines a public enum whose variants are words of the request.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal $(| $alias:literal)*,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All values, in the order of the interface.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word that requests use.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl $crate::request::choice::Choice for $name {
            const WORDS: &'static [(&'static str, Self)] =
                &[$(($word, Self::$variant), $(($alias, Self::$variant),)*)+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::request::UnknownWord;

            /// Reads the words of requests, their aliases among them.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::request::choice::Choice::named(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::request::choice::deserialised(deserializer)
            }
        }

        impl From<$name> for $crate::request::json::Json {
            fn from(value: $name) -> Self {
                value.as_str().into()
            }
        }
    };
}

pub(super) use choice;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Encoding, OutputFormat};

    #[test]
    fn words_and_aliases_are_understood_to_the_letter() {
        assert_eq!(OutputFormat::of("jpg"), Some(OutputFormat::Jpeg));
        assert_eq!(OutputFormat::of("jpeg"), Some(OutputFormat::Jpeg));
        assert_eq!(OutputFormat::of("JPEG"), None);
        assert_eq!(OutputFormat::allowed(), "must be one of auto, jpeg, jpg, png, webp, gif, svg, avif, smallest");
    }

    #[test]
    fn hosts_read_and_write_the_same_words() {
        assert_eq!("jpg".parse(), Ok(OutputFormat::Jpeg));
        assert_eq!(serde_json::to_string(&[OutputFormat::Jpeg]).unwrap(), r#"["jpeg"]"#);
        assert_eq!(serde_json::from_str::<Vec<OutputFormat>>(r#"["jp\u0067"]"#).unwrap(), [OutputFormat::Jpeg]);
        let unknown = "must be one of progressive, baseline, got \"best\"";
        assert_eq!("best".parse::<Encoding>().unwrap_err().to_string(), unknown);
        assert!(serde_json::from_str::<Encoding>(r#""best""#).unwrap_err().to_string().starts_with(unknown));
    }

    #[test]
    fn a_value_is_written_by_its_own_word_and_never_by_an_alias() {
        assert_eq!(OutputFormat::Jpeg.to_string(), "jpeg");
        assert!(OutputFormat::ALL.iter().all(|format| OutputFormat::of(format.as_str()) == Some(*format)));
    }
}
