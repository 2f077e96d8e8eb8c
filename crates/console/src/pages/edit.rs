//! The page that edits an animal.
//!
//! A submitted form is merged with the changes that others made since the form was shown. If two
//! people changed the same input, the page about the conflict shows both versions.

use petstore_domain::store_area::{Command, PetPatch, Resource, StorePet};

use super::{
    animal_fields::{CATEGORY_INPUT, animal_inputs, form_of_pet, parse_patch, with_named_category},
    commands::CommandFailure,
    conflict,
    parts::missing_page,
    pet_orders,
    pet_schema::PetSchema,
    values,
};
use crate::{
    merge::{self, MergedForm},
    prelude::*,
};

/// Handles `GET /animals/{id}/edit`: shows the form with the stored values of the animal.
pub(super) async fn show_form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.load_pet_in_path().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let categories = desk.load_category_choices([pet.category_id].into()).await?;
    let fields = desk.store().fields().await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };
    let form = form_of_pet(&pet, schema);
    show_page(desk, &pet, &form, schema, &Errors::default()).await
}

/// Shows the page with the form. Its inputs show the values in `form` and the messages in `errors`.
async fn show_page(
    desk: &Desk<'_>,
    pet: &StorePet,
    form: &Form,
    schema: PetSchema<'_>,
    errors: &Errors,
) -> Result<Reply, ApiError> {
    let holding_order = pet_orders::load_holding_order(desk, pet).await?;
    let path = format!("/animals/{}", pet.id.get());
    let title = [
        texts().edit,
        window_texts().colon,
        &*markup::plain_name(pet.name.as_str()),
    ]
    .concat();
    let content = html! {
        h1 {
            (texts().edit) (window_texts().colon)
            (markup::name(pet.name.as_str(), SHORT_LENGTH))
        }
        (errors.summary())
        form.card.fields method="post" action={ (path) "/edit" } data-draft {
            (desk.idempotency_field("edit"))
            (merge::hidden_fields(&form_of_pet(pet, schema)))
            (animal_inputs(form, schema, errors, pet, holding_order.as_ref()))
            div.buttons {
                button.main { (texts().save) }
                a.button.quiet href=(path) { (texts().cancel) }
            }
        }
    };
    Ok(Page::new(title, content)
        .with_error_status_if(!errors.is_empty())
        .into())
}

/// Handles `POST /animals/{id}/edit`: saves the submitted form. If a value is invalid, shows the
/// form again with the errors.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.load_pet_in_path().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let submitted_form = &desk.visit.form;
    let typed_category = submitted_form.get(CATEGORY_INPUT);
    let stored_category = pet.category_id.to_string();
    let categories = desk
        .load_categories_by_names([typed_category, &stored_category])
        .await?;
    let fields = desk.store().fields().await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };

    let mut errors = Errors::default();
    values::report_deleted_fields(&fields, submitted_form, &mut errors);
    let merged_form = MergedForm::new(
        &with_named_category(submitted_form, &categories),
        &form_of_pet(&pet, schema),
    );
    let patch = parse_patch(desk, &merged_form.form, &pet, schema, &mut errors);
    if !errors.is_empty() {
        return show_page(desk, &pet, &merged_form.form, schema, &errors).await;
    }

    save_patch(desk, &pet, patch, &merged_form, schema).await
}

/// Saves a change of an animal, or shows why it cannot be saved.
///
/// If two people changed the same input, nothing is saved, and the page shows both versions. The
/// command is still sent to the store, with a precondition that always fails, because this request
/// can be the second click on a form that was already saved. For a second click, the store replays
/// the first response.
async fn save_patch(
    desk: &Desk<'_>,
    pet: &StorePet,
    patch: PetPatch,
    merged_form: &MergedForm,
    schema: PetSchema<'_>,
) -> Result<Reply, ApiError> {
    let command = Command::PatchPet {
        id: pet.id,
        patch,
        preconditions: merged_form.preconditions(merged_form.is_conflict()),
    };
    match desk.execute(vec![command]).await? {
        Ok(flash) => Ok(Reply::Redirect(format!("/animals/{}", pet.id), Some(flash))),
        Err(CommandFailure {
            changed_subject: Some(Resource::Pet(stored_pet)),
            ..
        }) => show_conflict(desk, &stored_pet, schema).await,
        Err(failure) => {
            let errors = failure.to_errors(schema.fields);
            show_page(desk, pet, &merged_form.form, schema, &errors).await
        }
    }
}

/// Shows both versions of an animal that somebody else has changed.
///
/// The other change can have moved the animal to a category that was not loaded for the form, so
/// this also loads the category of the stored version.
async fn show_conflict(
    desk: &Desk<'_>,
    stored_pet: &StorePet,
    schema: PetSchema<'_>,
) -> Result<Reply, ApiError> {
    let mut categories = schema.categories.to_vec();
    categories.extend(desk.load_category(stored_pet.category_id).await?);
    let schema = PetSchema {
        categories: &categories,
        fields: schema.fields,
    };
    conflict::show(desk, stored_pet, schema).await
}
