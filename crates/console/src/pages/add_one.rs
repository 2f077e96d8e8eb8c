//! The page that adds animals, and the handler of its form for one animal.

use std::collections::BTreeSet;

use petstore_domain::{
    NewPet, PetId, PetStatus,
    store_area::{
        Category, Command, FieldDefinition, FieldKind, FieldPatch, FieldSet, FieldValues, Label,
        NewPhoto, Preconditions, StorePet,
    },
};

use super::{
    animal_fields::{self, CATEGORY_INPUT, LISTED, NAME_INPUT, STATUS_INPUT},
    birth_estimate::ensure_birth_estimate_field,
    category_choice::{self, CONFIRMED_CATEGORY, NUMBER_IS_CONFIRMED, new_category_name},
    pasted_text::LINES_INPUT,
    pet_schema::PetSchema,
    photos::{self, PHOTO, PICTURES},
    typed_age::{AGE_INPUT, form_with_birth, form_with_estimate},
    value_reader::ValueReader,
    values,
    waiting_photos::load_waiting_photos,
};
use crate::{prelude::*, reply::Flash};

/// The fields in the first part of the form, next to the photos, in the order of their inputs.
/// Customers usually ask about these values.
const FIRST_SCREEN_FIELDS: [&str; 5] = ["species", "sex", "born", "price", values::MICROCHIP];

/// The animal that was parsed from a submitted form, without its photos.
struct SubmittedPet {
    pet: NewPet,
    field_patch: FieldPatch,
    /// The name of the category that is added together with the animal; `None` if the category
    /// exists.
    new_category: Option<Label>,
}

impl SubmittedPet {
    /// Returns the commands that add the animal with these photos, and its category if it is new.
    fn into_commands(self, photos: Vec<NewPhoto>) -> Vec<Command> {
        let category_id = self.pet.category_id;
        let mut commands = vec![Command::AddPet(self.pet, self.field_patch, photos)];
        if let Some(label) = self.new_category {
            commands.push(Command::PutCategory {
                id: category_id,
                label,
                preconditions: Preconditions::ABSENT,
            });
        }
        commands
    }
}

/// Handles `GET /add`: shows the forms that add animals.
///
/// The query parameter `like` is the number of an animal whose values the form copies.
pub(super) async fn show_form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let copied_pet = match desk.visit.query.integer("like").and_then(PetId::new) {
        Some(id) => desk.store().get_store_pet(id).await?,
        None => None,
    };
    let mut shown_category_ids = BTreeSet::new();
    if let Some(pet) = &copied_pet {
        shown_category_ids.insert(pet.category_id);
    }
    let categories = desk.load_category_choices(shown_category_ids).await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };

    let form = match copied_pet {
        Some(pet) => form_for_similar_pet(&pet, schema),
        None => Form::default(),
    };
    Ok(add_page(desk, &form, schema, &Errors::default()).into())
}

/// Returns the form for another animal that is similar to `pet`, such as one of the same litter.
///
/// The form has the values of `pet` except its individual ones: its name, its status, its unique
/// values and its long texts. It has no version either, because the new animal has none yet.
fn form_for_similar_pet(pet: &StorePet, schema: PetSchema<'_>) -> Form {
    let mut omitted_inputs = vec![
        NAME_INPUT.to_owned(),
        STATUS_INPUT.to_owned(),
        "version".to_owned(),
    ];
    for field in schema.fields.all() {
        if field.is_unique || field.kind == FieldKind::LongText {
            omitted_inputs.push(values::input_name_of(field));
        }
    }
    let mut inputs = animal_fields::form_of_pet(pet, schema).fields().to_vec();
    inputs.retain(|(name, _)| !omitted_inputs.contains(name));
    inputs.into_iter().collect()
}

/// Renders the page with two forms: one for a single animal, and one for many. Both show the values
/// in `form` and the messages in `errors`.
pub(super) fn add_page(
    desk: &Desk<'_>,
    form: &Form,
    schema: PetSchema<'_>,
    errors: &Errors,
) -> Page {
    let lines_input =
        Input::from_form(LINES_INPUT, texts().paste, form, errors).with_hint(texts().paste_hint);
    let content = html! {
        div.head {
            h1 { (texts().add_animals) }
            div.buttons {
                a href="#many" { (texts().add_many) }
                a href="/categories" { (texts().categories) }
            }
        }
        (errors.summary())
        div.stack {
            section.card {
                h2 { (texts().add_one) }
                (form_for_one(desk, form, schema, errors))
            }
            section.card #many {
                h2 { (texts().add_many) }
                form.fields method="post" action="/add/preview" data-draft {
                    (lines_input.make_multiline().show())
                    div { button { (texts().preview) } }
                }
            }
        }
    };
    Page::new(texts().add_animals, content).with_error_status_if(!errors.is_empty())
}

