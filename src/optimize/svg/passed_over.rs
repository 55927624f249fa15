//! What browsers pass over, since they do not understand it. It goes before anything is drawn or moved: rules would take it
//! for what a property is, and resvg understands some of it.

use super::{
    css::{Place, declarations, is_invalid, stripped, written},
    names::{ANIMATIONS, property},
    tree::Tree,
};

/// Takes out properties that are declared in vain by attributes and `style`; whether there were any.
pub(super) fn drop_passed_over(tree: &mut Tree) -> bool {
    let mut found = false;
    for id in tree.elements() {
        // Of animations and fonts these are no properties.
        if tree.is(id, &ANIMATIONS) || tree.is(id, &["font-face"]) {
            continue;
        }
        let Some(element) = tree.element_mut(id).filter(|element| !element.html) else { continue };
        let before = element.attributes.len();
        element.attributes.retain(|attribute| {
            property(&attribute.name).is_none() || !is_invalid(&attribute.name, &attribute.value, Place::Attribute)
        });
        found |= element.attributes.len() < before;
        let Some(style) = element.attributes.iter_mut().find(|attribute| attribute.name == "style") else { continue };
        let mut declared = declarations(&stripped(&style.value));
        let before = declared.len();
        declared.retain(|declaration| !is_invalid(&declaration.name, &declaration.value, Place::Style));
        if declared.len() < before {
            style.value = written(&declared);
            found = true;
        }
    }
    found
}
