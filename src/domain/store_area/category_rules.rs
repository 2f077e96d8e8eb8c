//! What commands about a category change.

use super::{
    Category, Change, ChangeType, Decision, Label, Preconditions, Present, Refusal, Resource,
    rules::{existing, require},
};

pub(super) fn put_category(
    id: i64,
    label: &Label,
    preconditions: &Preconditions,
    present: &Present,
) -> Result<Decision, Refusal> {
    let before = present.category.clone();
    let version = before.as_ref().map_or(1, |category| category.version + 1);
    let is_same = before.as_ref().is_some_and(|category| category.label == *label);
    let before = before.map(Resource::Category);
    if !preconditions.are_given() {
        return Err(Refusal::PreconditionRequired(
            "A category is put with If-None-Match: * to create it, or with If-Match and its ETag \
             to change it.",
        ));
    }
    require(preconditions, before.as_ref())?;
    match before {
        Some(before) if is_same => Ok(Decision::unchanged(before)),
        before => {
            let after = Resource::Category(Category { id, label: label.clone(), version });
            Ok(Decision::of(ChangeType::CategoryChanged, before, after))
        }
    }
}

pub(super) fn delete_category(
    preconditions: &Preconditions,
    present: &Present,
) -> Result<Decision, Refusal> {
    let category = existing(present.category.as_ref(), "No category has this id.")?;
    let before = Resource::Category(category.clone());
    require(preconditions, Some(&before))?;
    let change = Change { kind: ChangeType::CategoryDeleted, before: Some(before), after: None };
    Ok(Decision { changes: vec![change], releases: None, result: None })
}
