//! What key frames leave behind: what ends and stays as it ends is drawn like that, as it is seen from then on.

use std::{cell::Cell, collections::BTreeMap};

use super::{declarations, rule, rules, split, written};

/// Bytes of all that is left, wherever it is.
const LEFT_BYTES: usize = 1 << 20;

/// The last of the key frames of each name, as declarations.
pub(super) struct Ends {
    last: BTreeMap<String, String>,
    room: Cell<usize>,
}

impl Default for Ends {
    fn default() -> Self {
        Self { last: BTreeMap::new(), room: Cell::new(LEFT_BYTES) }
    }
}

impl Ends {
    /// Takes the key frames of a sheet in.
    pub(super) fn read(&mut self, sheet: &str) {
        for (head, frames) in rules(sheet, true) {
            let Some((keyword, name)) = head.split_once(|c: char| c.is_ascii_whitespace()) else { continue };
            if keyword.starts_with('@') && keyword.to_ascii_lowercase().ends_with("keyframes") {
                let is_last = |selectors: &str| split(selectors, ',').iter().any(|one| matches!(*one, "to" | "100%"));
                let last = rules(frames, false).into_iter().filter(|(selectors, _)| is_last(selectors));
                let last: Vec<_> = last.flat_map(|(_, block)| declarations(block)).collect();
                self.last.insert(name.trim().trim_matches(['"', '\'']).to_owned(), written(&last));
            }
        }
    }

    /// A sheet, in which blocks say what their animations leave.
    pub(super) fn in_sheet(&self, sheet: String) -> String {
        if self.last.is_empty() {
            return sheet;
        }
        rules(&sheet, true).into_iter().map(|(head, body)| rule(head, &self.in_block(head, body))).collect()
    }

    fn in_block(&self, head: &str, body: &str) -> String {
        if head.starts_with('@') { body.to_owned() } else { self.in_declarations(body) }
    }

    /// Declarations, with what their animations leave behind them.
    pub(super) fn in_declarations(&self, block: &str) -> String {
        if self.last.is_empty() || !block.contains("animation") {
            return block.to_owned();
        }
        let mut animation = Animation::default();
        for declaration in declarations(block) {
            let name = declaration.name.strip_prefix("-webkit-").unwrap_or(&declaration.name);
            let value = declaration.value;
            match name {
                "animation" => animation = Animation { words: value, ..Animation::default() },
                "animation-name" => animation.name = Some(value),
                "animation-fill-mode" => animation.fill = Some(value),
                "animation-iteration-count" => animation.count = Some(value),
                "animation-direction" => animation.direction = Some(value),
                _ => {}
            }
        }
        let mut with_ends = block.to_owned();
        for left in animation.names().into_iter().filter_map(|name| self.last.get(name)) {
            let Some(room) = self.room.get().checked_sub(left.len()) else { break };
            self.room.set(room);
            with_ends.extend([";", left]);
        }
        with_ends
    }
}

/// The animations of a block: the shorthand, and what longhands say behind it.
#[derive(Default)]
struct Animation {
    words: String,
    name: Option<String>,
    fill: Option<String>,
    count: Option<String>,
    direction: Option<String>,
}

impl Animation {
    /// The names of those that stay as their last key frame says, and words that name none.
    fn names(&self) -> Vec<&str> {
        // What is said behind the shorthand is said of all its animations.
        let behind = [&self.fill, &self.count, &self.direction].map(|word| word.as_deref().unwrap_or_default());
        let behind = behind.join(" ").replace(',', " ");
        let (words, mut names) = (split(&self.words, ','), Vec::new());
        for (at, name) in split(self.name.as_ref().unwrap_or(&self.words), ',').into_iter().enumerate() {
            let said = format!("{} {behind}", words.get(at).unwrap_or(&""));
            let says = |any: &[&str]| said.split_ascii_whitespace().any(|word| any.contains(&word));
            if says(&["forwards", "both"]) && !says(&["infinite", "reverse", "alternate", "alternate-reverse"]) {
                names.extend(name.split_ascii_whitespace());
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_as_it_ends_is_said_behind_what_it_begins_with() {
        let mut ends = Ends::default();
        ends.read(
            "@keyframes in{from{opacity:0}to{opacity:1}}@-webkit-keyframes \"on\"{0%,100%{fill:red}50%{fill:lime}}",
        );
        let left = |block: &str| ends.in_declarations(block)[block.len()..].to_owned();
        for block in [
            "animation:in .3s ease-in-out forwards",
            "animation:1s both in",
            "-webkit-animation:in 1s forwards",
            "animation-name:in;animation-fill-mode:forwards",
            "animation:in 1s;animation-fill-mode:both",
            "animation:other 1s infinite, in 1s forwards",
        ] {
            assert_eq!(left(block), ";opacity:1", "{block}");
        }
        assert_eq!(left("animation:in 1s both,on 1s both"), ";opacity:1;fill:red");
        for block in [
            "opacity:0",
            "animation:in 1s",
            "animation:in 1s forwards infinite",
            "animation:in 1s forwards alternate 2",
            "animation:out 1s forwards",
            "animation:in 1s forwards;animation:none",
            "animation:in 1s forwards;animation-direction:reverse",
            "animation:in 1s,on 1s",
        ] {
            assert_eq!(left(block), "", "{block}");
        }
        let sheet = ".a{opacity:0;animation:in 1s forwards}@media x{.a{animation:in 1s both}}";
        let stays = ".a{opacity:0;animation:in 1s forwards;opacity:1}@media x{.a{animation:in 1s both}}";
        assert_eq!(ends.in_sheet(sheet.to_owned()), stays);
    }

    #[test]
    fn what_is_left_at_many_places_has_a_bound() {
        let mut ends = Ends::default();
        ends.read(&format!("@keyframes long{{to{{d:{}}}}}", "a".repeat(LEFT_BYTES / 2)));
        let block = "animation:long 1s both";
        assert!((0..1000).all(|n| (ends.in_declarations(block) == block) == (n > 0)), "there is room for one");
    }
}
