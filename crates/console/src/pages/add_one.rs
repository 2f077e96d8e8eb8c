//! Adding one animal: its photos first, and then what people ask first.

use jiff::{SignedDuration, ToSpan, civil::Date};
use petstore_domain::{
    NewPet, PetId, PetStatus,
    store_area::{
        Category, Command, FieldDefinition, FieldKind, FieldSet, FieldValues, Label, NewPhoto,
        PetQuery, PhotoId, Photos, Preconditions, StorePet, normalized,
    },
};
use petstore_photos::Stored;

use super::{
    animal_fields, parts,
    photos::{self, PHOTO},
    values,
};
use crate::{prelude::*, reply::Flash};

/// The fields of the first screen, in this order, if the store has them.
const FIRST: [&str; 5] = ["species", "sex", "born", "price", "microchip"];

/// The input for an age in place of the day of birth.
const ABOUT: &str = "about";

/// How long a photo waits for its animal. The service keeps its files for a day.
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(20);

pub(super) async fn show_form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let pet = match desk.visit.query.integer("like").and_then(PetId::new) {
        Some(id) => desk.store().get_store_pet(id).await?,
        None => None,
    };
    let category = pet.iter().map(|pet| pet.category_id).collect();
    let categories = desk.load_category_choices(category).await?;
    let like = pet
        .map(|pet| like(&pet, &categories, &fields))
        .unwrap_or_default();
    Ok(page(desk, &like, (&categories, &fields), &Errors::default()).into())
}

/// The page with both forms, with what was typed and what is wrong with it.
pub(super) fn page(
    desk: &Desk<'_>,
    form: &Form,
    known: (&[Category], &FieldSet),
    errors: &Errors,
) -> Page {
    let lines =
        Input::from_form("lines", texts().paste, form, errors).with_hint(texts().paste_hint);
    let content = html! {
        div.head {
            h1 { (texts().add_animals) }
            a href="/categories" { (texts().categories) }
        }
        (errors.summary())
        div.columns {
            section.card {
                h2 { (texts().add_one) }
                (inputs(desk, form, known, errors))
            }
            section.card {
                h2 { (texts().add_many) }
                form.fields method="post" action="/add/preview" data-draft {
                    (lines.as_textarea().show())
                    div { button { (texts().preview) } }
                }
            }
        }
    };
    Page::new(texts().add_animals, content).wrong_if(!errors.is_empty())
}

/// The form, with what was typed and what is wrong with it.
fn inputs(
    desk: &Desk<'_>,
    form: &Form,
    (categories, fields): (&[Category], &FieldSet),
    errors: &Errors,
) -> Markup {
    let place = |field: &&FieldDefinition| FIRST.iter().position(|of| *of == field.name.as_str());
    let mut first: Vec<_> = fields
        .all()
        .iter()
        .filter(|field| place(field).is_some())
        .collect();
    first.sort_by_key(place);
    let about = Input::from_form(ABOUT, texts().or_about, form, errors)
        .with_hint(texts().about_hint)
        .show();
    let is_wrong = errors.message_for("category").is_some();
    let new = new_category(form.get("category"), categories).filter(|_| is_wrong);
    let unused = forms::find_category(form.get("category"), categories)
        .ok()
        .filter(|_| is_wrong);
    html! {
        form.fields method="post" action="/add" data-draft {
            (desk.key("add"))
            (photos::of_new_animal(desk, form))
            div.pairs {
                (Input::from_form("name", texts().name, form, errors).show())
                @for field in first {
                    (values::input(field, form, errors))
                    @if field.is_birth() { (about) }
                }
            }
            (values::inputs(fields, &FIRST, form, errors))
            (animal_fields::category(form, categories, errors, texts().category_of_species))
            (Input::from_form("status", texts().status_label, form, errors).choose(&forms::status_options()))
            div.buttons {
                // Enter presses it. If the category is corrected, none is added.
                @if let Some(label) = new {
                    button.main name="new-category" value=(label.as_str()) {
                        (texts().add_with_category(&markup::readable(label.as_str(), SHORT)))
                    }
                } @else {
                    button.main { (texts().add_animal) }
                    @if unused.is_some() {
                        button name="new-category" value="yes" { (texts().add_to_number) }
                    }
                }
            }
        }
    }
}

