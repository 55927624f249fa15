use super::{
    super::{
        Settings,
        css::{self, Cascade, Declaration, Sheet, sheets},
        names::{ANIMATIONS, property},
        style::{textual, used},
        tree::{Content, Id, Tree},
    },
    classes,
};
use crate::{control::Run, error::Result};

pub(super) const BEFORE: &str = "<svg><style>.a{fill:red}#b{stroke:blue}</style><path class=\"a\" fill=\"green\" \
    style=\"-inkscape-x:1;stroke-width:2;mix-blend-mode:screen\"/><path id=\"b\" class=\"a\" style=\"fill:lime\"/></svg>";
pub(super) const AFTER: &str = "<svg><path fill=\"red\" stroke-width=\"2\" style=\"mix-blend-mode:screen\"/>\
    <path id=\"b\" stroke=\"blue\" fill=\"lime\"/></svg>";

/// Tests of selectors against elements, and declarations for these, beyond which sheets stay as they are.
const MOST_TESTS: u64 = 300_000_000;
const MOST_DECLARATIONS: u64 = 10_000_000;

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    fold_sheets(tree, settings)?;
    // Who asks for ids may have classes there too.
    if !settings.keep_ids {
        classes::drop_unnamed(tree);
    }
    Ok(())
}

fn fold_sheets(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let (styles, elements) = (css::styles(tree), tree.elements());
    let text = sheets(tree, &styles).collect::<Vec<_>>().join(" ");
    let (count, deepest) = (elements.len() as u64, tree.deepest() as u64);
    let is_quick = |sheet: &Sheet<'_>| {
        sheet.tests(deepest).saturating_mul(count) <= MOST_TESTS && sheet.declarations() * count <= MOST_DECLARATIONS
    };
    let sheet = Sheet::parse(&text).filter(is_quick);
    // HTML has no attributes for what sheets say of it.
    let html = elements.iter().any(|id| tree.element(*id).is_some_and(|element| element.html));
    // What is important is above animations, which are above attributes.
    let outranks = elements.iter().any(|id| tree.is(*id, &ANIMATIONS))
        && elements.iter().any(|id| css::says(tree, *id, |css| css.contains('!')));
    let folds = !outranks && styles.iter().all(|id| !html && is_plain(tree, *id));
    let textual = textual(tree, settings.run)?;
    let Some(sheet) = sheet.filter(|_| folds) else {
        return shorten(tree, &styles, &textual);
    };
    // What has no attribute would be said again at every element.
    let stays = |declaration: &Declaration| {
        declaration.important || property(&declaration.name).is_none() && matters(declaration, true)
    };
    // All is matched before anything changes.
    let (mut cascade, mut folded) = (Cascade::new(tree, sheet, settings.run)?, Vec::new());
    let Some(held) = cascade.settle(stays) else {
        return shorten(tree, &styles, &textual);
    };
    for id in elements {
        settings.run.check()?;
        let html = tree.element(id).is_none_or(|element| element.html);
        if !html && !tree.is(id, &["style"]) && !tree.is(id, &ANIMATIONS) && !held[id.index()] {
            folded.push((id, cascade.of(id)));
        }
    }
    if differs_in_copies(tree, &cascade, &folded, settings.run)? {
        return shorten(tree, &styles, &textual);
    }
    let left = compact(&cascade.left(), false);
    for (id, declarations) in folded {
        fold(tree, id, declarations, textual[id.index()]);
    }
    let held = tree.elements().into_iter().filter(|id| held[id.index()]).collect::<Vec<_>>();
    held.into_iter().for_each(|id| tidy(tree, id, &textual));
    let kept = styles.first().filter(|_| !left.is_empty());
    tree.remove_all(&styles[usize::from(kept.is_some())..]);
    if let Some(style) = kept {
        let texts = tree.children(*style).to_vec();
        tree.remove_all(&texts);
        tree.append(*style, Content::Text(left));
        tree.unset(*style, "media");
    }
    Ok(())
}

