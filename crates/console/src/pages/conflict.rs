//! Two people who edit one animal: the second sees both versions.

use hyper::StatusCode;
use petstore_domain::store_area::{Category, FieldSet, StorePet};

use super::{animal, animal_fields, history};
use crate::{
    merge::{self, MergedForm},
    prelude::*,
};

/// The animal as it is now, next to what this request wanted to save.
pub(super) async fn show(
    desk: &Desk<'_>,
    theirs: &StorePet,
    known: (&[Category], &FieldSet),
) -> Result<Reply, ApiError> {
    let last = history::last(desk, theirs.id).await?;
    let order = animal::holding_order(desk, theirs).await?;
    let held = order.as_ref().map(|order| (theirs, order));
    let path = format!("/animals/{}", theirs.id.get());
    let sent = animal_fields::typed_again(&desk.visit.form, known.0);
    let now = animal_fields::form_of(theirs, known.0, known.1);
    let yours = MergedForm::new(&sent, &now).form;
    let content = html! {
        h1 { (texts().conflict) }
        p { (texts().conflict_hint) }
        div.columns {
            section.card #theirs {
                h2 { (texts().theirs) }
                dl {
                    @for (label, value, differs) in
                        animal_fields::compared(desk, theirs, &yours, known) {
                        dt { (label) }
                        dd {
                            (value)
                            @if differs { " " span.badge.fails { (texts().different) } }
                        }
                    }
                }
                @if let Some(last) = last {
                    p.hint {
                        (texts().changed_by(&wording::actor(&last.actor))) ", "
                        (markup::time(last.at, desk.visit.now))
                    }
                }
                a.button href=(path) { (texts().keep_theirs) }
            }
            section.card {
                h2 { (texts().yours) }
                form.fields method="post" action={ (path) "/edit" } {
                    (desk.key("conflict"))
                    (merge::hidden_fields(&now))
                    (animal_fields::inputs(&yours, known, &Errors::default(), held))
                    div.buttons { button.main { (texts().save_mine) } }
                }
            }
        }
    };
    Ok(Page::new(texts().conflict, content)
        .with_status(StatusCode::CONFLICT)
        .into())
}
