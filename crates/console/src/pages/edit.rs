//! Editing an animal. If somebody else has changed the animal since the form was shown, the page shows both versions.

use petstore_domain::store_area::{Command, PetPatch, Resource, StorePet};

use super::{
    animal_fields::{inputs, read_patch, stored_form, with_named_category},
    commands::NotDone,
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

/// Shows the form for the animal in the path.
pub(super) async fn show_form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let categories = desk.load_category_choices([pet.category_id].into()).await?;
    let fields = desk.store().fields().await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };
    let form = stored_form(&pet, schema);
    page(desk, &pet, &form, schema, &Errors::default()).await
}

/// Returns the page with the form, with these values and errors.
async fn page(
    desk: &Desk<'_>,
    pet: &StorePet,
    form: &Form,
    schema: PetSchema<'_>,
    errors: &Errors,
) -> Result<Reply, ApiError> {
    let holding_order = pet_orders::holding_order(desk, pet).await?;
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
            (desk.key("edit"))
            (merge::hidden_fields(&stored_form(pet, schema)))
            (inputs(form, schema, errors, pet, holding_order.as_ref()))
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

/// Saves the submitted form, or shows it again with its errors.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let submitted_form = &desk.visit.form;
    let present_category = pet.category_id.to_string();
    let categories = desk
        .load_categories_by_names([submitted_form.get("category"), &present_category])
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
        &stored_form(&pet, schema),
    );
    let patch = read_patch(desk, &merged_form.form, &pet, schema, &mut errors);
    if !errors.is_empty() {
        return page(desk, &pet, &merged_form.form, schema, &errors).await;
    }

    save_patch(desk, &pet, patch, &merged_form, schema).await
}

/// Saves a change of an animal, or shows what prevents it.
///
/// If two people changed the same input, nothing is saved, and the page shows both versions.
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
        Ok(flash) => Ok(Reply::See(format!("/animals/{}", pet.id), Some(flash))),
        Err(NotDone {
            changed: Some(Resource::Pet(stored_pet)),
            ..
        }) => show_conflict(desk, &stored_pet, schema).await,
        Err(not_done) => {
            let errors = not_done.errors(schema.fields);
            page(desk, pet, &merged_form.form, schema, &errors).await
        }
    }
}

/// Shows both versions of an animal that somebody else has changed, perhaps into another category.
async fn show_conflict(
    desk: &Desk<'_>,
    stored_pet: &StorePet,
    schema: PetSchema<'_>,
) -> Result<Reply, ApiError> {
    let mut categories = schema.categories.to_vec();
    let stored_category = [stored_pet.category_id].into();
    categories.extend(desk.load_categories(stored_category).await?);
    let schema = PetSchema {
        categories: &categories,
        fields: schema.fields,
    };
    conflict::show(desk, stored_pet, schema).await
}
