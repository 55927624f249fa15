//! A document that can be changed.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, OnceLock},
};

use super::css::Changes;

/// A node's place in its [`Tree`]; stays valid when other nodes move or go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(usize);

/// Elements and texts; comments and processing instructions are not kept. The root is an `svg` element.
#[derive(Clone)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Found when it is first asked for, and again once a sheet came, went or may have changed.
    changes: OnceLock<Arc<Changes>>,
}

#[derive(Debug, Clone)]
struct Node {
    parent: Option<Id>,
    children: Vec<Id>,
    content: Content,
}

/// What a node is.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Element(Element),
    Text(String),
}

/// An element and its attributes, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Element {
    /// The local name.
    pub name: String,
    /// In the namespace of XHTML instead of SVG.
    pub html: bool,
    /// `href` may stand for `xlink:href`; only `xml:space` and `xml:lang` have a prefix.
    pub attributes: Vec<Attribute>,
}

/// A name and a value without escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attribute {
    pub name: String,
    pub value: String,
}

impl Element {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.value.as_str())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets an attribute, at its old place if there is one.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        match self.attributes.iter_mut().find(|attribute| attribute.name == name) {
            Some(attribute) => attribute.value = value,
            None => self.attributes.push(Attribute { name: name.to_owned(), value }),
        }
    }

    pub(super) fn unset(&mut self, name: &str) -> Option<String> {
        let at = self.attributes.iter().position(|attribute| attribute.name == name)?;
        Some(self.attributes.remove(at).value)
    }

    /// Whether it has something that is in its units and cuts or changes all of it: a clip, a mask or a filter.
    pub(super) fn is_cut(&self) -> bool {
        ["clip-path", "mask", "filter"].iter().any(|name| self.has(name))
    }

    /// Whether this is an SVG element of one of these names.
    pub(super) fn is(&self, names: &[&str]) -> bool {
        !self.html && names.contains(&self.name.as_str())
    }
}

impl Tree {
    pub(super) fn new(root: Element) -> Self {
        let root = Node { parent: None, children: Vec::new(), content: Content::Element(root) };
        Self { nodes: vec![root], changes: OnceLock::new() }
    }

    pub(super) const fn root(&self) -> Id {
        Id(0)
    }

