//! Editing an animal. If somebody else has changed it meanwhile, both versions are shown.

use maud::html;

use super::{
    Desk, Outcome, Page, Reply,
    animal_fields::{as_typed, category_typed, inputs},
    conflict, missing, refused,
};
use crate::{
    console::{
        forms::{self, Errors, Fields},
        layout::Menu,
        markup, texts,
    },
    domain::{
        PetId,
        store_area::{Category, Command, PetPatch, Preconditions, Refusal, Resource, StorePet},
    },
    http::ApiError,
    store::StoreError,
};

/// The fields of the form as they are in the store.
fn fields_of(pet: &StorePet, categories: &[Category]) -> Fields {
    let category = category_typed(pet.category_id, categories);
    Fields(vec![
        ("name".to_owned(), as_typed(pet.name.as_str())),
        ("category".to_owned(), category),
        ("status".to_owned(), pet.status.as_str().to_owned()),
        ("version".to_owned(), pet.version.to_string()),
    ])
}

pub(super) async fn form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = find(desk).await? else {
        return Ok(missing(Menu::Animals, texts::NO_PET));
    };
    let categories = desk.categories().await?;
    let fields = fields_of(&pet, &categories);
    Ok(page(desk, &pet, &fields, &categories, &Errors::default()).into())
}

async fn find(desk: &Desk<'_>) -> Result<Option<StorePet>, StoreError> {
    match desk.id(PetId::new) {
        Some(id) => desk.store().get_store_pet(id).await,
        None => Ok(None),
    }
}

fn page(
    desk: &Desk<'_>,
    pet: &StorePet,
    fields: &Fields,
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
            input type="hidden" name="version" value=(fields.get("version"));
            (inputs(fields, categories, errors, pet.order_id.is_some()))
            div.buttons {
                button.main { (texts::SAVE) }
                a.button.quiet href=(path) { (texts::CANCEL) }
            }
        }
    };
    Page::new(Menu::Animals, title, content).wrong_if(!errors.is_empty())
}

pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(pet) = find(desk).await? else {
        return Ok(missing(Menu::Animals, texts::NO_PET));
    };
    let categories = desk.categories().await?;
    let (form, mut errors) = (&desk.form, Errors::default());
    let version = form.integer("version").unwrap_or(0);
    let patch = patch(form, &pet, &categories, &mut errors);
    if !errors.is_empty() {
        return Ok(page(desk, &pet, form, &categories, &errors).into());
    }
    let preconditions = Preconditions::version(version);
    let command = Command::PatchPet { id: pet.id, patch, preconditions };
    let why = match desk.carry_out(vec![command]).await? {
        Outcome::Done(flash) => {
            return Ok(Reply::See(format!("/animals/{}", pet.id.get()), Some(flash)));
        }
        Outcome::Refused { refusal: Refusal::PreconditionFailed(Some(current)), .. } => {
            if let Resource::Pet(theirs) = *current {
                return conflict::show(desk, &theirs, &categories).await;
            }
            texts::STALE.to_owned()
        }
        Outcome::Refused { refusal, .. } => refused(&refusal),
        Outcome::UsedBefore => texts::ALREADY_SENT.to_owned(),
    };
    Ok(page(desk, &pet, form, &categories, &Errors::text(&why)).into())
}

/// What was typed, as a change. What an input cannot hold stays as it is.
fn patch(form: &Fields, pet: &StorePet, categories: &[Category], errors: &mut Errors) -> PetPatch {
    let typed = form.raw("name");
    let name = if typed == as_typed(pet.name.as_str()) {
        None
    } else {
        errors.take("name", forms::name(typed))
    };
    let category_id = errors.take("category", forms::category(form.get("category"), categories));
    let status = form.get("status");
    // It is not in the form of a reserved animal.
    let status = (!status.is_empty()).then(|| errors.take("status", forms::status(status)));
    PetPatch { name, category_id, status: status.flatten() }
}
