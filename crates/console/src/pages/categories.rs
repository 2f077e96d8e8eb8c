//! The page with the categories, and the form that names a category.
//!
//! A category is only a number that animals share. Its name is stored separately, so a number can
//! be in use without a name. The store calls the number the id of the category, and the name its
//! label.

use petstore_domain::store_area::{Category, Command, Label, Preconditions};

use super::{
    category_names::{self, NO_LAST_USED},
    parts::{link, page_links},
};
use crate::{ask::Question, prelude::*};

/// The path of the page.
const CATEGORIES_PATH: &str = "/categories";

/// Handles `GET /categories`: shows the named categories, and the form that names a category. If a
/// submission has just failed, `errors` says why.
pub(super) async fn list(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let after = desk.visit.query.integer("after");
    let (categories, next_id) = desk
        .store()
        .list_categories(after, category_names::largest_page_limit())
        .await?;
    let next_page = next_id.map(|id| link(CATEGORIES_PATH, &[("after", &id.to_string())]));
    let first_page = after.map(|_| CATEGORIES_PATH);

    // The form suggests a free number unless the member typed one.
    let mut suggested_number = None;
    if desk.may_write() && !has_typed_number(&desk.visit.form) {
        suggested_number = desk.find_free_category_number(NO_LAST_USED).await?;
    }

    let content = html! {
        h1 { (texts().categories) }
        (errors.summary())
        div.columns {
            @if categories.is_empty() {
                div.card.empty { strong { (texts().no_categories) } p { (texts().no_categories_hint) } }
            } @else {
                div.stack {
                    (category_table(&categories))
                    (page_links(first_page, next_page.as_deref()))
                }
            }
            @if desk.may_write() {
                section.card {
                    h2 { (texts().name_category_heading) }
                    (naming_form(desk, suggested_number, errors))
                }
            }
        }
    };
    Ok(Page::new(texts().categories, content)
        .with_error_status_if(!errors.is_empty())
        .into())
}

/// Renders the table of the categories. The name of a category is a link to its animals.
fn category_table(categories: &[Category]) -> Markup {
    let rows = html! {
        @for category in categories {
            tr {
                td.first {
                    a href={ "/animals?category=" (category.id) } {
                        (markup::text(category.label.as_str(), SHORT_LENGTH))
                    }
                }
                td.number data-label=(texts().category_number_label) { (category.id) }
            }
        }
    };
    markup::table(
        &markup::headings(&[texts().name, texts().category_number_label]),
        &rows,
    )
}

/// Whether the member typed the number of the category to name.
fn has_typed_number(form: &Form) -> bool {
    !form.get("number").is_empty()
}

/// Renders the form that names a category. If no number was typed, the input for the number shows
/// `suggested_number`.
fn naming_form(desk: &Desk<'_>, suggested_number: Option<i64>, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let suggestion = suggested_number.map(|number| number.to_string());
    let mut number_input = Input::from_form("number", texts().category_number_label, form, errors)
        .with_hint(texts().category_number_hint);
    if !has_typed_number(form) {
        number_input.value = suggestion.as_deref().unwrap_or_default();
    }
    html! {
        form.fields method="post" action=(CATEGORIES_PATH) {
            (desk.idempotency_field("category"))
            (Input::from_form("label", texts().name, form, errors).show())
            (number_input.show())
            div { button.main { (texts().save) } }
        }
    }
}

/// Handles `POST /categories`: gives a category a name, or renames it.
///
/// If the category already has a name or animals, asks for confirmation first.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let parsed_label = forms::parse_label(desk.visit.form.get("label"));
    let label = errors.ok_or_add("label", parsed_label);
    let id = choose_number(desk, &mut errors).await?;
    let (Some(label), Some(id)) = (label, id) else {
        return list(desk, &errors).await;
    };

    let existing_category = desk.load_category(id).await?;
    if let Some(duplicate) = find_duplicate(desk, id, existing_category.as_ref(), &label).await? {
        let name = readable_label(&duplicate.label);
        errors.add("label", texts().label_taken(&name, duplicate.id));
        return list(desk, &errors).await;
    }
    if let Some(question_page) = ask_to_name(desk, id, existing_category.as_ref(), &label).await? {
        return Ok(question_page);
    }

    let preconditions = match existing_category {
        Some(category) => Preconditions::version(category.version),
        None => Preconditions::ABSENT,
    };
    let command = Command::PutCategory {
        id,
        label,
        preconditions,
    };
    match desk.execute(vec![command]).await? {
        Ok(flash) => Ok(Reply::Redirect(CATEGORIES_PATH.to_owned(), Some(flash))),
        Err(failure) => list(desk, &Errors::from_text(&failure.message)).await,
    }
}

/// Chooses the number of the category to name: the typed number, or a free one if none was typed.
///
/// If the typed number is invalid, or no number is free, adds an error and returns `None`.
async fn choose_number(desk: &Desk<'_>, errors: &mut Errors) -> Result<Option<i64>, StoreError> {
    let form = &desk.visit.form;
    let number = if has_typed_number(form) {
        form.integer("number").ok_or(texts().number_invalid)
    } else {
        let free_number = desk.find_free_category_number(NO_LAST_USED).await?;
        free_number.ok_or(texts().no_free_number)
    };
    Ok(errors.ok_or_add("number", number))
}

/// Finds another category that has the same name, regardless of upper and lower case.
///
/// `existing_category` is the category `id` itself. If this category already has the name, returns
/// `None`, because saving the name again adds no duplicate.
async fn find_duplicate(
    desk: &Desk<'_>,
    id: i64,
    existing_category: Option<&Category>,
    label: &Label,
) -> Result<Option<Category>, StoreError> {
    if existing_category.is_some_and(|category| forms::is_named(category, label.as_str())) {
        return Ok(None);
    }
    let categories = desk.load_categories_by_names([label.as_str()]).await?;
    Ok(categories
        .into_iter()
        .find(|category| category.id != id && forms::is_named(category, label.as_str())))
}

/// Returns the page that asks whether the category may get this name.
///
/// Returns `None` if the member has already confirmed it. No confirmation is needed if the name
/// stays the same, or if neither a category nor an animal has the number.
async fn ask_to_name(
    desk: &Desk<'_>,
    id: i64,
    existing_category: Option<&Category>,
    label: &Label,
) -> Result<Option<Reply>, StoreError> {
    if existing_category.is_some_and(|category| category.label == *label) {
        return Ok(None);
    }

    let pet_count = desk.store().count_of_category(id).await?;
    if pet_count == 0 && existing_category.is_none() {
        return Ok(None);
    }
    let pet_count = usize::try_from(pet_count).unwrap_or(usize::MAX);

    let new_name = readable_label(label);
    let title = match existing_category {
        Some(category) => texts().rename_category(&readable_label(&category.label), &new_name),
        None => texts().name_category(id, &new_name),
    };
    let question = Question {
        title,
        effects: vec![texts().category_has(pet_count)],
        confirm_label: texts().name_it,
        back_path: CATEGORIES_PATH,
    };
    let no_details = html! {};
    Ok(question.ask(desk, &no_details))
}

/// Returns the name of a category for a message: on one line, and shortened if it is long.
fn readable_label(label: &Label) -> String {
    markup::readable(label.as_str(), SHORT_LENGTH)
}