    /// How many nodes there ever were; every [`Id`] is below.
    pub(super) const fn capacity(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn content(&self, id: Id) -> &Content {
        &self.nodes[id.0].content
    }

    pub(super) fn element(&self, id: Id) -> Option<&Element> {
        match self.content(id) {
            Content::Element(element) => Some(element),
            Content::Text(_) => None,
        }
    }

    pub(super) fn element_mut(&mut self, id: Id) -> Option<&mut Element> {
        match &mut self.nodes[id.0].content {
            Content::Element(element) => Some(element),
            Content::Text(_) => None,
        }
    }

    pub(super) fn text_mut(&mut self, id: Id) -> Option<&mut String> {
        self.forget_changes(&[id]);
        match &mut self.nodes[id.0].content {
            Content::Element(_) => None,
            Content::Text(text) => Some(text),
        }
    }

    /// What the document's sheets may change of it.
    pub(super) fn changes(&self) -> &Changes {
        self.changes.get_or_init(|| Arc::new(Changes::of(self)))
    }

    /// Has the changes found again if sheets are among these nodes and what is below them, or they are in one.
    fn forget_changes(&mut self, nodes: &[Id]) {
        let is_sheet = |id: Id| self.is(id, &["style"]);
        let of_sheet =
            |id: &Id| self.parent(*id).is_some_and(is_sheet) || self.descendants(*id).into_iter().any(is_sheet);
        if self.changes.get().is_some() && nodes.iter().any(of_sheet) {
            self.changes.take();
        }
    }

    /// The name of an SVG element; empty for everything else.
    pub(super) fn name(&self, id: Id) -> &str {
        self.element(id).filter(|element| !element.html).map_or("", |element| &element.name)
    }

    pub(super) fn is(&self, id: Id, names: &[&str]) -> bool {
        self.element(id).is_some_and(|element| element.is(names))
    }

    pub(super) fn get(&self, id: Id, name: &str) -> Option<&str> {
        self.element(id)?.get(name)
    }

    pub(super) fn set(&mut self, id: Id, name: &str, value: impl Into<String>) {
        if let Some(element) = self.element_mut(id) {
            element.set(name, value);
        }
    }

    pub(super) fn unset(&mut self, id: Id, name: &str) -> Option<String> {
        self.element_mut(id)?.unset(name)
    }

    pub(super) fn parent(&self, id: Id) -> Option<Id> {
        self.nodes[id.0].parent
    }

    pub(super) fn children(&self, id: Id) -> &[Id] {
        &self.nodes[id.0].children
    }

    /// Whether one of the elements from `id` upwards, itself included, has one of these names.
    pub(super) fn within(&self, id: Id, names: &[&str]) -> bool {
        self.upwards(id).any(|id| self.is(id, names))
    }

    /// From `id` to the root.
    pub(super) fn upwards(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// `id` and all below it, parents before their children, in document order.
    pub(super) fn descendants(&self, id: Id) -> Vec<Id> {
        let (mut found, mut open) = (Vec::new(), vec![id]);
        while let Some(id) = open.pop() {
            found.push(id);
            open.extend(self.children(id).iter().rev());
        }
        found
    }

    /// How many elements are within one another at most, the root among them.
    pub(super) fn deepest(&self) -> usize {
        let (mut deepest, mut open) = (0, vec![(self.root(), 1)]);
        while let Some((id, depth)) = open.pop() {
            deepest = deepest.max(depth);
            open.extend(self.children(id).iter().map(|child| (*child, depth + 1)));
        }
        deepest
    }

    /// All elements, in document order.
    pub(super) fn elements(&self) -> Vec<Id> {
        let mut found = self.descendants(self.root());
        found.retain(|id| self.element(*id).is_some());
        found
    }

    /// Adds a node as the last child of `parent`.
    pub(super) fn append(&mut self, parent: Id, content: Content) -> Id {
        let id = Id(self.nodes.len());
        self.nodes.push(Node { parent: Some(parent), children: Vec::new(), content });
        self.nodes[parent.0].children.push(id);
        self.forget_changes(&[id]);
        id
    }

    /// Takes `id` and all below it out of the document.
    pub(super) fn remove(&mut self, id: Id) {
        self.remove_all(&[id]);
    }

    /// Takes nodes and all below them out of the document, in the time that it takes to look once at all who stand beside one
    /// of them.
    pub(super) fn remove_all(&mut self, gone: &[Id]) {
        self.forget_changes(gone);
        let parents: BTreeSet<Id> = gone.iter().filter_map(|id| self.nodes[id.0].parent.take()).collect();
        for parent in parents {
            let mut children = std::mem::take(&mut self.nodes[parent.0].children);
            children.retain(|child| self.parent(*child) == Some(parent));
            self.nodes[parent.0].children = children;
        }
    }

    /// Puts the children of `id` in its place.
    pub(super) fn dissolve(&mut self, id: Id) {
        let Some(parent) = self.nodes[id.0].parent.take() else { return };
        let children = std::mem::take(&mut self.nodes[id.0].children);
        for child in &children {
            self.nodes[child.0].parent = Some(parent);
        }
        let siblings = &mut self.nodes[parent.0].children;
        if let Some(at) = siblings.iter().position(|child| *child == id) {
            siblings.splice(at..=at, children);
        }
    }

    /// Puts a new element around the children `first..=last` of `parent`, which are counted.
    pub(super) fn wrap(&mut self, parent: Id, first: usize, last: usize, element: Element) -> Id {
        let id = Id(self.nodes.len());
        let children: Vec<Id> = self.nodes[parent.0].children.splice(first..=last, [id]).collect();
        for child in &children {
            self.nodes[child.0].parent = Some(id);
        }
        self.nodes.push(Node { parent: Some(parent), children, content: Content::Element(element) });
        id
    }

    /// Moves `id` to the end of `parent`'s children, or in front of all of them.
    pub(super) fn adopt(&mut self, parent: Id, id: Id, first: bool) {
        self.remove(id);
        self.nodes[id.0].parent = Some(parent);
        let siblings = &mut self.nodes[parent.0].children;
        siblings.insert(if first { 0 } else { siblings.len() }, id);
    }

    /// Moves all children of `from` behind those of `to`.
    pub(super) fn pour(&mut self, from: Id, to: Id) {
        let children = std::mem::take(&mut self.nodes[from.0].children);
        for child in &children {
            self.nodes[child.0].parent = Some(to);
        }
        self.nodes[to.0].children.extend(children);
    }

    /// Takes out all nodes that `keep` refuses, with all below them.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Self, Id) -> bool) {
        let mut open = vec![self.root()];
        while let Some(id) = open.pop() {
            let (kept, gone): (Vec<Id>, Vec<Id>) = self.children(id).iter().partition(|child| keep(self, **child));
            self.forget_changes(&gone);
            gone.iter().for_each(|gone| self.nodes[gone.0].parent = None);
            open.extend(&kept);
            self.nodes[id.0].children = kept;
        }
    }
}

impl Id {
    pub(super) const fn index(self) -> usize {
        self.0
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree").field("nodes", &self.nodes.len()).finish()
    }
}
