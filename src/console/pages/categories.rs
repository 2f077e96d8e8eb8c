//! The names of categories.

use maud::html;

use super::{Desk, Outcome, Page, Reply, refused};
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
    let typed = desk.form.get("number");
    let number = if typed.is_empty() { next.to_string() } else { typed.to_owned() };
    let number = Input {
        id: "number",
        label: texts::NUMBER,
        hint: Some(texts::CATEGORY_NUMBER_HINT),
        value: &number,
        error: errors.of("number"),
        ..Input::default()
    };
    let label = Input {
        id: "label",
        label: texts::NAME,
        value: desk.form.get("label"),
        error: errors.of("label"),
        ..Input::default()
    };
    let content = html! {
        h1 { (texts::CATEGORIES) }
        (errors.summary())
        div.columns {
            @if categories.is_empty() {
                div.card.empty { strong { (texts::NO_CATEGORIES) } p { (texts::NO_CATEGORIES_HINT) } }
            } @else {
                div.table {
                    table {
                        thead {
                            tr {
                                th scope="col" { (texts::NAME) }
                                th scope="col" { (texts::NUMBER) }
                            }
                        }
                        tbody {
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
                        }
                    }
                }
            }
            @if desk.may_write() {
                section.card {
                    h2 { (texts::NAME_CATEGORY) }
                    form.fields method="post" action="/categories" {
                        (desk.key("category"))
                        (label.show())
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
    let label = Label::new(desk.form.get("label").to_owned());
    let label = errors.take("label", label.ok_or_else(|| texts::LABEL_INVALID.to_owned()));
    let id = desk.form.integer("number").ok_or_else(|| texts::NUMBER_INVALID.to_owned());
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
    let message = match desk.carry_out(vec![command]).await? {
        Outcome::Done(flash) => return Ok(Reply::See("/categories".to_owned(), Some(flash))),
        Outcome::Refused { refusal, .. } => refused(&refusal),
        Outcome::UsedBefore => texts::ALREADY_SENT.to_owned(),
    };
    show(desk, &Errors::text(&message)).await
}
