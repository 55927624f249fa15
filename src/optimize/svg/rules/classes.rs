use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        Settings, css,
        names::{ANIMATIONS, property},
        style::{animated, is_styled},
        tree::{Attribute, Content, Element, Id, Tree},
    },
    ids::short_name,
};
use crate::error::Result;

pub(super) const BEFORE: &str = "<svg><path fill=\"#123456\" stroke=\"#654321\"/><path fill=\"#123456\" stroke=\"#654321\"/><path fill=\"#123456\" stroke=\"#654321\"/></svg>";
pub(super) const AFTER: &str = "<svg><style>.a{fill:#123456;stroke:#654321}</style><path class=\"a\"/><path class=\"a\"/><path class=\"a\"/></svg>";

/// What a sheet costs before its first rule.
const SHEET: usize = 15;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    if is_styled(tree) || !settings.sheets {
        return Ok(());
    }
    let animated = animated(tree);
    let mut looks: BTreeMap<String, Vec<_>> = BTreeMap::new();
    // Of an animation `fill` is no property.
    let stands = |id: &Id| !animated[id.index()] && !tree.is(*id, &ANIMATIONS) && *id != tree.root();
    for id in tree.elements().into_iter().filter(stands) {
        let element = tree.element(id).filter(|element| !element.html && !element.has("style"));
        let attributes =
            element.into_iter().flat_map(|element| &element.attributes).filter(|attribute| is_css(attribute));
        let mut words: Vec<String> =
            attributes.map(|attribute| format!("{}:{}", attribute.name, attribute.value)).collect();
        words.sort();
        if !words.is_empty() {
            looks.entry(words.join(";")).or_default().push(id);
        }
    }
    // An attribute has a space, an equals sign and quotes where a declaration has a colon and a semicolon.
    let saves = |look: &str, count: usize| {
        let attributes = look.len() + 3 * look.split(';').count() - look.split(';').count() + 1;
        (attributes * count).checked_sub(10 * count + look.len() + 4).filter(|saved| *saved > 0)
    };
    looks.retain(|look, ids| saves(look, ids.len()).is_some());
    let saved: usize = looks.iter().filter_map(|(look, ids)| saves(look, ids.len())).sum();
    if saved <= SHEET {
        return Ok(());
    }
    let mut order: Vec<_> = looks.into_iter().collect();
    order.sort_by_key(|(_, ids)| (usize::MAX - ids.len(), ids[0]));
    let mut sheet = String::new();
    let elements = tree.elements();
    let words = elements.iter().filter_map(|id| tree.get(*id, "class")).flat_map(str::split_ascii_whitespace);
    let taken: BTreeSet<String> = words.map(str::to_owned).collect();
    let changes = tree.changes().clone();
    let names = (0..).map(short_name).filter(|name| !taken.contains(name) && !changes.class(name));
    for (name, (look, ids)) in names.zip(&order) {
        sheet.push_str(&format!(".{name}{{{look}}}"));
        for id in ids {
            if let Some(element) = tree.element_mut(*id) {
                element.attributes.retain(|attribute| !is_css(attribute));
                let class = element.get("class").map_or_else(|| name.clone(), |others| format!("{others} {name}"));
                element.set("class", class);
            }
        }
    }
    add(tree, sheet);
    Ok(())
}

/// Adds rules, which may stand before all others.
fn add(tree: &mut Tree, mut sheet: String) {
    let plain = |id: &Id| css::is_css(tree, *id) && tree.get(*id, "media").is_none();
    let texts = css::styles(tree).into_iter().filter(plain).filter_map(|id| tree.children(id).first().copied());
    let first = texts.into_iter().next();
    if let Some(text) = first.and_then(|first| tree.text_mut(first)) {
        sheet.push_str(text);
        *text = sheet;
        return;
    }
    let style = tree.append(tree.root(), Content::Element(Element::new("style")));
    tree.append(style, Content::Text(sheet));
    tree.adopt(tree.root(), style, true);
}

/// Takes out the classes that no sheet names.
pub(super) fn drop_unnamed(tree: &mut Tree) {
    let (root, elements) = (tree.root(), tree.elements());
    let sheets: String = css::sheets(tree, &css::styles(tree)).collect();
    // Names may be spelled otherwise, or asked for in other ways.
    if ["\\", "[", "attr("].iter().any(|word| sheets.contains(word)) {
        return;
    }
    let named: BTreeSet<&str> =
        sheets.split('.').skip(1).filter_map(|behind| behind.split(|c| !css::in_name(c)).next()).collect();
    // The root's are for the page that the document is put into.
    for id in elements.into_iter().filter(|id| *id != root) {
        let Some(classes) = tree.get(id, "class") else { continue };
        let left: Vec<&str> = classes.split_ascii_whitespace().filter(|class| named.contains(class)).collect();
        let left = left.join(" ");
        match left.is_empty() {
            true => drop(tree.unset(id, "class")),
            false => tree.set(id, "class", left),
        }
    }
}

/// Whether the attribute says the same in a sheet, where lengths of text have units.
fn is_css(attribute: &Attribute) -> bool {
    let name = attribute.name.as_str();
    property(name).is_some()
        && !name.starts_with("font")
        && !name.ends_with("-spacing")
        && !name.contains("baseline")
        && name != "transform-origin"
        && !attribute.value.contains([';', '{', '}', '<'])
}
