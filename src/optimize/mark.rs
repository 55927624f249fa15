//! The mark by which our own results are recognised, so that optimising twice changes nothing.

use std::fmt;

use sha1::{Digest, Sha1};

use super::{Goal, Preset};

/// Length of the checksum, in hexadecimal digits.
const DIGITS: usize = 6;

/// A comment of at most 15 bytes that names the goal a file was optimised for, and a checksum of the file without the
/// mark: `medium~1f09ab`. The checksum tells our own bytes from files that were edited since and kept the comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    goal: Goal,
    checksum: String,
}

impl Mark {
    /// The mark for a file that was optimised for `goal` and has the bytes `unmarked` before it is marked.
    pub fn new(goal: Goal, unmarked: &[u8]) -> Self {
        let digest = Sha1::digest(unmarked);
        let checksum: String = digest.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
        Self { goal, checksum }
    }

    /// Reads a comment; `None` if it is no mark.
    pub fn parse(comment: &str) -> Option<Self> {
        let (name, checksum) = comment.split_once('~')?;
        let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if checksum.len() != DIGITS || !checksum.chars().all(hexadecimal) {
            return None;
        }
        let goal = match name {
            "lossless" => Goal::Lossless,
            "low" => Goal::Smart(Preset::Low),
            "medium" => Goal::Smart(Preset::Medium),
            "high" => Goal::Smart(Preset::High),
            "ultra" => Goal::Smart(Preset::Ultra),
            _ => Goal::Quality(name.strip_prefix('q')?.parse().ok().filter(|q| (1..=100).contains(q))?),
        };
        Some(Self { goal, checksum: checksum.to_owned() })
    }

    /// Whether this mark is that of `unmarked` bytes optimised for `goal`.
    pub fn vouches_for(&self, goal: Goal, unmarked: &[u8]) -> bool {
        *self == Self::new(goal, unmarked)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.goal {
            Goal::Lossless => f.write_str("lossless")?,
            Goal::Quality(quality) => write!(f, "q{quality}")?,
            Goal::Smart(Preset::Low) => f.write_str("low")?,
            Goal::Smart(Preset::Medium) => f.write_str("medium")?,
            Goal::Smart(Preset::High) => f.write_str("high")?,
            Goal::Smart(Preset::Ultra) => f.write_str("ultra")?,
        }
        write!(f, "~{}", self.checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_goal_has_a_mark_of_at_most_16_bytes_that_reads_back() {
        let presets = [Preset::Low, Preset::Medium, Preset::High, Preset::Ultra];
        let goals = presets.map(Goal::Smart).into_iter().chain([Goal::Lossless, Goal::Quality(1), Goal::Quality(100)]);
        for goal in goals {
            let text = Mark::new(goal, b"file").to_string();
            assert!(text.len() <= 16, "{text}");
            assert!(Mark::parse(&text).unwrap().vouches_for(goal, b"file"), "{text}");
        }
    }

    #[test]
    fn a_mark_does_not_vouch_for_edited_bytes_or_another_goal() {
        let mark = Mark::new(Goal::Lossless, b"file");
        assert!(!mark.vouches_for(Goal::Lossless, b"edited"));
        assert!(!mark.vouches_for(Goal::Quality(80), b"file"));
    }

    #[test]
    fn other_comments_are_no_marks() {
        for comment in
            ["", "medium", "medium~", "medium~1f09a", "medium~1F09AB", "q0~000000", "q101~000000", "x~000000"]
        {
            assert_eq!(Mark::parse(comment), None, "{comment}");
        }
    }
}
