//! The page of one animal: its portrait, what members can do with it, its history and its facts.
//!
//! An animal that is reserved or sold is held by an order, which the page shows with its forms.

use petstore_domain::{
    PetStatus,
    store_area::{Order, StorePet, Withdrawal},
};

use super::{
    animal_fields::{show_facts, show_long_texts},
    animal_top, history,
    new_order_form::new_order_forms,
    notes, order_forms, orders,
    parts::{live_content, missing_page},
    pet_orders,
    pet_schema::PetSchema,
};
use crate::{layout::Follows, prelude::*};

/// The name of the input for the reason of a withdrawal.
pub(super) const WITHDRAWAL_REASON_INPUT: &str = "why";

/// The name of the input for the note on a withdrawal.
pub(super) const WITHDRAWAL_NOTE_INPUT: &str = "remark";

/// Everything that is needed to render the page of an animal.
struct AnimalView<'v> {
    desk: &'v Desk<'v>,
    pet: &'v StorePet,
    schema: PetSchema<'v>,
    /// The order by which the animal is reserved or sold. An animal can also be pending or sold
    /// without an order, because its status can be set by hand.
    holding_order: Option<&'v Order>,
    /// The errors of a form on the page that has just failed.
    errors: &'v Errors,
}

/// Handles `GET /animals/{id}`: shows the page of the animal. If a change has just failed, `errors`
/// says why.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(pet) = desk.load_pet_in_path().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let categories = desk.load_categories([pet.category_id].into()).await?;
    let fields = desk.store().fields().await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };
    let holding_order = pet_orders::load_holding_order(desk, &pet).await?;
    let earlier_order = load_earlier_order(desk, &pet).await?;
    let history = history::show(desk, &pet).await?;
    let view = AnimalView {
        desk,
        pet: &pet,
        schema,
        holding_order: holding_order.as_ref(),
        errors,
    };

    let content = html! {
        (view.top_section())
        div.columns.wide {
            div.stack {
                (show_long_texts(&pet, &fields))
                (view.history_card(&history))
            }
            div.stack {
                div.card.no-print #facts { (show_facts(desk, &pet, schema)) }
                @if desk.may_write() && pet.withdrawal.is_none() { (view.withdrawal_form()) }
                @if let Some(order) = &earlier_order { (earlier_order_link(desk, order)) }
            }
        }
    };
    let title = markup::plain_name(pet.name.as_str());
    // The script of the open page refreshes the content when the animal changes.
    Ok(Page::new(title, live_content(errors, &content))
        .following(Follows::Pet(pet.id.get()))
        .with_error_status_if(!errors.is_empty())
        .into())
}

/// Loads the last order of an animal that is available again, such as a cancelled reservation.
///
/// Returns `None` if the animal is not available or never had an order. Viewers, who may not write,
/// do not see the order either.
async fn load_earlier_order(desk: &Desk<'_>, pet: &StorePet) -> Result<Option<Order>, StoreError> {
    if pet.status != PetStatus::Available || !desk.may_write() {
        return Ok(None);
    }
    pet_orders::load_newest_order(desk, pet).await
}

/// Renders a link to the last order of an animal that is available again, such as a cancelled
/// reservation.
fn earlier_order_link(desk: &Desk<'_>, order: &Order) -> Markup {
    html! {
        p.hint.no-print {
            (texts().order_before) (window_texts().colon)
            a href={ "/orders/" (order.id) } { (texts().this_order(order.id.get())) }
            " " (markup::order_badge(order, desk.visit.now))
        }
    }
}

