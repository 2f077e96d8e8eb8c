//! Two people who edit one animal: the second sees both versions.

use hyper::StatusCode;
use maud::{Markup, html};

use super::{animal_fields, history};
use crate::{
    console::{
        desk::Desk,
        forms::{self, Errors},
        layout::Menu,
        markup::{self, LONG},
        reply::{Page, Reply},
        texts,
        visit::Form,
    },
    domain::store_area::{Category, StorePet},
    edge::ApiError,
};

/// The animal as it is now, next to what this request wanted to save.
pub(super) async fn show(
    desk: &Desk<'_>,
    theirs: &StorePet,
    categories: &[Category],
) -> Result<Reply, ApiError> {
    let last = history::last(desk, theirs.id).await?;
    let path = format!("/animals/{}", theirs.id.get());
    let (form, typed) = (&desk.visit.form, desk.visit.form.get("category"));
    let category = forms::category(typed, categories);
    let category =
        category.map_or(typed.to_owned(), |id| animal_fields::category_typed(id, categories));
    let fields = ["name", "status"].map(|name| (name, form.raw(name)));
    let yours = Form::with(&[&fields[..], &[("category", &category)]].concat());
    let content = html! {
        h1 { (texts::CONFLICT) }
        p { (texts::CONFLICT_HINT) }
        div.columns {
            section.card #theirs {
                h2 { (texts::THEIRS) }
                (present(theirs, &desk.visit.form, categories))
                @if let Some(last) = last {
                    p.hint {
                        (texts::changed_by(&last.actor)) ", "
                        (markup::time(last.at, desk.visit.now))
                    }
                }
                a.button href=(path) { (texts::KEEP_THEIRS) }
            }
            section.card {
                h2 { (texts::YOURS) }
                form.fields method="post" action={ (path) "/edit" } {
                    (desk.key("conflict"))
                    input type="hidden" name="version" value=(theirs.version);
                    (animal_fields::inputs(&yours, categories, &Errors::default(), theirs.order_id.is_some()))
                    div.buttons { button.main { (texts::SAVE_MINE) } }
                }
            }
        }
    };
    Ok(Page::new(Menu::Animals, texts::CONFLICT, content).with_status(StatusCode::CONFLICT).into())
}

/// What is in the store, with a mark where it differs from what was typed.
fn present(theirs: &StorePet, typed: &Form, categories: &[Category]) -> Markup {
    let status = typed.get("status");
    let parts = [
        (
            texts::NAME,
            markup::name(theirs.name.as_str(), LONG),
            typed.raw("name") != animal_fields::as_typed(theirs.name.as_str()),
        ),
        (
            texts::CATEGORY,
            html! { bdi { (markup::category(categories, theirs.category_id)) } },
            forms::category(typed.get("category"), categories) != Ok(theirs.category_id),
        ),
        (
            texts::STATUS,
            markup::pet_badge(theirs),
            !status.is_empty() && status != theirs.status.as_str(),
        ),
    ];
    html! {
        dl {
            @for (label, value, differs) in parts {
                dt { (label) }
                dd {
                    (value)
                    @if differs { " " span.badge.fails { (texts::DIFFERENT) } }
                }
            }
        }
    }
}
