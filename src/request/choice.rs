//! Values that are one of a few words.

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
    use crate::request::OutputFormat;

    #[test]
    fn words_and_aliases_are_understood_to_the_letter() {
        assert_eq!(OutputFormat::of("jpg"), Some(OutputFormat::Jpeg));
        assert_eq!(OutputFormat::of("jpeg"), Some(OutputFormat::Jpeg));
        assert_eq!(OutputFormat::of("JPEG"), None);
        assert_eq!(OutputFormat::allowed(), "must be one of auto, jpeg, jpg, png, webp, gif, svg, avif, smallest");
    }

    #[test]
    fn a_value_is_written_by_its_own_word_and_never_by_an_alias() {
        assert_eq!(OutputFormat::Jpeg.to_string(), "jpeg");
        assert!(OutputFormat::ALL.iter().all(|format| OutputFormat::of(format.as_str()) == Some(*format)));
    }
}
