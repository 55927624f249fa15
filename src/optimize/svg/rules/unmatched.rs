use super::super::{
    Settings, css,
    tree::{Id, Tree},
};
use crate::error::Result;

pub(super) const BEFORE: &str =
    "<svg><style>.a:hover{fill:red}.b:hover,.a+g{fill:blue}@keyframes c{to{opacity:0}}</style><g class=\"a\"/></svg>";
pub(super) const AFTER: &str = "<svg><style>.a:hover{fill:red}</style><g class=\"a\"/></svg>";

pub(super) fn apply(tree: &mut Tree, settings: &Settings<'_>) -> Result<()> {
    let styles = css::styles(tree);
    // Who asks for names may give them to others. (Animations change no attribute that selectors see.)
    if settings.keep_ids || styles.iter().any(|id| !css::is_css(tree, *id)) {
        return Ok(());
    }
    let left = css::reaching(tree, &css::sheets(tree, &styles).collect::<Vec<_>>());
    let texts = styles.iter().flat_map(|id| tree.children(*id).to_vec());
    let texts: Vec<Id> = texts.filter(|id| tree.element(*id).is_none()).collect();
    for (id, left) in texts.into_iter().zip(left) {
        if let Some(text) = tree.text_mut(id) {
            *text = left;
        }
    }
    Ok(())
}
