//! The rules for creating, changing and deleting the labels of categories.

use super::{
    Category, ChangeType, Decision, Label, Preconditions, PresentState, Refusal,
    shared_rules::{require_preconditions, require_subject},
};
use crate::text::comparison_key;

/// Decides how the label of a category is created or changed.
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
    require_preconditions(preconditions, before)?;
    if let Some(category) = before
        && category.label == *label
    {
        return Ok(Decision::without_change(category));
    }
    check_label(label, before, present.namesake.as_ref())?;

    let version = before.map_or(1, |category| category.version + 1);
    let after = Category {
        id,
        label: label.clone(),
        version,
    };
    Ok(Decision::new(ChangeType::CategoryChanged, before, after))
}

/// Refuses a label that another category, the `namesake`, already has, regardless of upper and
/// lower case.
///
/// Earlier releases allowed such duplicates. A duplicate may therefore keep its label, or change
/// only its case.
fn check_label(
    label: &Label,
    before: Option<&Category>,
    namesake: Option<&Category>,
) -> Result<(), Refusal> {
    let Some(namesake) = namesake else {
        return Ok(());
    };
    let label_key = comparison_key(label.as_str());
    let changes_at_most_case =
        before.is_some_and(|category| comparison_key(category.label.as_str()) == label_key);
    if changes_at_most_case {
        return Ok(());
    }
    Err(Refusal::DuplicateLabel(Box::new(namesake.clone())))
}

/// Decides how the label of a category is deleted.
pub(super) fn delete_category(
    preconditions: &Preconditions,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let category = require_subject(present.category.as_ref(), "No category has this id.")?;
    require_preconditions(preconditions, Some(category))?;
    Ok(Decision::deletion(ChangeType::CategoryDeleted, category))
}
