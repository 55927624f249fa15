//! What could act, load or lead elsewhere is taken out of every document, whatever was asked for.
//!
//! Elements pass by a list of what is known to be harmless; addresses pass if they stay inside the document or carry a
//! picture with them. After imgproxy's and DOMPurify's lists, and OWASP's on what browsers run.

mod address;
mod pictures;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{
    build,
    css::{self, Declaration},
    tree::{Content, Element, Id, Tree},
};
use crate::{codec::svg, control::Run, error::Result};
use address::Address;
use pictures::Picture;

/// Elements of SVG that draw, describe or animate; filter primitives pass by their prefix.
const SVG: [&str; 62] = [
    "a",
    "animate",
    "animateColor",
    "animateMotion",
    "animateTransform",
    "circle",
    "clipPath",
    "color-profile",
    "defs",
    "desc",
    "ellipse",
    "filter",
    "font",
    "font-face",
    "font-face-format",
    "font-face-name",
    "font-face-src",
    "foreignObject",
    "g",
    "glyph",
    "glyphRef",
    "altGlyph",
    "altGlyphDef",
    "altGlyphItem",
    "hatch",
    "hatchpath",
    "hkern",
    "image",
    "line",
    "linearGradient",
    "marker",
    "mask",
    "mesh",
    "meshgradient",
    "meshpatch",
    "meshrow",
    "missing-glyph",
    "mpath",
    "metadata",
    "path",
    "pattern",
    "polygon",
    "polyline",
    "radialGradient",
    "rect",
    "set",
    "solidcolor",
    "stop",
    "style",
    "svg",
    "switch",
    "symbol",
    "text",
    "textPath",
    "title",
    "tref",
    "tspan",
    "use",
    "view",
    "vkern",
    "cursor",
    "discard",
];

/// Elements of HTML that only show text.
const HTML: [&str; 74] = [
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
];

/// Elements that show a picture from an address.
const PICTURES: [&str; 3] = ["image", "feImage", "img"];

/// Attributes that HTML elements keep.
const HTML_ATTRIBUTES: [&str; 18] = [
    "align", "alt", "class", "color", "colspan", "dir", "face", "height", "href", "id", "lang", "rowspan", "size",
    "src", "style", "title", "valign", "width",
];

/// Attributes that load, send or run something, and those that only steer such.
const REFUSED: [&str; 18] = [
    "action",
    "background",
    "codebase",
    "contentScriptType",
    "contentStyleType",
    "data",
    "download",
    "externalResourcesRequired",
    "formaction",
    "handler",
    "manifest",
    "ping",
    "poster",
    "profile",
    "src",
    "srcdoc",
    "srcset",
    "xmlns",
];

/// Blocks of a sheet within blocks; deeper ones are taken out.
const BLOCKS: u8 = 32;

/// A document without what could act, load or lead elsewhere.
#[derive(Debug)]
pub(super) struct Cleaned {
    pub tree: Tree,
    /// What was taken out or mended, by name, each once.
    pub removed: Vec<String>,
    /// The text that it was read from has nothing of that, and may stay as it is.
    pub was_clean: bool,
}

/// Reads and cleans a document in so many others.
///
/// # Errors
/// Those of [`svg::document`], and [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn cleaned(text: &str, nesting: u8, run: Run<'_>) -> Result<Cleaned> {
    let document = svg::document(text, run)?;
    let mut tree = build::build(&document);
    run.check()?;
    let retyped = type_pictures(&mut tree, run)?;
    let mut removed = sanitise(&mut tree, nesting, run)?;
    if build::has_formulas(&document) {
        removed.push("math".to_owned());
    }
    let was_clean = removed.is_empty() && !retyped && build::keeps_all_that_leads(&document);
    Ok(Cleaned { tree, removed, was_clean })
}

fn sanitise(tree: &mut Tree, nesting: u8, run: Run<'_>) -> Result<Vec<String>> {
    let mut removed = BTreeSet::new();
    tree.retain(|tree, id| {
        let passes = tree.element(id).is_none_or(|element| passes(tree, id, element));
        if !passes {
            removed.insert(tree.element(id).map_or_else(String::new, |element| element.name.clone()));
        }
        passes
    });
    for id in tree.descendants(tree.root()) {
        clean_attributes(tree, id, &mut removed);
        clean_sheet(tree, id, &mut removed);
        clean_picture(tree, id, nesting, &mut removed, run)?;
    }
    Ok(removed.into_iter().collect())
}

