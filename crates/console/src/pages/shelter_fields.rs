//! The fields of a shelter that a new store does not have: a new shelter gets them, and another one is offered them.

use petstore_app::StoreFacts;
use petstore_domain::{
    Limit, WriteContext,
    store_area::{FieldDefinition, PetQuery, Profile, StoreKind, missing_shelter_fields},
};
use petstore_languages::field_labels;

use super::{fields, parts::missing_page, values::label_of};
use crate::{prelude::*, staff};

/// Returns the fields that a shelter with these facts does not have, with labels in the language of the store. A shop needs none.
async fn missing_fields(
    desk: &Desk<'_>,
    facts: &StoreFacts,
) -> Result<Vec<FieldDefinition>, ApiError> {
    if facts.kind() != StoreKind::Shelter {
        return Ok(Vec::new());
    }
    let present_fields = desk.store().fields().await?;
    let labels = field_labels(facts.language().value);
    Ok(missing_shelter_fields(&present_fields, labels))
}

/// Shows the fields of the store, and offers the missing ones.
pub(super) async fn list_fields(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let offer_card = offer(desk).await?;
    fields::list(desk, &Errors::default(), &offer_card).await
}

/// Shows a form that adds the missing fields, if there are any.
pub(super) async fn offer(desk: &Desk<'_>) -> Result<Markup, ApiError> {
    let fields = missing_fields(desk, &desk.visit.facts).await?;
    let labels: Vec<String> = fields.iter().map(label_of).collect();
    Ok(html! {
        @if !labels.is_empty() {
            form.card.fields method="post" action="/settings/shelter-fields" {
                (desk.key("shelter-fields"))
                h2 { (texts().shelter_fields) }
                p { (labels.join(", ")) }
                p.hint { (texts().shelter_fields_hint) }
                div { button { (texts().add_shelter_fields) } }
            }
        }
    })
}

/// Adds all missing fields, or none if a field changes at the same time.
pub(super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = missing_fields(desk, &desk.visit.facts).await?;
    let outcome = desk.app().fields.put_all(&fields, &desk.context()).await?;
    match fields::check_outcome(&outcome, false) {
        Ok(()) => Ok(staff::redirect_with_message(fields::FIELDS_PATH, "saved")),
        Err(error) => Ok(missing_page(error.message())),
    }
}

/// Adds all missing fields to a store without animals that has just become a shelter. If this fails, the fields are
/// offered.
pub(super) async fn add_to_new_shelter(desk: &Desk<'_>, former: &Profile) -> Result<(), ApiError> {
    let facts = StoreFacts::new(
        desk.store().profile().await?,
        &desk.visit.console.settings.store,
    );
    if former.kind == Some(StoreKind::Shelter) || has_animals(desk).await? {
        return Ok(());
    }
    let fields = missing_fields(desk, &facts).await?;
    // The key of the form belongs to the change of the profile.
    let context = WriteContext {
        idempotency: None,
        ..desk.context()
    };
    if !fields.is_empty() {
        desk.app().fields.put_all(&fields, &context).await?;
    }
    Ok(())
}

/// Whether the store has or had animals.
async fn has_animals(desk: &Desk<'_>) -> Result<bool, StoreError> {
    for is_withdrawn in [false, true] {
        let query = PetQuery {
            is_withdrawn,
            limit: Limit::new(1).unwrap_or_default(),
            ..PetQuery::default()
        };
        let (pets, _) = desk.store().list_store_pets(&query).await?;
        if !pets.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