/// Renders the form for a single animal, with the values in `form`.
fn form_for_one(desk: &Desk<'_>, form: &Form, schema: PetSchema<'_>, errors: &Errors) -> Markup {
    let age_input =
        Input::from_form(AGE_INPUT, texts().or_about, form, errors).with_hint(texts().about_hint);
    let status_input = Input::from_form(STATUS_INPUT, texts().status_label, form, errors);
    let category_hint = texts().category_of_species;
    let mut omitted_fields = FIRST_SCREEN_FIELDS.to_vec();
    // The mark of an estimated birth has no input, because the server sets it if an age was typed.
    omitted_fields.push(FieldDefinition::BIRTH_ESTIMATE);
    html! {
        form.fields.halves method="post" action="/add" data-draft {
            (desk.idempotency_field("add"))
            div.fields {
                (photos::new_animal_photos(desk, form))
                div.pairs {
                    (Input::from_form(NAME_INPUT, texts().name, form, errors).show())
                    @for field in first_screen_fields(schema.fields) {
                        (values::field_input(field, form, errors))
                        @if field.is_birth() { (age_input.show()) }
                    }
                }
            }
            div.fields {
                (values::collapsible_inputs(schema.fields, &omitted_fields, form, errors))
                (animal_fields::category_input(form, schema.categories, errors, category_hint))
                (status_input.show_dropdown(&forms::status_options()))
                (animal_fields::listing_input(form, errors))
            }
            (submit_buttons(form, schema.categories, errors))
        }
    }
}

/// Returns the fields of [`FIRST_SCREEN_FIELDS`] that the store has, in the same order.
fn first_screen_fields(fields: &FieldSet) -> Vec<&FieldDefinition> {
    FIRST_SCREEN_FIELDS
        .iter()
        .filter_map(|name| fields.find(name))
        .collect()
}

/// Renders the buttons that submit the form.
///
/// If the server rejected the form because the typed category does not exist, a button confirms the
/// category. The button makes a typed name a new category with a free number. It makes the server
/// accept a typed number although the number has no name.
fn submit_buttons(form: &Form, categories: &[Category], errors: &Errors) -> Markup {
    let typed_category = form.get(CATEGORY_INPUT);
    let mut new_name = None;
    let mut is_unused_number = false;
    if errors.message_for(CATEGORY_INPUT).is_some() {
        new_name = new_category_name(typed_category, categories);
        // The lookup accepts any number, so the error can only be that the number is unused.
        is_unused_number = forms::find_category(typed_category, categories).is_ok();
    }
    html! {
        div.buttons {
            // The Enter key presses the first button, even after the member has corrected the
            // category. It then adds no category, because the value of the button is still the old
            // name.
            @if let Some(name) = new_name {
                button.main name=(CONFIRMED_CATEGORY) value=(name.as_str()) {
                    (texts().add_with_category(&markup::readable(name.as_str(), SHORT_LENGTH)))
                }
            } @else {
                button.main { (texts().add_animal) }
                @if is_unused_number {
                    button name=(CONFIRMED_CATEGORY) value=(NUMBER_IS_CONFIRMED) {
                        (texts().add_to_number)
                    }
                }
            }
        }
    }
}

