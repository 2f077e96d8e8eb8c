//! Relabels the fields of a store that changes its language: replaces their default labels with the
//! default labels of the new language.

use petstore_app::StoreFacts;
use petstore_domain::store_area::FieldDefinition;
use petstore_languages as languages;

use super::{
    fields::{self, FieldError},
    parts::missing_page,
    values::label_of,
};
use crate::{prelude::*, staff};

/// Returns the fields that still have a default label of another language, each with its new label
/// in the language of the store. A field whose label somebody has edited is not among them.
async fn find_fields_to_relabel(desk: &Desk<'_>) -> Result<Vec<FieldDefinition>, ApiError> {
    let language = desk.visit.facts.language().value;
    Ok(languages::relabelled_fields(
        &desk.store().fields().await?,
        language,
    ))
}

/// Renders a form that offers to relabel the fields, or nothing if no field needs it.
pub(super) async fn relabel_form(desk: &Desk<'_>) -> Result<Markup, ApiError> {
    let mut labels = Vec::new();
    for field in find_fields_to_relabel(desk).await? {
        labels.push(label_of(&field));
    }

    Ok(html! {
        @if !labels.is_empty() {
            form.card.fields method="post" action="/settings/labels" {
                (desk.idempotency_field("labels"))
                h2 { (texts().store_labels) }
                p { (labels.join(", ")) }
                p.hint { (texts().store_labels_hint) }
                div { button { (texts().write_labels) } }
            }
        }
    })
}

/// Relabels the fields after this request has changed the language of the store.
///
/// If somebody changes a field at the same time, no label is written. This outcome is ignored,
/// because the settings page then offers to relabel the fields.
pub(super) async fn relabel_for_new_language(desk: &Desk<'_>) -> Result<(), ApiError> {
    // The facts in `desk` still have the previous language.
    let profile = desk.store().profile().await?;
    let facts = StoreFacts::new(profile, &desk.visit.console.settings.store);
    let language = facts.language().value;
    let fields = languages::relabelled_fields(&desk.store().fields().await?, language);
    // The change of the profile has already used the idempotency key of the form. Relabelling needs
    // no key, because a repetition finds nothing left to relabel.
    let context = desk.context_of(None);
    desk.app().fields.put_all(&fields, &context).await?;
    Ok(())
}

/// Handles `POST /settings/labels`: relabels the fields in the language of the store. If somebody
/// changes a field at the same time, no label is written.
pub(super) async fn relabel(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = find_fields_to_relabel(desk).await?;
    let outcome = desk.app().fields.put_all(&fields, &desk.context()).await?;
    match fields::to_field_result(&outcome, FieldError::Outdated) {
        Ok(()) => Ok(staff::redirect_with_message(fields::FIELDS_PATH, "saved")),
        Err(error) => Ok(missing_page(error.message())),
    }
}
