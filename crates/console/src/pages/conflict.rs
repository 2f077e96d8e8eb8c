//! The page about an edit conflict: somebody else has changed the animal since its form was shown.
//! The member compares both versions, and decides which one to keep.

use hyper::StatusCode;
use petstore_domain::store_area::StorePet;

use super::{
    animal_fields, journal_changes, pet_orders, pet_schema::PetSchema, value_reader::ComparedValue,
};
use crate::{
    merge::{self, MergedForm},
    prelude::*,
};

/// Shows the stored animal next to a form with the values that this request tried to save. The
/// response has the status 409.
pub(super) async fn show(
    desk: &Desk<'_>,
    stored_pet: &StorePet,
    schema: PetSchema<'_>,
) -> Result<Reply, ApiError> {
    let holding_order = pet_orders::load_holding_order(desk, stored_pet).await?;
    let submitted_form = animal_fields::with_named_category(&desk.visit.form, schema.categories);
    let stored_form = animal_fields::form_of_pet(stored_pet, schema);
    let merged_form = MergedForm::new(&submitted_form, &stored_form).form;

    let path = format!("/animals/{}", stored_pet.id.get());
    let inputs = animal_fields::animal_inputs(
        &merged_form,
        schema,
        &Errors::default(),
        stored_pet,
        holding_order.as_ref(),
    );
    let compared_values = animal_fields::compare(desk, stored_pet, &merged_form, schema);
    let change_hint = last_change_hint(desk, stored_pet).await?;
    let content = html! {
        h1 { (texts().conflict) }
        p { (texts().conflict_hint) }
        div.columns {
            section.card #theirs {
                h2 { (texts().theirs) }
                (value_list(&compared_values))
                (change_hint)
                a.button href=(path) { (texts().keep_theirs) }
            }
            section.card {
                h2 { (texts().yours) }
                form.fields method="post" action={ (path) "/edit" } {
                    (desk.idempotency_field("conflict"))
                    (merge::hidden_fields(&stored_form))
                    (inputs)
                    div.buttons { button.main { (texts().save_mine) } }
                }
            }
        }
    };
    let page = Page::new(texts().conflict, content);
    Ok(page.with_status(StatusCode::CONFLICT).into())
}

/// Renders who made the last change of the animal, and when. Renders nothing if the journal no
/// longer has this change.
async fn last_change_hint(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, StoreError> {
    let last_change = journal_changes::load_newest_change(desk, pet.id).await?;
    Ok(html! {
        @if let Some(change) = last_change {
            p.hint {
                (texts().changed_by(&wording::actor(&change.actor))) ", "
                (markup::time(change.at, desk.visit.now))
            }
        }
    })
}

/// Renders the stored values. A badge marks a value that differs from that in the submitted form.
fn value_list(compared_values: &[ComparedValue]) -> Markup {
    html! {
        dl {
            @for value in compared_values {
                dt { (value.label) }
                dd {
                    (value.stored_value)
                    @if value.differs { " " span.badge.fails { (texts().different) } }
                }
            }
        }
    }
}
