//! What sheets may change of a document that stands still otherwise.

use std::collections::BTreeSet;

use super::{Declaration, declarations, in_name, rules, sheets, split, styles};
use crate::optimize::svg::{
    style::is_relative,
    tree::{Element, Tree},
};

/// Properties that only whoever has them sees, whatever they are measured in.
const OWN: [&str; 8] = ["transform", "translate", "rotate", "scale", "offset", "animation", "transition", "--"];
/// States of elements, which hang on nothing but the viewer.
const STATES: [&str; 9] =
    ["hover", "focus", "focus-visible", "focus-within", "active", "visited", "link", "any-link", "target"];

/// What the sheets of a document may change of it, whatever is pointed at or plays, and whoever looks.
#[derive(Debug, Clone, Default)]
pub(in crate::optimize::svg) struct Changes {
    /// There is a sheet.
    any: bool,
    /// What stands in front of all blocks that are not at-rules, nested ones too.
    selectors: String,
    /// Nobody knows: selectors hang on more than names, or values on what is around.
    opaque: bool,
    /// What elements have in common that selectors ask for: of each selector's part what says the most.
    classes: BTreeSet<String>,
    ids: BTreeSet<String>,
    names: BTreeSet<String>,
    properties: BTreeSet<String>,
}

impl Changes {
    pub(in crate::optimize::svg) fn of(tree: &Tree) -> Self {
        let styles = styles(tree);
        let mut changes = Self { any: !styles.is_empty(), ..Self::default() };
        for sheet in sheets(tree, &styles) {
            changes.read(&sheet);
            changes.list(&sheet);
        }
        changes
    }

    /// What a sheet without comments may change.
    pub(super) fn of_sheet(sheet: &str) -> Self {
        let mut changes = Self::default();
        changes.read(sheet);
        changes
    }

    fn read(&mut self, sheet: &str) {
        self.any = true;
        for (head, body) in rules(sheet, false) {
            let keyword = head.split(|c: char| c.is_ascii_whitespace() || c == '(').next().unwrap_or("");
            match keyword.to_ascii_lowercase().as_str() {
                "@font-face" => {}
                "@media" | "@supports" => self.read(body),
                frames if frames.starts_with('@') && frames.ends_with("keyframes") => {
                    rules(body, false).iter().for_each(|(_, body)| self.declare(body));
                }
                other if other.starts_with('@') || body.contains('{') => self.opaque = true,
                _ => {
                    split(head, ',').iter().for_each(|selector| self.select(selector));
                    self.declare(body);
                }
            }
        }
    }

    fn list(&mut self, sheet: &str) {
        for (head, body) in rules(sheet, true) {
            if !head.starts_with('@') {
                self.selectors.extend([head, ","]);
            }
            if body.contains('{') {
                self.list(body);
            }
        }
    }

    fn select(&mut self, selector: &str) {
        for part in selector.split_ascii_whitespace() {
            if !self.ask(part) {
                self.opaque = true;
            }
        }
    }

    /// Adds what a part of a selector asks elements for; whether it is nothing but names and states.
    fn ask(&mut self, part: &str) -> bool {
        // Behind two colons stands what is painted otherwise of an element.
        let (element, _) = part.split_once("::").unwrap_or((part, ""));
        let mut states = element.split(':');
        let name = match states.next().unwrap_or("") {
            "" if element == ":root" => "svg",
            name if states.all(|state| STATES.contains(&state)) => name,
            _ => return false,
        };
        let word = |sign: char| {
            let word = name.split_once(sign)?.1;
            word.split(['.', '#']).next().filter(|word| !word.is_empty())
        };
        let (found, word) = match (word('#'), word('.')) {
            (Some(id), _) => (&mut self.ids, id),
            (None, Some(class)) => (&mut self.classes, class),
            (None, None) if name.is_empty() => return false,
            (None, None) => (&mut self.names, name),
        };
        found.insert(word.to_owned());
        name.chars().all(|c| in_name(c) || matches!(c, '.' | '#'))
    }

    fn declare(&mut self, block: &str) {
        for Declaration { name, value, .. } in declarations(block) {
            let own = OWN.iter().any(|own| name.trim_start_matches("-webkit-").starts_with(own));
            self.opaque |= name == "all" || value.contains("url(") || !own && is_relative(&name, &value, true);
            self.properties.insert(name);
        }
    }

