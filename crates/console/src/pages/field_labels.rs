//! The labels of fields in the language of the store, for a store that changes it.

use petstore_domain::store_area::FieldDefinition;
use petstore_languages as languages;

use super::{fields, parts::missing_page};
use crate::{prelude::*, staff};

/// The fields whose labels nobody has changed, with those of the language of the store.
async fn changes(desk: &Desk<'_>) -> Result<Vec<FieldDefinition>, ApiError> {
    let language = desk.visit.facts.language().value;
    Ok(languages::relabelled_fields(
        &desk.store().fields().await?,
        language,
    ))
}

/// Offers to write them, if they differ.
pub(super) async fn offer(desk: &Desk<'_>) -> Result<Markup, ApiError> {
    let fields = changes(desk).await?;
    let labels = fields
        .iter()
        .map(|field| markup::readable(field.label.as_str(), SHORT));
    let labels: Vec<_> = labels.collect();
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

/// Writes all of them, or none if a field has changed meanwhile.
pub(super) async fn write(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = changes(desk).await?;
    let changed = desk.app().fields.put_all(&fields, &desk.context()).await?;
    match fields::outcome(&changed, false) {
        Ok(()) => Ok(staff::redirect_with_message(fields::FIELDS_PATH, "saved")),
        Err(why) => Ok(missing_page(why)),
    }
}
