//! Editing an animal. If somebody else has changed it meanwhile, both versions are shown.

use maud::html;

use super::{
    animal_fields::{as_typed, inputs},
    commands::NotDone,
    conflict,
    parts::missing,
};
use crate::{
    console::{
        desk::Desk,
        forms::{self, Errors},
        layout::Menu,
        markup,
        reply::{Page, Reply},
        texts,
        visit::Form,
    },
    domain::store_area::{Category, Command, PetPatch, Resource, StorePet},
    edge::ApiError,
};

/// The form as it is in the store.
fn form_of(pet: &StorePet, categories: &[Category]) -> Form {
    Form::with(&[
        ("name", &as_typed(pet.name.as_str())),
        ("category", &markup::category(categories, pet.category_id)),
        ("status", pet.status.as_str()),
        ("version", &pet.version.to_string()),
    ])
}

pub(super) async fn form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing(Menu::Animals, texts::NO_PET));
    };
    let categories = desk.categories_with([pet.category_id].into()).await?;
    let form = form_of(&pet, &categories);
    Ok(page(desk, &pet, &form, &categories, &Errors::default()).into())
}

fn page(
    desk: &Desk<'_>,
    pet: &StorePet,
    form: &Form,
    categories: &[Category],
    errors: &Errors,
) -> Page {
    let path = format!("/animals/{}", pet.id.get());
    let title = format!("{} {}", texts::EDIT, markup::plain_name(pet.name.as_str()));
    let content = html! {
        h1 { (texts::EDIT) " " (markup::name(pet.name.as_str(), markup::SHORT)) }
        (errors.summary())
        form.card.fields method="post" action={ (path) "/edit" } {
            (desk.key("edit"))
            input type="hidden" name="version" value=(form.get("version"));
            (inputs(form, categories, errors, pet.order_id.is_some()))
            div.buttons {
                button.main { (texts::SAVE) }
                a.button.quiet href=(path) { (texts::CANCEL) }
            }
        }
    };
    Page::new(Menu::Animals, title, content).wrong_if(!errors.is_empty())
}

pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing(Menu::Animals, texts::NO_PET));
    };
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let present = pet.category_id.to_string();
    let mut categories = desk.categories_typed([form.get("category"), &present]).await?;
    let patch = patch(form, &pet, &categories, &mut errors);
    if !errors.is_empty() {
        return Ok(page(desk, &pet, form, &categories, &errors).into());
    }
    let preconditions = desk.preconditions();
    let command = Command::PatchPet { id: pet.id, patch, preconditions };
    match desk.execute(vec![command]).await? {
        Ok(flash) => Ok(Reply::See(format!("/animals/{}", pet.id.get()), Some(flash))),
        Err(NotDone { changed: Some(Resource::Pet(theirs)), .. }) => {
            categories.extend(desk.categories_of([theirs.category_id].into()).await?);
            conflict::show(desk, &theirs, &categories).await
        }
        Err(NotDone { why, .. }) => {
            Ok(page(desk, &pet, form, &categories, &Errors::text(&why)).into())
        }
    }
}

/// What was typed, as a change. What an input cannot hold stays as it is.
fn patch(form: &Form, pet: &StorePet, categories: &[Category], errors: &mut Errors) -> PetPatch {
    let typed = form.raw("name");
    let name = if typed == as_typed(pet.name.as_str()) {
        None
    } else {
        errors.take("name", forms::name(typed))
    };
    let typed = form.get("category");
    // Also if several categories have this name.
    let present = [markup::category(categories, pet.category_id), pet.category_id.to_string()];
    let category_id = if present.iter().any(|present| present == typed) {
        None
    } else {
        errors.take("category", forms::category(typed, categories))
    };
    let status = form.get("status");
    // It is not in the form of a reserved animal.
    let status = (!status.is_empty()).then(|| errors.take("status", forms::status(status)));
    PetPatch { name, category_id, status: status.flatten() }
}