/// Handles `POST /add`: adds the animal in the submitted form.
///
/// An age in the form becomes an estimated day of birth. If no category was typed, the species
/// determines it. If the form is invalid, it is shown again as the member submitted it, with the
/// errors.
pub(super) async fn add_one(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let (form, fields) = load_form_and_fields(desk, &mut errors).await?;
    let category_name = category_choice::category_name_to_look_up(&form, &fields);
    let categories = desk.load_categories_by_names([category_name]).await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };

    let submitted_pet = parse_pet(desk, &form, schema, &mut errors).await?;
    let waiting_photos = load_waiting_photos(desk).await?;
    if waiting_photos.lost_count > 0 {
        errors.add(PICTURES, texts().photos_lost(waiting_photos.lost_count));
    }
    // The page shows the age as the member typed it, and not the day of birth in `form`.
    let form_to_show = form_with_photos(&desk.visit.form, &waiting_photos.tokens);
    let commands = match submitted_pet {
        Some(submitted_pet) if errors.is_empty() => {
            submitted_pet.into_commands(waiting_photos.photos)
        }
        _ => return Ok(add_page(desk, &form_to_show, schema, &errors).into()),
    };

    match desk.execute(commands).await? {
        Ok(flash) => Ok(redirect_to_added_pet(desk, flash)),
        Err(failure) => {
            let errors = failure.to_errors(&fields);
            Ok(add_page(desk, &form_to_show, schema, &errors).into())
        }
    }
}

/// Returns the submitted form and the fields of the store. An age in the form is converted to an
/// estimated day of birth. If the age is invalid, adds an error.
///
/// If the store has no field that marks the estimate, adds the field first.
async fn load_form_and_fields(
    desk: &Desk<'_>,
    errors: &mut Errors,
) -> Result<(Form, FieldSet), ApiError> {
    let fields = desk.store().fields().await?;
    let form = form_with_birth(desk, &fields, errors);
    let has_age = !form.get(AGE_INPUT).is_empty();
    if !has_age || errors.message_for(AGE_INPUT).is_some() {
        return Ok((form, fields));
    }
    let fields = ensure_birth_estimate_field(desk, fields).await?;
    Ok((form_with_estimate(&form, &fields), fields))
}

/// Parses the animal in a form. Adds an error for each invalid value.
///
/// Returns `None` if the name, the category, the status or the listing is invalid. For an invalid
/// value of a field, it returns the other values, so the caller must check `errors` as well.
async fn parse_pet(
    desk: &Desk<'_>,
    form: &Form,
    schema: PetSchema<'_>,
    errors: &mut Errors,
) -> Result<Option<SubmittedPet>, ApiError> {
    let name = errors.ok_or_add(NAME_INPUT, forms::parse_name(form.raw(NAME_INPUT)));
    let category = category_choice::choose_category(desk, form, schema, errors).await?;
    let status = match form.get(STATUS_INPUT) {
        "" => Some(PetStatus::Available),
        typed_status => errors.ok_or_add(STATUS_INPUT, forms::parse_status(typed_status)),
    };
    let is_listed = match form.get(LISTED) {
        "" => Some(true),
        typed_listing => errors.ok_or_add(LISTED, forms::parse_listing(typed_listing)),
    };
    values::report_deleted_fields(schema.fields, form, errors);
    let value_reader = ValueReader::new(desk, schema.fields);
    let field_patch = value_reader.read_patch(form, &FieldValues::NONE, errors);

    let (Some(name), Some(category), Some(status), Some(is_listed)) =
        (name, category, status, is_listed)
    else {
        return Ok(None);
    };
    Ok(Some(SubmittedPet {
        pet: NewPet {
            name,
            category_id: category.id,
            status,
            is_listed,
        },
        field_patch,
        new_category: category.new_label,
    }))
}

/// Returns the submitted form with only these photos, which can still be added.
///
/// Without the lost photos, the next submission does not report them again.
fn form_with_photos(form: &Form, photo_tokens: &[String]) -> Form {
    let mut inputs = form.fields().to_vec();
    inputs.retain(|(name, _)| name != PHOTO);
    for token in photo_tokens {
        inputs.push((PHOTO.to_owned(), token.clone()));
    }
    inputs.into_iter().collect()
}

/// Redirects to the page of the added animal. If the day of birth was calculated from an age, the
/// message says so.
fn redirect_to_added_pet(desk: &Desk<'_>, mut flash: Flash) -> Reply {
    if flash.code != "added" {
        // The log cannot say which animal was added: it was unreachable, has forgotten the change,
        // or has it from a later release. The list begins with the newest animals.
        return Reply::Redirect("/animals".to_owned(), Some(flash));
    }
    if !desk.visit.form.get(AGE_INPUT).is_empty() {
        flash.code = "added-about".to_owned();
    }
    Reply::Redirect(format!("/animals/{}", flash.id), Some(flash))
}
