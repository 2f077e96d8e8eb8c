//! Editing an animal. If somebody else has changed it meanwhile, both versions are shown.

use petstore_domain::store_area::{Category, Command, FieldSet, Resource, StorePet};

use super::{
    animal,
    animal_fields::{form_of, inputs, patch, typed_again},
    commands::NotDone,
    conflict,
    parts::missing_page,
    values,
};
use crate::{
    merge::{self, MergedForm},
    prelude::*,
};

pub(super) async fn show_form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let categories = desk.load_category_choices([pet.category_id].into()).await?;
    let fields = desk.store().fields().await?;
    let form = form_of(&pet, &categories, &fields);
    page(
        desk,
        &pet,
        &form,
        (&categories, &fields),
        &Errors::default(),
    )
    .await
}

async fn page(
    desk: &Desk<'_>,
    pet: &StorePet,
    form: &Form,
    known: (&[Category], &FieldSet),
    errors: &Errors,
) -> Result<Reply, ApiError> {
    let order = animal::holding_order(desk, pet).await?;
    let held = order.as_ref().map(|order| (pet, order));
    let path = format!("/animals/{}", pet.id.get());
    let title = [
        texts().edit,
        window_texts().colon,
        &*markup::plain_name(pet.name.as_str()),
    ]
    .concat();
    let content = html! {
        h1 { (texts().edit) (window_texts().colon) (markup::name(pet.name.as_str(), markup::SHORT)) }
        (errors.summary())
        form.card.fields method="post" action={ (path) "/edit" } data-draft {
            (desk.key("edit"))
            (merge::hidden_fields(&form_of(pet, known.0, known.1)))
            (inputs(form, known, errors, held))
            div.buttons {
                button.main { (texts().save) }
                a.button.quiet href=(path) { (texts().cancel) }
            }
        }
    };
    Ok(Page::new(title, content)
        .wrong_if(!errors.is_empty())
        .into())
}

pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let present = pet.category_id.to_string();
    let mut categories = desk
        .load_categories_by_names([form.get("category"), &present])
        .await?;
    let fields = desk.store().fields().await?;
    let sent = typed_again(form, &categories);
    values::report_deleted_fields(&fields, form, &mut errors);
    let merged = MergedForm::new(&sent, &form_of(&pet, &categories, &fields));
    let form = &merged.form;
    let patch = patch(
        form,
        (&pet, desk.visit.now, desk.currency()),
        (&categories, &fields),
        &mut errors,
    );
    if !errors.is_empty() {
        return page(desk, &pet, form, (&categories, &fields), &errors).await;
    }
    let preconditions = merged.preconditions(merged.is_conflict());
    let command = Command::PatchPet {
        id: pet.id,
        patch,
        preconditions,
    };
    match desk.execute(vec![command]).await? {
        Ok(flash) => Ok(Reply::See(
            format!("/animals/{}", pet.id.get()),
            Some(flash),
        )),
        Err(NotDone {
            changed: Some(Resource::Pet(theirs)),
            ..
        }) => {
            categories.extend(desk.load_categories([theirs.category_id].into()).await?);
            conflict::show(desk, &theirs, (&categories, &fields)).await
        }
        Err(not_done) => {
            let errors = not_done.errors(&fields);
            page(desk, &pet, form, (&categories, &fields), &errors).await
        }
    }
}
