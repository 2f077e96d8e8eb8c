//! Adds the default fields of a shelter. A new shelter gets them automatically, and an existing
//! shelter that lacks some of them can add them in the settings.

use petstore_app::StoreFacts;
use petstore_domain::store_area::{
    FieldDefinition, PetQuery, Profile, StoreKind, missing_shelter_fields,
};
use petstore_languages::field_labels;

use super::{
    fields::{self, FieldError},
    parts::{constant_limit, missing_page},
    values::label_of,
};
use crate::{prelude::*, staff};

/// Returns the default fields of a shelter that the store lacks, with labels in the language of the
/// store. The list is empty if the store is not a shelter.
async fn find_missing_fields(
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

/// Handles `GET /settings/fields`: renders the page with the fields of the store, and the form that
/// adds the missing ones.
pub(super) async fn list_fields(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = load_missing_fields_form(desk).await?;
    fields::list(desk, &Errors::default(), &form).await
}

/// Renders a form that adds the missing fields, or nothing if there are none.
pub(super) async fn load_missing_fields_form(desk: &Desk<'_>) -> Result<Markup, ApiError> {
    let missing_fields = find_missing_fields(desk, &desk.visit.facts).await?;
    let labels: Vec<String> = missing_fields.iter().map(label_of).collect();
    Ok(html! {
        @if !labels.is_empty() {
            form.card.fields method="post" action="/settings/shelter-fields" {
                (desk.idempotency_field("shelter-fields"))
                h2 { (texts().shelter_fields) }
                p { (labels.join(", ")) }
                p.hint { (texts().shelter_fields_hint) }
                div { button { (texts().add_shelter_fields) } }
            }
        }
    })
}

/// Handles `POST /settings/shelter-fields`: adds all missing fields. If somebody changes a field at
/// the same time, no field is added.
pub(super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let missing_fields = find_missing_fields(desk, &desk.visit.facts).await?;
    let context = desk.context();
    let outcome = desk.app().fields.put_all(&missing_fields, &context).await?;
    match fields::to_field_result(&outcome, FieldError::Outdated) {
        Ok(()) => Ok(staff::redirect_with_message(fields::FIELDS_PATH, "saved")),
        Err(error) => Ok(missing_page(error.message())),
    }
}

/// Adds all missing fields if this request made the store a shelter, and the store has never had
/// animals.
///
/// If somebody changes a field at the same time, no field is added. This is not an error, because
/// the settings page then offers the fields.
pub(super) async fn add_to_new_shelter(
    desk: &Desk<'_>,
    previous_profile: &Profile,
) -> Result<(), ApiError> {
    // The facts in `desk` still describe the store before the change.
    let facts = StoreFacts::new(
        desk.store().profile().await?,
        &desk.visit.console.settings.store,
    );
    if previous_profile.kind == Some(StoreKind::Shelter) || has_animals(desk).await? {
        return Ok(());
    }
    let missing_fields = find_missing_fields(desk, &facts).await?;
    // The change of the profile has already used the idempotency key of the form. This change needs
    // no key, because a repetition finds no missing fields.
    let context = desk.context_of(None);
    if !missing_fields.is_empty() {
        desk.app().fields.put_all(&missing_fields, &context).await?;
    }
    Ok(())
}

/// Whether the store has any animal, withdrawn or not.
async fn has_animals(desk: &Desk<'_>) -> Result<bool, StoreError> {
    // A query finds either withdrawn animals or all others.
    for is_withdrawn in [false, true] {
        let query = PetQuery {
            is_withdrawn,
            limit: constant_limit(1),
            ..PetQuery::default()
        };
        let (pets, _) = desk.store().list_store_pets(&query).await?;
        if !pets.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
