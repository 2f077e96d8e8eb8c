//! The names of categories.

use maud::html;

use super::{Desk, Page, Reply};
use crate::{
    console::{
        forms::{Errors, Input},
        layout::Menu,
        markup::{self, SHORT},
        texts,
    },
    domain::store_area::{Command, Label, Preconditions},
    http::ApiError,
};

pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    show(desk, &Errors::default()).await
}

async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let categories = desk.categories().await?;
    let next = categories.iter().map(|category| category.id).max().unwrap_or(0).saturating_add(1);
    let form = &desk.visit.form;
    let next = next.to_string();
    let number = Input {
        hint: Some(texts::CATEGORY_NUMBER_HINT),
        value: if form.get("number").is_empty() { &next } else { form.raw("number") },
        ..Input::of("number", texts::NUMBER, form, errors)
    };
    let rows = html! {
        @for category in &categories {
            tr {
                td.first {
                    a href={ "/animals?category=" (category.id) } {
                        (markup::text(category.label.as_str(), SHORT))
                    }
                }
                td.number data-label=(texts::NUMBER) { (category.id) }
            }
        }
    };
    let content = html! {
        h1 { (texts::CATEGORIES) }
        (errors.summary())
        div.columns {
            @if categories.is_empty() {
                div.card.empty { strong { (texts::NO_CATEGORIES) } p { (texts::NO_CATEGORIES_HINT) } }
            } @else {
                (markup::table(&markup::headings(&[texts::NAME, texts::NUMBER]), &rows))
            }
            @if desk.may_write() {
                section.card {
                    h2 { (texts::NAME_CATEGORY) }
                    form.fields method="post" action="/categories" {
                        (desk.key("category"))
                        (Input::of("label", texts::NAME, form, errors).show())
                        (number.show())
                        div { button.main { (texts::SAVE) } }
                    }
                }
            }
        }
    };
    let page = Page::new(Menu::Animals, texts::CATEGORIES, content);
    Ok(page.wrong_if(!errors.is_empty()).into())
}

/// Gives a category a name, or another one.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let label = Label::new(desk.visit.form.get("label").to_owned());
    let label = errors.take("label", label.ok_or_else(|| texts::LABEL_INVALID.to_owned()));
    let id = desk.visit.form.integer("number").ok_or_else(|| texts::NUMBER_INVALID.to_owned());
    let id = errors.take("number", id);
    let (Some(label), Some(id)) = (label, id) else {
        return show(desk, &errors).await;
    };
    let categories = desk.categories().await?;
    let present = categories.iter().find(|category| category.id == id);
    let preconditions = match present {
        Some(category) => Preconditions::version(category.version),
        None => Preconditions { if_match: None, if_absent: true },
    };
    let command = Command::PutCategory { id, label, preconditions };
    match desk.carry_out(vec![command]).await? {
        Ok(flash) => Ok(Reply::See("/categories".to_owned(), Some(flash))),
        Err(not_done) => show(desk, &Errors::text(&not_done.why)).await,
    }
}
