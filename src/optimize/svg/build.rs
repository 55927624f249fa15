//! From a parsed document to a [`Tree`], without what no viewer shows: comments, processing instructions, editors' own
//! elements and attributes.

use roxmltree::Node;

use super::tree::{Content, Element, Id, Tree};

/// The namespaces that are kept.
const SVG: &str = "http://www.w3.org/2000/svg";
const XHTML: &str = "http://www.w3.org/1999/xhtml";
const XLINK: &str = "http://www.w3.org/1999/xlink";
const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// One that is left out although browsers show its elements, and run what they say.
const MATHML: &str = "http://www.w3.org/1998/Math/MathML";

/// Elements of SVG in which text is content; elsewhere white space between elements is nothing.
const TEXTUAL: [&str; 9] = ["text", "tspan", "textPath", "tref", "title", "desc", "style", "a", "foreignObject"];

/// The tree of `document`, whose root is `svg`. Nodes are visited without recursion.
pub(super) fn build(document: &roxmltree::Document<'_>) -> Tree {
    let root = document.root_element();
    let mut tree = Tree::new(element(root));
    let mut open = vec![(root, tree.root())];
    while let Some((node, id)) = open.pop() {
        for child in node.children() {
            if child.is_element() {
                if is_kept(child) {
                    let id = tree.append(id, Content::Element(element(child)));
                    open.push((child, id));
                }
            } else if let Some(text) = child.text().filter(|_| child.is_text()) {
                // A comment between two texts is none to their element.
                let last = tree.children(id).last().copied();
                if let Some(before) = last.and_then(|last| tree.text_mut(last)) {
                    before.push_str(text);
                } else if is_content(&tree, id, text) {
                    tree.append(id, Content::Text(text.to_owned()));
                }
            }
        }
    }
    tree
}

/// Whether an element comes into the tree; with one that does not, all below it stays out.
fn is_kept(node: Node<'_, '_>) -> bool {
    matches!(node.tag_name().namespace(), Some(SVG | XHTML))
}

/// Whether a document has what its tree lacks, although browsers show it.
pub(super) fn has_formulas(document: &roxmltree::Document<'_>) -> bool {
    document.descendants().any(|node| node.tag_name().namespace() == Some(MATHML))
}

/// Whether a tree has all of its document that acts or leads elsewhere: sanitising sees nothing else.
pub(super) fn keeps_all_that_leads(document: &roxmltree::Document<'_>) -> bool {
    let unseen = |node: Node<'_, '_>| node.is_pi() || acts_unseen(node) || leads_unseen(node) || hides_style(node);
    !document.root().descendants().any(unseen)
}

/// The first of the elements that are left out with one of a namespace nobody knows.
fn acts_unseen(node: Node<'_, '_>) -> bool {
    is_kept(node) && node.parent_element().is_some_and(|parent| !is_kept(parent))
}

/// An address that is left out: the base of others, or one that viewers of SVG 1.1 follow instead of the one without a
/// prefix.
fn leads_unseen(node: Node<'_, '_>) -> bool {
    let linked = node.has_attribute((XLINK, "href")) && node.has_attribute("href");
    linked || node.attributes().any(|attribute| attribute.name() == "base")
}

/// A style with what looks like a comment, and may stand in a string instead, or a sheet in pieces, which are one to
/// browsers.
fn hides_style(node: Node<'_, '_>) -> bool {
    let sheet = node.is_element() && node.tag_name().name() == "style";
    let text = node.text().filter(|_| sheet);
    let commented = |css: &str| css.contains("/*") || css.contains("<!--");
    sheet && node.children().count() > 1 || [text, node.attribute("style")].into_iter().flatten().any(commented)
}

fn is_content(tree: &Tree, parent: Id, text: &str) -> bool {
    let html = tree.element(parent).is_some_and(|element| element.html);
    let blank = text.bytes().all(|c| c.is_ascii_whitespace());
    if tree.is(parent, &["title", "desc", "style"]) {
        return !blank;
    }
    html || tree.is(parent, &TEXTUAL) && (!blank || tree.within(parent, &["text"]))
}

fn element(node: Node<'_, '_>) -> Element {
    let plain = node.attributes().any(|attribute| attribute.namespace().is_none() && attribute.name() == "href");
    let mut element = Element::new(node.tag_name().name());
    // A sheet is one to browsers in both.
    element.html = node.tag_name().namespace() == Some(XHTML) && element.name != "style";
    for attribute in node.attributes() {
        match attribute.namespace() {
            None => element.set(attribute.name(), attribute.value()),
            // Without a prefix it is SVG 2, which every browser since 2019 reads; it wins where both stand.
            Some(XLINK) if attribute.name() == "href" && !plain => {
                element.set("href", attribute.value());
            }
            Some(XML) if matches!(attribute.name(), "space" | "lang") => {
                element.set(&format!("xml:{}", attribute.name()), attribute.value());
            }
            Some(_) => {}
        }
    }
    element
}
