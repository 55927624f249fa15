//! From a [`Tree`] to text, as short as XML allows.

use super::tree::{Content, Element, Id, Tree};

/// The document, with the namespace declarations it needs.
pub(super) fn write(tree: &Tree) -> String {
    written(tree, tree.root(), &[])
}

/// An element without its `id`, as a document of its own would have it but for the namespace.
pub(super) fn write_part(tree: &Tree, id: Id) -> String {
    written(tree, id, &["id"])
}

fn written(tree: &Tree, id: Id, without: &[&str]) -> String {
    enum Step {
        Open(Id),
        Close(Id),
    }
    let mut text = String::new();
    let mut steps = vec![Step::Open(id)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Close(id) => {
                if let Some(element) = tree.element(id) {
                    text.push_str("</");
                    text.push_str(&element.name);
                    text.push('>');
                }
            }
            Step::Open(id) => match tree.content(id) {
                Content::Text(content) => escape(content, None, &mut text),
                Content::Element(element) => {
                    let outer = tree.parent(id).and_then(|parent| tree.element(parent));
                    open(element, outer, without, &mut text);
                    if tree.children(id).is_empty() {
                        text.push_str("/>");
                    } else {
                        text.push('>');
                        steps.push(Step::Close(id));
                        steps.extend(tree.children(id).iter().rev().map(|child| Step::Open(*child)));
                    }
                }
            },
        }
    }
    text
}

fn open(element: &Element, outer: Option<&Element>, without: &[&str], text: &mut String) {
    text.push('<');
    text.push_str(&element.name);
    if outer.is_none_or(|outer| outer.html != element.html) {
        let namespace = if element.html { "http://www.w3.org/1999/xhtml" } else { "http://www.w3.org/2000/svg" };
        text.push_str(&format!(" xmlns=\"{namespace}\""));
    }
    for attribute in element.attributes.iter().filter(|attribute| !without.contains(&attribute.name.as_str())) {
        text.push(' ');
        text.push_str(&attribute.name);
        text.push('=');
        let quote = if attribute.value.contains('"') && !attribute.value.contains('\'') { '\'' } else { '"' };
        text.push(quote);
        escape(&attribute.value, Some(quote), text);
        text.push(quote);
    }
}

/// Escapes what XML would read otherwise; line ends and tabs only inside attributes, where they would turn to spaces.
fn escape(content: &str, quote: Option<char>, text: &mut String) {
    let mut plain = 0;
    for (at, byte) in content.bytes().enumerate() {
        if !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\n' | b'\t' | b'\r') {
            continue;
        }
        text.push_str(&content[plain..at]);
        plain = at + 1;
        match byte {
            b'&' => text.push_str("&amp;"),
            b'<' => text.push_str("&lt;"),
            b'>' if quote.is_none() && text.ends_with("]]") => text.push_str("&gt;"),
            b'"' if quote == Some('"') => text.push_str("&quot;"),
            b'\n' | b'\t' if quote.is_some() => text.push_str(&format!("&#{byte};")),
            b'\r' => text.push_str("&#13;"),
            _ => plain = at,
        }
    }
    text.push_str(&content[plain..]);
}