/// Says of pictures of pixels what they are where their addresses say nothing (`data:;base64`, as Illustrator once wrote) or
/// another thing: browsers look at the bytes. Whether there was one.
fn type_pictures(tree: &mut Tree, run: Run<'_>) -> Result<bool> {
    let mut any = false;
    for id in tree.descendants(tree.root()) {
        run.check()?;
        for name in ["href", "src"] {
            let Some(typed) = picture(tree, id, name).and_then(pictures::typed) else { continue };
            tree.set(id, name, typed);
            any = true;
        }
    }
    Ok(any)
}

/// The address in this attribute of the picture that an element shows.
fn picture<'a>(tree: &'a Tree, id: Id, name: &str) -> Option<&'a str> {
    tree.element(id).filter(|element| PICTURES.contains(&element.name.as_str()))?.get(name)
}

/// Cleans the document that an element shows as a picture.
fn clean_picture(tree: &mut Tree, id: Id, nesting: u8, removed: &mut BTreeSet<String>, run: Run<'_>) -> Result<()> {
    run.check()?;
    for name in ["href", "src"] {
        let Some(address) = picture(tree, id, name) else { continue };
        match pictures::cleaned(address, nesting, run)? {
            Picture::Kept => {}
            Picture::Cleaned(address, from_inside) => {
                tree.set(id, name, address);
                removed.extend(from_inside);
            }
            Picture::Refused => {
                tree.unset(id, name);
                removed.insert(name.to_owned());
            }
        }
    }
    Ok(())
}

fn passes(tree: &Tree, id: Id, element: &Element) -> bool {
    let name = element.name.as_str();
    if element.html {
        return HTML.contains(&name);
    }
    if super::names::ANIMATIONS.contains(&name) {
        return animates_harmlessly(element);
    }
    if matches!(name, "image" | "use") && element.get("href").is_some_and(|href| !Address::read(href).may_load(name)) {
        return false;
    }
    let text = || tree.children(id).iter().any(|child| matches!(tree.content(*child), Content::Text(_)));
    SVG.contains(&name) || name.starts_with("fe") && name.len() > 2 && !text()
}

/// Animations could set what would not pass at rest.
fn animates_harmlessly(element: &Element) -> bool {
    let target = element.get("attributeName").unwrap_or("").trim().to_ascii_lowercase();
    let target = target.rsplit(':').next().unwrap_or("");
    let values = ["from", "to", "by", "values"].into_iter().filter_map(|name| element.get(name));
    !matches!(target, "href" | "src" | "style" | "class" | "id")
        && !target.starts_with("on")
        && values.into_iter().all(address::is_harmless_value)
}

/// What becomes of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Harmless,
    /// It stays, without what was wrong with it.
    Mended,
    Refused,
}

impl Verdict {
    const fn of(harmless: bool) -> Self {
        if harmless { Self::Harmless } else { Self::Refused }
    }
}

fn clean_attributes(tree: &mut Tree, id: Id, removed: &mut BTreeSet<String>) {
    let Some(element) = tree.element_mut(id) else { return };
    let (name, html) = (element.name.clone(), element.html);
    element.attributes.retain_mut(|attribute| {
        let verdict = match attribute.name.as_str() {
            on if on.len() > 2 && on.is_char_boundary(2) && on[..2].eq_ignore_ascii_case("on") => Verdict::Refused,
            "href" | "src" if html || attribute.name == "href" => {
                Verdict::of(Address::read(&attribute.value).may_load(&name))
            }
            "style" => clean_style(&mut attribute.value),
            other if html => Verdict::of(HTML_ATTRIBUTES.contains(&other)),
            other if REFUSED.iter().any(|refused| refused.eq_ignore_ascii_case(other)) => Verdict::Refused,
            "fill" | "stroke" if !address::is_harmless_value(&attribute.value) => {
                attribute.value = address::without_server(&attribute.value);
                Verdict::Mended
            }
            _ => Verdict::of(address::is_harmless_value(&attribute.value)),
        };
        if verdict != Verdict::Harmless {
            removed.insert(attribute.name.clone());
        }
        verdict != Verdict::Refused
    });
}

