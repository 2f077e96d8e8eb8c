//! Relabels the fields of a store that changes its language.

use petstore_app::StoreFacts;
use petstore_domain::store_area::FieldDefinition;
use petstore_languages as languages;

use super::{fields, parts::missing_page, values::label_of};
use crate::{prelude::*, staff};

/// Returns the fields to relabel, each with its label in the language of the store: the fields that
/// have a default label of another language, which nobody has edited.
async fn translated_fields(desk: &Desk<'_>) -> Result<Vec<FieldDefinition>, ApiError> {
    let language = desk.visit.facts.language().value;
    Ok(languages::relabelled_fields(
        &desk.store().fields().await?,
        language,
    ))
}

/// Renders a form that offers to relabel the fields, or nothing if no field needs it.
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

/// Relabels the fields after this request has changed the language of the store. If a field changes
/// at the same time, no label is written, and the settings page offers to write them.
pub(super) async fn relabel_for_new_language(desk: &Desk<'_>) -> Result<(), ApiError> {
    let profile = desk.store().profile().await?;
    let facts = StoreFacts::new(profile, &desk.visit.console.settings.store);
    let language = facts.language().value;
    let fields = languages::relabelled_fields(&desk.store().fields().await?, language);
    // The idempotency key of the form belongs to the change of the profile. Relabelling needs none,
    // because a repetition finds nothing left to relabel.
    let context = desk.context_of(None);
    desk.app().fields.put_all(&fields, &context).await?;
    Ok(())
}

/// Relabels the fields in the language of the store, or none of them if a field changes at the same
/// time.
pub(super) async fn relabel(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = translated_fields(desk).await?;
    let outcome = desk.app().fields.put_all(&fields, &desk.context()).await?;
    match fields::check_outcome(&outcome, false) {
        Ok(()) => Ok(staff::redirect_with_message(fields::FIELDS_PATH, "saved")),
        Err(error) => Ok(missing_page(error.message())),
    }
}
