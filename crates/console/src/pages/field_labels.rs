//! The labels of fields in the language of the store, for a store that changes it.

use petstore_app::StoreFacts;
use petstore_domain::store_area::FieldDefinition;
use petstore_languages as languages;

use super::{fields, parts::missing_page, values::label_of};
use crate::{prelude::*, staff};

/// Returns the fields whose labels nobody has changed, each with its label in the language of the store. Leaves out a
/// field that already has this label.
async fn translated_fields(desk: &Desk<'_>) -> Result<Vec<FieldDefinition>, ApiError> {
    let language = desk.visit.facts.language().value;
    Ok(languages::relabelled_fields(
        &desk.store().fields().await?,
        language,
    ))
}

/// Shows a form that writes the labels in the language of the store, if some labels are in another language.
pub(super) async fn offer(desk: &Desk<'_>) -> Result<Markup, ApiError> {
    let mut labels = Vec::new();
    for field in translated_fields(desk).await? {
        labels.push(label_of(&field));
    }

    Ok(html! {
        @if !labels.is_empty() {
            form.card.fields method="post" action="/settings/labels" {
                (desk.key("labels"))
                h2 { (texts().store_labels) }
                p { (labels.join(", ")) }
                p.hint { (texts().store_labels_hint) }
                div { button { (texts().write_labels) } }
            }
        }
    })
}

/// Writes all labels in the language that the store has since this request. If a field changes at the same time, no label is
/// written, and the page offers to write them.
pub(super) async fn write_in_language_of_store(desk: &Desk<'_>) -> Result<(), ApiError> {
    let profile = desk.store().profile().await?;
    let facts = StoreFacts::new(profile, &desk.visit.console.settings.store);
    let language = facts.language().value;
    let fields = languages::relabelled_fields(&desk.store().fields().await?, language);
    // The key of the form belongs to the change of the profile, and a second write finds nothing to change.
    let context = desk.context_of(None);
    desk.app().fields.put_all(&fields, &context).await?;
    Ok(())
}

/// Writes all labels in the language of the store, or no label if a field changes at the same time.
pub(super) async fn write(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = translated_fields(desk).await?;
    let outcome = desk.app().fields.put_all(&fields, &desk.context()).await?;
    match fields::check_outcome(&outcome, false) {
        Ok(()) => Ok(staff::redirect_with_message(fields::FIELDS_PATH, "saved")),
        Err(error) => Ok(missing_page(error.message())),
    }
}