impl AnimalView<'_> {
    /// Renders the top of the page: the portrait, and next to it the name, the main facts, and what
    /// members can do.
    fn top_section(&self) -> Markup {
        let Self {
            desk, pet, schema, ..
        } = *self;
        // Viewers have no forms, so for them, the section can only show an order or a withdrawal.
        let has_state_section =
            desk.may_write() || self.holding_order.is_some() || pet.withdrawal.is_some();
        html! {
            div.animal {
                (animal_top::show_portrait(desk, pet, schema))
                div.stack {
                    (animal_top::show_head(desk, pet, schema.fields))
                    (animal_top::show_kennel_card(desk, pet, schema.fields))
                    div #work.stack { @if has_state_section { (self.state_section()) } }
                    (animal_top::show_toolbar(desk, pet))
                }
            }
        }
    }

    /// Renders the current state of the animal with its forms: the withdrawal, the order that holds
    /// the animal, or the forms for a new order.
    fn state_section(&self) -> Markup {
        if let Some(withdrawal) = &self.pet.withdrawal {
            return self.withdrawn_card(withdrawal);
        }
        if let Some(order) = self.holding_order {
            return self.order_card(order);
        }
        match self.pet.status {
            PetStatus::Available | PetStatus::Pending => html! {
                @if self.pet.status == PetStatus::Pending { p { (texts().pending_without_order) } }
                (new_order_forms(self.desk, self.pet, self.schema.fields, self.errors))
            },
            PetStatus::Sold => {
                html! { section.card.no-print { p { (texts().sold_without_order) } } }
            }
        }
    }

    /// Renders the card that says why and when the animal was withdrawn, with a button that
    /// restores it.
    fn withdrawn_card(&self, withdrawal: &Withdrawal) -> Markup {
        let Self { desk, pet, .. } = *self;
        html! {
            section.card {
                h2 { (texts().withdrawn) }
                p {
                    (texts().reason(withdrawal.reason)) ", "
                    (markup::time(withdrawal.at, desk.visit.now))
                }
                @if let Some(note) = &withdrawal.note {
                    p { (markup::text(note.as_str(), LONG_LENGTH)) }
                }
                @if desk.may_write() {
                    p.hint { (texts().restore_hint) }
                    form method="post" action={ "/animals/" (pet.id.get()) "/restore" } {
                        (desk.idempotency_field("restore"))
                        input type="hidden" name="version" value=(pet.version);
                        button { (texts().restore) }
                    }
                }
            }
        }
    }

    /// Renders the card with the order that holds the animal, and the forms that change this order.
    fn order_card(&self, order: &Order) -> Markup {
        let Self {
            desk, pet, errors, ..
        } = *self;
        html! {
            section.card {
                h2 {
                    (texts().status(pet.status))
                    span.no-print {
                        " · " a href={ "/orders/" (order.id) } { (texts().this_order(order.id.get())) }
                    }
                }
                // The printed page is the kennel card. Visitors see it, so it must not name the
                // customer.
                div.no-print { (orders::details(desk, order)) }
                (order_forms::show(desk, order, Some(pet), self.schema.fields, errors))
            }
        }
    }

    /// Renders the card with the form for a new note, and the history of the animal below it.
    fn history_card(&self, history: &Markup) -> Markup {
        html! {
            section.card.no-print {
                h2 { (texts().history) }
                (notes::new_note_form(self.desk, self.pet.id, self.errors))
                (history)
            }
        }
    }

    /// Renders the collapsed form that withdraws the animal. After a failed withdrawal, the form is
    /// expanded.
    fn withdrawal_form(&self) -> Markup {
        let Self {
            desk, pet, errors, ..
        } = *self;
        let form = &desk.visit.form;
        let reason_input =
            Input::from_form(WITHDRAWAL_REASON_INPUT, texts().reason_label, form, errors);
        let note_input = Input::from_form(WITHDRAWAL_NOTE_INPUT, texts().note, form, errors)
            .make_multiline()
            .make_optional();
        // Another form on this page can have failed instead. That form has neither of these inputs,
        // so both are empty and have no error.
        let has_failed = !reason_input.value.is_empty()
            || !note_input.value.is_empty()
            || reason_input.error.is_some();
        html! {
            details.card open[has_failed] {
                summary { (texts().withdraw_more) }
                form.fields method="post" action={ "/animals/" (pet.id.get()) "/withdraw" } {
                    p.hint { (texts().withdraw_hint) }
                    (desk.idempotency_field("withdraw"))
                    input type="hidden" name="version" value=(pet.version);
                    (reason_input.show_dropdown(&forms::withdrawal_reason_options()))
                    (note_input.show())
                    div { button.danger { (texts().withdraw) } }
                }
            }
        }
    }
}