    /// Whether there is a sheet, whatever it says.
    pub(in crate::optimize::svg) const fn are_any(&self) -> bool {
        self.any
    }

    /// All selectors, one after the other.
    pub(in crate::optimize::svg) fn selectors(&self) -> &str {
        &self.selectors
    }

    /// Whether it is not known what sheets change, so that attributes are not all there is.
    pub(in crate::optimize::svg) const fn are_unknown(&self) -> bool {
        self.opaque
    }

    /// Whether something may be changed of an element.
    pub(in crate::optimize::svg) fn reach(&self, element: &Element) -> bool {
        let moves = |style: &str| ["animation", "transition"].iter().any(|word| style.contains(word));
        let has = |name: &str, such: &dyn Fn(&str) -> bool| element.get(name).is_some_and(such);
        self.any
            && (self.names.contains(&element.name)
                || has("id", &|id| self.ids.contains(id))
                || has("class", &|classes| classes.split_ascii_whitespace().any(|class| self.classes.contains(class)))
                || has("style", &moves))
    }

    /// Whether a selector asks for elements of this kind, of which there should be none anew.
    pub(in crate::optimize::svg) fn ask_for(&self, kind: &str) -> bool {
        self.names.contains(kind)
    }

    /// Whether it may be this property, by its own name or a shorthand.
    pub(in crate::optimize::svg) fn say(&self, property: &str) -> bool {
        let shorthand = ["font", "marker"].into_iter().find(|shorthand| property.starts_with(shorthand));
        self.properties.contains(property) || shorthand.is_some_and(|shorthand| self.properties.contains(shorthand))
    }

    /// Whether a selector may name a class.
    pub(in crate::optimize::svg) fn class(&self, class: &str) -> bool {
        self.classes.contains(class)
    }

    /// Whether a selector names an id.
    pub(in crate::optimize::svg) fn name(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_a_selector_may_match_are_reached_and_no_others() {
        let mut element = Element::new("rect");
        element.set("id", "i");
        element.set("class", "a b");
        for sheet in [
            ".a:hover{fill:red}",
            "#i{fill:red}",
            "rect:focus:hover{fill:red}",
            "text.b::selection{fill:red}",
            "@media (prefers-color-scheme:dark){.c,.d .b{fill:red}}",
            "@supports (fill:red){@media print{rect{fill:red}}}",
        ] {
            assert!(Changes::of_sheet(sheet).reach(&element) && Changes::of_sheet(sheet).say("fill"), "{sheet}");
            assert!(!Changes::of_sheet(sheet).are_unknown() && !Changes::of_sheet(sheet).say("stroke"), "{sheet}");
        }
        for sheet in [".c:hover{fill:red}", "#i2{fill:red}", "svg{fill:red}", ":root{--a:b}", "rect.c{fill:red}"] {
            assert!(!Changes::of_sheet(sheet).reach(&element) && !Changes::of_sheet(sheet).are_unknown(), "{sheet}");
        }
        element.set("style", "animation:k 1s");
        let frames = Changes::of_sheet("@keyframes k{to{transform:rotate(50%)}}@font-face{src:url(data:,a)}");
        assert!(frames.reach(&element) && frames.say("transform") && !frames.are_unknown());
        assert!(!Changes::default().reach(&element));
    }

    #[test]
    fn what_hangs_on_places_attributes_or_what_is_around_is_unknown() {
        for sheet in [
            "*{fill:red}",
            ".a>.b{fill:red}",
            ".a+.b{fill:red}",
            ".a:not(.b){fill:red}",
            ".a:first-child{fill:red}",
            ":hover{fill:red}",
            "[x]{fill:red}",
            ".a[x]{fill:red}",
            ".\\61{fill:red}",
            ".a{all:unset}",
            ".a{fill:inherit}",
            ".a{stroke-width:2em}",
            ".a{fill:url(#b)}",
            "@keyframes k{to{fill:currentColor}}",
            "@layer x{.a{fill:red}}",
            "@import 'x';",
            ".a{fill:red;&:hover{fill:blue}}",
        ] {
            assert!(Changes::of_sheet(sheet).are_unknown(), "{sheet}");
        }
    }
}
