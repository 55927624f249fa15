//! Animations of SVG that end and stay as they end (SMIL Animation, section 3.3), which are drawn like that. What moves along a
//! path for ever is drawn where it begins, as it is nowhere in particular without.

use std::{borrow::Cow, collections::BTreeMap};

use roxmltree::{Document, Node};

use super::{css::declarations, motion::Paths};

/// What those within the elements that they change leave of a document: elements, and an attribute of each.
pub(super) fn frozen<'a, 'input>(document: &'a Document<'input>) -> Vec<(Node<'a, 'input>, &'a str, Cow<'a, str>)> {
    let (mut found, mut styles) = (BTreeMap::new(), BTreeMap::new());
    let (mut paths, mut moved) = (Paths::default(), BTreeMap::new());
    for node in document.descendants() {
        if node.tag_name().name() == "animateMotion" {
            if let Some(element) = node.parent_element().filter(|_| begins(node) && is_of_parent(node))
                && let Some(place) = paths.place(node, stays(node))
            {
                moved.insert(element.id().get(), (element, place));
            }
            continue;
        }
        // It turns an element, or moves it, or makes it larger.
        let turns = node.tag_name().name() == "animateTransform";
        if !turns && !matches!(node.tag_name().name(), "animate" | "set") {
            continue;
        }
        let Some(element) = node.parent_element().filter(|_| stays(node)) else { continue };
        let last = |values: &'a str| values.trim_end_matches([';', ' ']).rsplit(';').next();
        let Some(value) = node.attribute("to").or_else(|| last(node.attribute("values")?)).map(str::trim) else {
            continue;
        };
        let sum = node.attribute("additive") == Some("sum");
        if turns {
            let (_, _, left) = found.entry((element.id().get(), "transform")).or_insert_with(|| transform_of(element));
            if !sum {
                *left = Cow::Borrowed("");
            }
            left.to_mut().extend([" ", node.attribute("type").unwrap_or("translate"), "(", value, ")"]);
            continue;
        }
        let Some(name) = node.attribute("attributeName").map(str::trim).filter(|name| is_plain(name)) else { continue };
        // What a style says of it is above attributes.
        let read = || declarations(element.attribute("style").unwrap_or_default());
        let style = styles.entry(element.id().get()).or_insert_with(read);
        if !sum && style.iter().all(|declaration| declaration.name != name) {
            // The last of several counts.
            found.insert((element.id().get(), name), (element, name, value.into()));
        }
    }
    for (id, (element, place)) in moved {
        let (_, _, left) = found.entry((id, "transform")).or_insert_with(|| transform_of(element));
        left.to_mut().insert_str(0, &place);
    }
    found.into_values().collect()
}

fn transform_of<'a, 'input>(element: Node<'a, 'input>) -> (Node<'a, 'input>, &'a str, Cow<'a, str>) {
    (element, "transform", Cow::Borrowed(element.attribute("transform").unwrap_or_default()))
}

/// Whether an attribute is one that is drawn by its value alone.
fn is_plain(name: &str) -> bool {
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let known = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    named && known && !matches!(name, "id" | "class" | "style" | "href" | "transform")
}

/// Whether an animation ends by itself and stays.
fn stays(node: Node<'_, '_>) -> bool {
    let has = |name: &str, value: &str| node.attribute(name).is_some_and(|found| found.trim() == value);
    // What is set for no time in particular is set for good.
    let set = node.tag_name().name() == "set" && node.attribute("dur").is_none_or(|dur| dur.trim() == "indefinite");
    let ends = !has("repeatCount", "indefinite") && !has("repeatDur", "indefinite") && !has("dur", "indefinite");
    is_of_parent(node) && begins(node) && (set || has("fill", "freeze") && ends)
}

/// Whether an animation is of the element that it is in, to values of its own, until it is over.
fn is_of_parent(node: Node<'_, '_>) -> bool {
    node.attributes().all(|attribute| !["href", "by", "end"].contains(&attribute.name()))
}

/// Whether an animation begins at some time, or with another, and not when somebody does something.
fn begins(node: Node<'_, '_>) -> bool {
    let one = |one: &str| {
        let at = one.trim().trim_start_matches('+');
        at.starts_with(|c: char| c.is_ascii_digit() || c == '.') || at.contains(".end") || at.contains(".begin")
    };
    node.attribute("begin").is_none_or(|begin| begin.split(';').any(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_by_itself_and_stays_leaves_its_last_value() {
        let left = |animation: &str| {
            let text = format!("<svg><g style='fill:red'>{animation}</g></svg>");
            let document = Document::parse(&text).unwrap();
            frozen(&document).into_iter().map(|(_, name, value)| format!("{name}={value}")).collect::<String>()
        };
        for (animation, expected) in [
            ("<animate attributeName='opacity' from='0' to='1' dur='1s' fill='freeze'/>", "opacity=1"),
            ("<animate attributeName='r' values='1; 2 ; 3;' begin='.5s' dur='1s' fill='freeze'/>", "r=3"),
            ("<animate attributeName='r' to='3' begin='a.end+1s' dur='1s' fill='freeze' repeatCount='2'/>", "r=3"),
            ("<set attributeName='display' to='inline' begin='2s'/>", "display=inline"),
            (
                "<animateTransform attributeName='transform' type='rotate' to='9 1 2' dur='1s' fill='freeze'/>",
                "transform= rotate(9 1 2)",
            ),
            ("<set attributeName='r' to='1'/><set attributeName='r' to='2'/>", "r=2"),
        ] {
            assert_eq!(left(animation), expected, "{animation}");
        }
        for animation in [
            "<animate attributeName='opacity' to='1' dur='1s'/>",
            "<animate attributeName='opacity' to='1' dur='1s' fill='freeze' repeatCount='indefinite'/>",
            "<animate attributeName='opacity' to='1' dur='1s' fill='freeze' begin='click'/>",
            "<animate attributeName='opacity' by='1' dur='1s' fill='freeze'/>",
            "<animate attributeName='fill' to='blue' dur='1s' fill='freeze'/>",
            "<set attributeName='opacity' to='1' dur='1s'/>",
            "<set attributeName='opacity' to='1' begin='g.mouseover' end='g.mouseout'/>",
            "<set attributeName='href' to='#a'/>",
            "<set attributeName='a=&quot;&quot; b' to='c'/>",
        ] {
            assert_eq!(left(animation), "", "{animation}");
        }
    }
}