/// The form for another animal like this one, such as of the same litter: without what only this one has.
fn like(pet: &StorePet, categories: &[Category], fields: &FieldSet) -> Form {
    let is_own = |name: &String| {
        let field = fields
            .all()
            .iter()
            .find(|field| values::input_of(field) == *name);
        let is_text =
            |field: &FieldDefinition| field.is_unique || field.kind == FieldKind::LongText;
        ["name", "status", "version"].contains(&name.as_str()) || field.is_some_and(is_text)
    };
    let all = animal_fields::form_of(pet, categories, fields);
    all.fields()
        .iter()
        .filter(|(name, _)| !is_own(name))
        .cloned()
        .collect()
}

/// The name of a category that is typed but does not exist.
fn new_category(typed: &str, categories: &[Category]) -> Option<Label> {
    let is_new = forms::find_category(typed, categories).is_err()
        && !categories
            .iter()
            .any(|category| forms::is_named(category, typed));
    is_new.then(|| forms::parse_label(typed).ok()).flatten()
}

/// The species that was chosen, and what it is called.
pub(super) fn species(form: &Form, fields: &FieldSet) -> Option<(String, String)> {
    let field = fields.find("species")?;
    let chosen = form.get(&values::input_of(field)).to_owned();
    (!chosen.is_empty()).then(|| (chosen.clone(), field.shown(&chosen).to_owned()))
}

/// The category that most of the newest animals of the species are in, such as "Cats" for a cat.
pub(super) async fn usual(
    desk: &Desk<'_>,
    species: &str,
    fields: &FieldSet,
) -> Result<Option<i64>, StoreError> {
    let Ok(species) = fields.searched("species", species) else {
        return Ok(None);
    };
    let query = PetQuery {
        values: vec![species],
        newest_first: true,
        ..PetQuery::default()
    };
    let pets = desk.store().list_store_pets(&query).await?.0;
    let mut all: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
    all.sort_unstable();
    Ok(all
        .chunk_by(i64::eq)
        .max_by_key(|same| same.len())
        .and_then(<[i64]>::first)
        .copied())
}

/// The day that lies as far back as an age says: years, or months or weeks such as "8 months".
fn birth(age: &str, today: Date) -> Option<Date> {
    let end = age.find(|c: char| !c.is_ascii_digit()).unwrap_or(age.len());
    let (number, unit) = age.split_at(end);
    let number: i16 = number.parse().ok().filter(|&number| number <= 500)?;
    let unit = normalized(unit.trim());
    let is = |words: &str| words.split(' ').any(|word| normalized(word) == unit);
    let span = match texts().ages_typed {
        _ if unit.is_empty() => number.years(),
        [years, ..] if is(years) => number.years(),
        [_, months, _] if is(months) => number.months(),
        [.., weeks] if is(weeks) => number.weeks(),
        _ => return None,
    };
    today.checked_sub(span).ok()
}

/// The form with a day of birth in place of an age.
fn with_birth(desk: &Desk<'_>, fields: &FieldSet, errors: &mut Errors) -> Form {
    let form = &desk.visit.form;
    let field = fields
        .all()
        .iter()
        .find(|field| field.is_birth())
        .map(values::input_of);
    let Some(field) = field.filter(|_| !form.get(ABOUT).is_empty()) else {
        return form.clone();
    };
    let born = match birth(form.get(ABOUT), parts::today(desk)) {
        _ if !form.get(&field).is_empty() => Err(texts().born_or_age),
        Some(born) => Ok(born.to_string()),
        None => Err(texts().age_invalid),
    };
    let born = errors.take(ABOUT, born).unwrap_or_default();
    let others = form
        .fields()
        .iter()
        .filter(|(name, _)| *name != field)
        .cloned();
    others.chain([(field.clone(), born)]).collect()
}

