//! The changes of commands about a category.

use super::{
    Category, Change, ChangeType, Decision, Label, Preconditions, PresentState, Refusal, Resource,
    rules::{existing, require},
};

pub(super) fn put_category(
    id: i64,
    label: &Label,
    preconditions: &Preconditions,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let before = present.category.as_ref();
    if !preconditions.are_given() {
        return Err(Refusal::PreconditionRequired(
            "A category is put with If-None-Match: * to create it, or with If-Match and its ETag \
             to change it.",
        ));
    }
    require(preconditions, before)?;
    if let Some(same) = before.filter(|category| category.label == *label) {
        return Ok(Decision::without_change(same));
    }
    let version = before.map_or(1, |category| category.version + 1);
    let after = Category {
        id,
        label: label.clone(),
        version,
    };
    Ok(Decision::new(ChangeType::CategoryChanged, before, after))
}

pub(super) fn delete_category(
    preconditions: &Preconditions,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let category = existing(present.category.as_ref(), "No category has this id.")?;
    require(preconditions, Some(category))?;
    let before = Some(Resource::Category(category.clone()));
    let change = Change {
        kind: ChangeType::CategoryDeleted,
        before,
        after: None,
    };
    Ok(Decision {
        changes: vec![change],
        releases: None,
        result: None,
        photo: None,
    })
}
