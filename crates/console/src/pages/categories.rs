//! The page with the names of categories.

use petstore_domain::store_area::{Category, Command, Label, Preconditions};

use super::{
    category_names,
    parts::{link, page_links},
};
use crate::{ask::Question, prelude::*};

/// The path of the page.
const CATEGORIES_PATH: &str = "/categories";

/// Shows the categories, and a form that names one, with what is wrong in it.
pub(super) async fn list(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let after = desk.visit.query.integer("after");
    let (categories, next_id) = desk
        .store()
        .list_categories(after, category_names::largest_page_limit())
        .await?;
    let next_page = next_id.map(|id| link(CATEGORIES_PATH, &[("after", &id.to_string())]));
    let first_page = after.map(|_| CATEGORIES_PATH);

    let mut proposed_number = None;
    if desk.may_write() && desk.visit.form.get("number").is_empty() {
        proposed_number = desk.find_free_category_number(0).await?;
    }

    let content = html! {
        h1 { (texts().categories) }
        (errors.summary())
        div.columns {
            @if categories.is_empty() {
                div.card.empty { strong { (texts().no_categories) } p { (texts().no_categories_hint) } }
            } @else {
                div.stack {
                    (table(&categories))
                    (page_links(first_page, next_page.as_deref()))
                }
            }
            @if desk.may_write() {
                section.card {
                    h2 { (texts().name_category_heading) }
                    (naming_form(desk, proposed_number, errors))
                }
            }
        }
    };
    Ok(Page::new(texts().categories, content)
        .with_error_status_if(!errors.is_empty())
        .into())
}

/// Shows the categories with their numbers, each with a link to its animals.
fn table(categories: &[Category]) -> Markup {
    let rows = html! {
        @for category in categories {
            tr {
                td.first {
                    a href={ "/animals?category=" (category.id) } {
                        (markup::text(category.label.as_str(), SHORT_LENGTH))
                    }
                }
                td.number data-label=(texts().number) { (category.id) }
            }
        }
    };
    markup::table(&markup::headings(&[texts().name, texts().number]), &rows)
}

/// Shows the form that names a category. A number is proposed if none was typed.
fn naming_form(desk: &Desk<'_>, proposed_number: Option<i64>, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let proposal = match proposed_number {
        Some(number) => number.to_string(),
        None => String::new(),
    };
    let mut number_input = Input::from_form("number", texts().number, form, errors)
        .with_hint(texts().category_number_hint);
    if form.get("number").is_empty() {
        number_input.value = &proposal;
    }
    html! {
        form.fields method="post" action=(CATEGORIES_PATH) {
            (desk.key("category"))
            (Input::from_form("label", texts().name, form, errors).show())
            (number_input.show())
            div { button.main { (texts().save) } }
        }
    }
}

/// Gives a category a name, or another name.
///
/// Asks first if animals show the name.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let mut errors = Errors::default();
    let label = errors.take("label", forms::parse_label(form.get("label")));
    let id = if form.get("number").is_empty() {
        let free_number = desk.find_free_category_number(0).await?;
        free_number.ok_or(texts().no_free_number)
    } else {
        form.integer("number").ok_or(texts().number_invalid)
    };
    let id = errors.take("number", id);
    let Some(label) = label else {
        return list(desk, &errors).await;
    };
    let Some(id) = id else {
        return list(desk, &errors).await;
    };

    let present_category = desk.load_category(id).await?;
    if let Some(namesake) = find_namesake(desk, id, present_category.as_ref(), &label).await? {
        let name = readable_label(&namesake.label);
        errors.take(
            "label",
            Err::<(), _>(texts().label_taken(&name, namesake.id)),
        );
        return list(desk, &errors).await;
    }
    if let Some(question) = question(desk, id, present_category.as_ref(), &label).await?
        && let Some(question_page) = question.ask(desk, &html! {})
    {
        return Ok(question_page);
    }

    let command = Command::PutCategory {
        id,
        label,
        preconditions: match present_category {
            Some(category) => Preconditions::version(category.version),
            None => Preconditions::ABSENT,
        },
    };
    match desk.execute(vec![command]).await? {
        Ok(flash) => Ok(Reply::See(CATEGORIES_PATH.to_owned(), Some(flash))),
        Err(not_done) => list(desk, &Errors::from_text(&not_done.why)).await,
    }
}

/// Finds another category with the name, in any case, unless the category has this name already.
async fn find_namesake(
    desk: &Desk<'_>,
    id: i64,
    present_category: Option<&Category>,
    label: &Label,
) -> Result<Option<Category>, StoreError> {
    if present_category.is_some_and(|category| forms::is_named(category, label.as_str())) {
        return Ok(None);
    }
    let namesakes = desk.load_categories_by_names([label.as_str()]).await?;
    Ok(namesakes
        .into_iter()
        .find(|category| category.id != id && forms::is_named(category, label.as_str())))
}

/// Returns the question to ask before the category gets this name, if there is one.
async fn question(
    desk: &Desk<'_>,
    id: i64,
    present_category: Option<&Category>,
    label: &Label,
) -> Result<Option<Question<'static>>, StoreError> {
    if present_category.is_some_and(|category| category.label == *label) {
        return Ok(None);
    }

    let mut effects = Vec::new();
    let pet_count = desk.store().count_of_category(id).await?;
    if pet_count > 0 || present_category.is_some() {
        let pet_count = usize::try_from(pet_count).unwrap_or(usize::MAX);
        effects.push(texts().category_has(pet_count));
    }
    if effects.is_empty() {
        return Ok(None);
    }

    let new_name = readable_label(label);
    let title = match present_category {
        Some(category) => texts().rename_category(&readable_label(&category.label), &new_name),
        None => texts().name_category(id, &new_name),
    };
    Ok(Some(Question {
        title,
        effects,
        yes: texts().name_it,
        back: CATEGORIES_PATH,
    }))
}

fn readable_label(label: &Label) -> String {
    markup::readable(label.as_str(), SHORT_LENGTH)
}