pub(super) async fn add_one(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let fields = desk.store().fields().await?;
    let form = with_birth(desk, &fields, &mut errors);
    let of_species = species(&form, &fields).filter(|_| form.get("category").is_empty());
    let typed = of_species
        .as_ref()
        .map_or(form.get("category"), |(_, label)| label);
    let categories = desk.load_categories_by_names([typed]).await?;
    let name = errors.take("name", forms::parse_name(form.raw("name")));
    let is_wanted = of_species.is_some() || ["yes", typed].contains(&form.get("new-category"));
    let mut new = new_category(typed, &categories).filter(|_| is_wanted);
    let usual = match (&of_species, &new) {
        (Some((species, _)), Some(_)) => usual(desk, species, &fields).await?,
        _ => None,
    };
    new = new.filter(|_| usual.is_none());
    let category = match &new {
        None if usual.is_some() => usual.ok_or_else(String::new),
        Some(_) => desk
            .find_free_category_number(0)
            .await?
            .ok_or_else(|| texts().no_free_number.to_owned()),
        None if typed.is_empty() => Err(texts().species_or_category.to_owned()),
        None => forms::find_category(typed, &categories),
    };
    let category = match category {
        Ok(id) if !is_wanted && !desk.is_category_number_used(id).await? => {
            Err(texts().no_category(id))
        }
        category => category,
    };
    let category = errors.take("category", category);
    let status = match form.get("status") {
        "" => Ok(PetStatus::Available),
        typed => forms::parse_status(typed),
    };
    let status = errors.take("status", status);
    values::report_deleted_fields(&fields, &form, &mut errors);
    let before = (&FieldValues::NONE, desk.visit.now, desk.currency());
    let given = values::patch(&fields, &form, before, &mut errors);
    let (photos, kept) = arrived(desk).await?;
    if let Err(why) = &photos {
        errors.add("pictures", why);
    }
    let page = |errors: &Errors| {
        let others = desk
            .visit
            .form
            .fields()
            .iter()
            .filter(|(name, _)| name != PHOTO)
            .cloned();
        let form = others.chain(kept.iter().map(|token| (PHOTO.to_owned(), token.clone())));
        self::page(desk, &form.collect(), (&categories, &fields), errors).into()
    };
    let (Some(name), Some(category_id), Some(status), Ok(photos), true) =
        (name, category, status, photos, errors.is_empty())
    else {
        return Ok(page(&errors));
    };
    let pet = NewPet {
        name,
        category_id,
        status,
    };
    let preconditions = Preconditions::ABSENT;
    let category = new.map(|label| Command::PutCategory {
        id: category_id,
        label,
        preconditions,
    });
    let add = Command::AddPet(pet, given, photos);
    match desk
        .execute([add].into_iter().chain(category).collect())
        .await?
    {
        Ok(flash) => {
            let is_about = flash.code == "added" && !desk.visit.form.get(ABOUT).is_empty();
            let code = if is_about { "added-about" } else { &flash.code };
            let path = format!("/animals/{}", flash.id);
            Ok(Reply::See(
                path,
                Some(Flash {
                    undo: flash.undo.clone(),
                    ..Flash::new(code, flash.id)
                }),
            ))
        }
        Err(not_done) => Ok(page(&not_done.errors(&fields))),
    }
}

/// A photo that waits for its animal, as a field of the form has it. Only this member can add it, so the service
/// needs no list of them; those that are never added are deleted after a day.
pub(super) fn waiting_photo_token(desk: &Desk<'_>, Stored { id, width, height }: Stored) -> String {
    let photo = format!("{id}.{width}.{height}.{}", desk.visit.now.as_second());
    format!("{photo}.{}", desk.visit.tag_of(&signed(desk, &photo)))
}

/// What the tag of a photo that waits is of.
fn signed(desk: &Desk<'_>, photo: &str) -> Vec<u8> {
    format!("waiting photo of staff {} {photo}", desk.session.member.id).into_bytes()
}

/// The photo in a field of the form; `None` if it waits too long, or is of another member.
fn photo(desk: &Desk<'_>, field: &str) -> Option<NewPhoto> {
    let (text, tag) = field.rsplit_once('.')?;
    let parts: Vec<&str> = text.split('.').collect();
    let &[id, width, height, since] = &parts[..] else {
        return None;
    };
    let waits = desk
        .visit
        .now
        .as_second()
        .saturating_sub(since.parse().ok()?);
    let is_valid = desk.visit.is_tag_of(tag, &signed(desk, text)) && waits < KEPT_FOR.as_secs();
    let (id, width, height) = (
        PhotoId::parse(id)?,
        width.parse().ok()?,
        height.parse().ok()?,
    );
    is_valid.then(|| Stored { id, width, height }.into_photo(None))
}

/// The photos of the form whose files are there, or why not all can be added; and the fields of those that can.
async fn arrived(
    desk: &Desk<'_>,
) -> Result<(Result<Vec<NewPhoto>, String>, Vec<String>), ApiError> {
    let (mut photos, mut kept, mut lost) = (Vec::new(), Vec::new(), 0);
    for field in desk.visit.form.all(PHOTO) {
        let new = photo(desk, field);
        let is_there = match &new {
            Some(new) => desk.app().photos.has(new.id).await?,
            None => false,
        };
        match new.filter(|_| is_there && photos.len() < Photos::MAX) {
            Some(new) if photos.contains(&new) => {}
            Some(new) => {
                photos.push(new);
                kept.push(field.to_owned());
            }
            None => lost += 1,
        }
    }
    let photos = if lost == 0 {
        Ok(photos)
    } else {
        Err(texts().photos_lost(lost))
    };
    Ok((photos, kept))
}
