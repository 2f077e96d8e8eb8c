//! The names of categories.

use petstore_domain::store_area::{Category, Command, Label, Preconditions};

use super::{
    category_names,
    parts::{link, page_links},
};
use crate::{ask::Question, prelude::*};

pub(super) async fn list(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let after = desk.visit.query.integer("after");
    let (categories, next) = desk
        .store()
        .list_categories(after, category_names::largest_page_limit())
        .await?;
    let next = next.map(|id| link("/categories", &[("after", &id.to_string())]));
    let first = after.map(|_| "/categories");
    let form = &desk.visit.form;
    let free = match form.get("number") {
        "" if desk.may_write() => desk.find_free_category_number(0).await?,
        _ => None,
    };
    let free = free.map(|free| free.to_string()).unwrap_or_default();
    let number = Input::from_form("number", texts().number, form, errors)
        .with_hint(texts().category_number_hint);
    let value = if form.get("number").is_empty() {
        &free
    } else {
        number.value
    };
    let rows = html! {
        @for category in &categories {
            tr {
                td.first {
                    a href={ "/animals?category=" (category.id) } {
                        (markup::text(category.label.as_str(), SHORT))
                    }
                }
                td.number data-label=(texts().number) { (category.id) }
            }
        }
    };
    let content = html! {
        h1 { (texts().categories) }
        (errors.summary())
        div.columns {
            @if categories.is_empty() {
                div.card.empty { strong { (texts().no_categories) } p { (texts().no_categories_hint) } }
            } @else {
                div.stack {
                    (markup::table(&markup::headings(&[texts().name, texts().number]), &rows))
                    (page_links(first, next.as_deref()))
                }
            }
            @if desk.may_write() {
                section.card {
                    h2 { (texts().name_category_heading) }
                    form.fields method="post" action="/categories" {
                        (desk.key("category"))
                        (Input::from_form("label", texts().name, form, errors).show())
                        (Input { value, ..number }.show())
                        div { button.main { (texts().save) } }
                    }
                }
            }
        }
    };
    Ok(Page::new(texts().categories, content)
        .wrong_if(!errors.is_empty())
        .into())
}

/// Gives a category a name, or another one. Asks first if animals show it, or if another category has
/// the name.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let label = errors.take("label", forms::parse_label(desk.visit.form.get("label")));
    let id = match desk.visit.form.get("number") {
        "" => desk
            .find_free_category_number(0)
            .await?
            .ok_or(texts().no_free_number),
        _ => desk
            .visit
            .form
            .integer("number")
            .ok_or(texts().number_invalid),
    };
    let id = errors.take("number", id);
    let (Some(label), Some(id)) = (label, id) else {
        return list(desk, &errors).await;
    };
    let present = desk.load_category(id).await?;
    if let Some(question) = question(desk, id, present.as_ref(), &label).await?
        && let Some(asked) = question.ask(desk, &html! {})
    {
        return Ok(asked);
    }
    let preconditions = match present {
        Some(category) => Preconditions::version(category.version),
        None => Preconditions::ABSENT,
    };
    let command = Command::PutCategory {
        id,
        label,
        preconditions,
    };
    match desk.execute(vec![command]).await? {
        Ok(flash) => Ok(Reply::See("/categories".to_owned(), Some(flash))),
        Err(not_done) => list(desk, &Errors::from_text(&not_done.why)).await,
    }
}

/// The question before the category gets this name, if there is one.
async fn question(
    desk: &Desk<'_>,
    id: i64,
    present: Option<&Category>,
    label: &Label,
) -> Result<Option<Question<'static>>, StoreError> {
    if present.is_some_and(|present| present.label == *label) {
        return Ok(None);
    }
    let shown = |label: &Label| markup::readable(label.as_str(), SHORT);
    let mut effects = Vec::new();
    let count = desk.store().count_of_category(id).await?;
    if count > 0 || present.is_some() {
        effects.push(texts().category_has(usize::try_from(count).unwrap_or(usize::MAX)));
    }
    let same = |other: &&Category| other.id != id && forms::is_named(other, label.as_str());
    if let Some(other) = desk
        .load_categories_by_names([label.as_str()])
        .await?
        .iter()
        .find(same)
    {
        effects.push(texts().label_taken(&shown(&other.label), other.id));
    }
    let title = match present {
        Some(present) => texts().rename_category(&shown(&present.label), &shown(label)),
        None => texts().name_category(id, &shown(label)),
    };
    let (yes, back) = (texts().name_it, "/categories");
    Ok((!effects.is_empty()).then_some(Question {
        title,
        effects,
        yes,
        back,
    }))
}