/// Keeps the declarations that stay inside.
fn clean_style(style: &mut String) -> Verdict {
    let stripped = css::stripped(style);
    let (kept, all) = kept_of(&stripped);
    *style = css::written(&kept);
    // Looked at as a whole as well, as browsers may see a declaration where there is none here.
    match all && address::is_harmless_value(&stripped) {
        true => Verdict::Harmless,
        false if kept.is_empty() => Verdict::Refused,
        false => Verdict::Mended,
    }
}

/// The declarations of a block that stay inside, some of them mended, and whether they are all that it has.
fn kept_of(block: &str) -> (Vec<Declaration>, bool) {
    let mut declared = css::declarations(block);
    let mut all = true;
    declared.retain_mut(|declaration| {
        let stays = stays_inside(declaration);
        all &= stays;
        match declaration.name.as_str() {
            _ if stays => return true,
            "fill" | "stroke" => declaration.value = address::without_server(&declaration.value),
            "src" => declaration.value = address::embedded_fonts(&declaration.value),
            _ => return false,
        }
        !declaration.value.is_empty()
    });
    (declared, all)
}

/// Of a name that is more than one, browsers may read something else.
fn stays_inside(declaration: &Declaration) -> bool {
    let named = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || matches!(c, '-' | '_');
    !matches!(declaration.name.as_str(), "behavior" | "-moz-binding" | "-ms-behavior")
        && declaration.name.chars().all(named)
        && address::is_harmless_value(&declaration.value)
}

fn clean_sheet(tree: &mut Tree, id: Id, removed: &mut BTreeSet<String>) {
    if !tree.is(id, &["style"]) {
        return;
    }
    for child in tree.children(id).to_vec() {
        let Some(text) = tree.text_mut(child) else { continue };
        let stripped = css::stripped(text);
        let mut found = BTreeSet::new();
        *text = clean_rules(&stripped, 0, false, &mut found);
        // Looked at as a whole as well, as browsers may see a rule where there is none here.
        if found.is_empty() && !address::is_harmless_value(&stripped) {
            found.insert("style".to_owned());
        }
        removed.append(&mut found);
    }
}

/// The rules of a sheet that stay inside the document, blocks within blocks included, and declarations beside those.
fn clean_rules(sheet: &str, depth: u8, nested: bool, removed: &mut BTreeSet<String>) -> String {
    let mut text = String::new();
    if depth > BLOCKS {
        removed.insert("style".to_owned());
        return text;
    }
    for (head, body) in css::rules(sheet, nested) {
        let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '(' | '"' | '\'' | ';');
        let kind = head.split(ends).next().unwrap_or("").to_ascii_lowercase();
        // Browsers may take a block behind the name of a variable for its value, and escapes hide what an at-rule is.
        let at_rule = head.starts_with(['@', '\\']);
        let harmless = address::is_harmless_value(head) && !(at_rule && head.contains('\\')) && !head.starts_with("--");
        match kind.as_str() {
            _ if body.is_empty() && !head.starts_with('@') => {
                let kept = clean_declarations(head, removed);
                if !kept.is_empty() {
                    text.push_str(&format!("{kept};"));
                }
                continue;
            }
            _ if !harmless => {}
            "@media" | "@supports" | "@layer" | "@keyframes" | "@-webkit-keyframes" | "@-moz-keyframes"
            | "@container" => {
                let inner = clean_rules(body, depth + 1, nested, removed);
                text.push_str(&format!("{head}{{{inner}}}"));
                continue;
            }
            "@font-face" | "@page" => {
                let (kept, all) = kept_of(body);
                // A font of which a source stays is one.
                if all || kind == "@font-face" && kept.iter().any(|declaration| declaration.name == "src") {
                    text.push_str(&format!("{head}{{{}}}", css::written(&kept)));
                }
                if all {
                    continue;
                }
            }
            "@charset" | "@namespace" => continue,
            at if at.starts_with('@') => {}
            _ => {
                let kept = match body.contains('{') {
                    true => clean_rules(body, depth + 1, true, removed),
                    false => clean_declarations(body, removed),
                };
                if !kept.is_empty() {
                    text.push_str(&format!("{head}{{{kept}}}"));
                }
                continue;
            }
        }
        removed.insert(if kind.starts_with('@') { kind } else { "style".to_owned() });
    }
    text
}

/// The declarations of a rule that stay inside.
fn clean_declarations(block: &str, removed: &mut BTreeSet<String>) -> String {
    let (kept, all) = kept_of(block);
    if !all {
        removed.insert("style".to_owned());
    }
    css::written(&kept)
}