/// Whether an element is styled otherwise where a `use` shows it, by what stands around it.
fn differs_in_copies(
    tree: &Tree,
    cascade: &Cascade<'_>,
    styled: &[(Id, Vec<Declaration>)],
    run: Run<'_>,
) -> Result<bool> {
    let used = used(tree);
    for (id, declarations) in styled {
        for root in tree.upwards(*id).filter(|id| used[id.index()]) {
            run.check()?;
            if cascade.of_copy(*id, root) != *declarations {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a sheet holds on every medium.
fn is_plain(tree: &Tree, id: Id) -> bool {
    css::is_css(tree, id) && tree.get(id, "media").is_none_or(|media| matches!(media, "" | "all" | "screen"))
}

fn fold(tree: &mut Tree, id: Id, declarations: Vec<Declaration>, textual: bool) {
    tree.unset(id, "style");
    // A shorthand sets what stands in longhand too, so their order counts and all of it stays together.
    let shorthand = declarations.iter().any(|declaration| matches!(declaration.name.as_str(), "font" | "all"));
    let mut kept = Vec::new();
    for declaration in declarations {
        let Declaration { name, value, .. } = &declaration;
        if name == "marker" && !shorthand {
            for name in ["marker-start", "marker-mid", "marker-end"] {
                tree.set(id, name, value.as_str());
            }
        } else if property(name).is_some() && !shorthand && name != "transform-origin" && is_plain_value(&declaration) {
            tree.set(id, name, value.as_str());
        } else if matters(&declaration, textual) {
            kept.push(declaration);
        }
    }
    if !kept.is_empty() {
        tree.set(id, "style", css::written(&kept));
    }
}

/// Whether a value means the same in an attribute. A length may lack a unit there, and says nothing without one in a style; what
/// not all viewers know as a colour falls back to the attribute in some.
fn is_plain_value(declaration: &Declaration) -> bool {
    match declaration.name.as_str() {
        "font-size" | "letter-spacing" | "word-spacing" | "baseline-shift" => {
            declaration.value.parse().map_or(true, |number: f64| number == 0.0)
        }
        _ => !css::falls_back(declaration),
    }
}

/// Whether a declaration that has no attribute changes what is seen.
fn matters(declaration: &Declaration, textual: bool) -> bool {
    const TEXT_ONLY: [&str; 14] = [
        "font",
        "line-height",
        "text-",
        "white-space",
        "word-",
        "letter-",
        "baseline",
        "font-",
        "tab-size",
        "hyphens",
        "inline-size",
        "shape-inside",
        "shape-padding",
        "overflow-wrap",
    ];
    let (name, value) = (declaration.name.as_str(), declaration.value.as_str());
    let idle = matches!((name, value), ("mix-blend-mode", "normal") | ("isolation", "auto") | ("marker", "none"));
    let editor = ["-inkscape", "-sodipodi", "mso-", "block-progression", "solid-", "enable-background"];
    !idle
        && !editor.iter().any(|prefix| name.starts_with(prefix))
        && (textual || !TEXT_ONLY.iter().any(|prefix| name.starts_with(prefix)))
}

/// Takes out of the `style` of an element what says nothing.
fn tidy(tree: &mut Tree, id: Id, textual: &[bool]) {
    let element = tree.element(id).filter(|element| !element.html);
    let Some(style) = element.and_then(|element| element.get("style")) else { return };
    let mut declarations = css::declarations(&css::stripped(style));
    declarations
        .retain(|declaration| property(&declaration.name).is_some() || matters(declaration, textual[id.index()]));
    match declarations.is_empty() {
        true => tree.unset(id, "style").map_or((), drop),
        false => tree.set(id, "style", css::written(&declarations)),
    }
}

/// Where sheets depend on the viewer they stay, as do the attributes below them; only what says nothing goes.
fn shorten(tree: &mut Tree, styles: &[Id], textual: &[bool]) -> Result<()> {
    tree.elements().into_iter().for_each(|id| tidy(tree, id, textual));
    for child in styles.iter().flat_map(|id| tree.children(*id).to_vec()).collect::<Vec<_>>() {
        if let Some(text) = tree.text_mut(child) {
            *text = compact(&css::stripped(text), false);
        }
    }
    Ok(())
}

/// A sheet without white space that says nothing.
fn compact(sheet: &str, nested: bool) -> String {
    let mut text = String::new();
    for (head, body) in css::rules(sheet, nested) {
        let written = |block: &str| css::written(&css::declarations(block));
        // A declaration beside nested rules.
        if body.is_empty() && !head.starts_with('@') {
            text.push_str(&format!("{};", written(head)));
            continue;
        }
        let head = head.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let inner = if body.contains('{') { compact(body, nested || !head.starts_with('@')) } else { written(body) };
        if head.starts_with('@') || !inner.is_empty() {
            text.push_str(&css::rule(&head, &inner));
        }
    }
    text
}
