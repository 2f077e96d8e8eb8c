//! The forms of an order, one for each action. The page of the order and the page of its animal
//! show them.
//!
//! The Enter key presses the first button of a form. Therefore each form contains only the inputs
//! that its own buttons need, and its first button is the one next to these inputs. When the member
//! submits a form, the script copies the edited values of the other forms of the order into it, so
//! that they are saved, too.

use petstore_domain::{
    PetStatus,
    store_area::{FieldSet, Order, OrderStatus, StorePet},
};

use super::{order_values::form_of_order, parts::PLAIN_BUTTON, return_intake};
use crate::{
    merge::{self, MergedForm},
    order_inputs::{ORDER_INPUTS, OrderForm, OrderInput, PRICE},
    prelude::*,
};

/// The name of the input for the reason of a return.
pub(super) const RETURN_REASON: &str = "reason";

/// Whether the browser asks before it leaves the page while a form has unsaved input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnsavedInput {
    Warn,
    /// For a form without inputs.
    Ignore,
}

/// The forms of one order.
struct OrderForms<'o> {
    desk: &'o Desk<'o>,
    order: &'o Order,
    /// The path of the order.
    path: String,
    /// The current values of the order. The forms carry them as hidden fields, by which a
    /// concurrent change is detected.
    current_values: Form,
    /// The values that the inputs show: the current values, or the values of the rejected form.
    shown_values: Form,
    /// Whether a form of this order was submitted and could not be saved.
    is_rejected: bool,
    errors: &'o Errors,
    fields: &'o FieldSet,
}

/// Renders the forms that the state of the order allows, with the errors of a rejected form.
/// Renders nothing for a member who may not write.
pub(super) fn show(
    desk: &Desk<'_>,
    order: &Order,
    pet: Option<&StorePet>,
    fields: &FieldSet,
    errors: &Errors,
) -> Markup {
    if !desk.may_write() {
        return html! {};
    }
    let path = format!("/orders/{}", order.id);
    let current_values = form_of_order(desk, order);
    let is_rejected = is_response_to_form(desk, &path);
    let shown_values = if is_rejected {
        merge_submitted_values(desk, &current_values)
    } else {
        current_values.clone()
    };
    let forms = OrderForms {
        desk,
        order,
        path,
        current_values,
        shown_values,
        is_rejected,
        errors,
        fields,
    };
    html! {
        div.stack.order-forms.no-print {
            @if order.status == OrderStatus::Reserved {
                (forms.sale_form())
            } @else if may_reopen(order, pet) {
                (forms.reopening_form())
            }
            @if order.status == OrderStatus::Completed && order.holds { (forms.return_form()) }
            (forms.change_form())
        }
    }
}

/// Whether this page is the response to a form of the order at this path. The path of such a form
/// begins with the path of the order: `/orders/5/complete`.
fn is_response_to_form(desk: &Desk<'_>, order_path: &str) -> bool {
    let request_path = desk.visit.request.uri.path();
    request_path.starts_with(&format!("{order_path}/"))
}

/// Returns the values of a rejected form. A value that the form does not have is taken from the
/// order.
///
/// The form can lack values, because a button in a list or in a message submits no inputs.
fn merge_submitted_values(desk: &Desk<'_>, current_values: &Form) -> Form {
    let merged_form = MergedForm::new(&desk.visit.form, current_values).form;
    let mut fields = merged_form.fields().to_vec();
    for (name, value) in current_values.fields() {
        if merged_form.all(name).next().is_none() {
            fields.push((name.clone(), value.clone()));
        }
    }
    fields.into_iter().collect()
}

impl OrderForms<'_> {
    /// Renders a form that is sent to a command of the order, such as `complete`. A button of the
    /// form can send it to another command.
    fn form_for(&self, command: &str, unsaved_input: UnsavedInput, content: &Markup) -> Markup {
        let has_warning = unsaved_input == UnsavedInput::Warn;
        html! {
            form.stack data-draft[has_warning] data-part={ "order-" (self.order.id) } method="post"
                action={ (self.path) "/" (command) } {
                (self.desk.idempotency_field("order"))
                (merge::hidden_fields(&self.current_values))
                (content)
            }
        }
    }

    /// Renders a button that sends its form to a command of the order.
    fn button(&self, command: &str, class: &str, label: &str) -> Markup {
        html! { button class=(class) formaction={ (self.path) "/" (command) } { (label) } }
    }

    /// Renders the inputs of the order that `is_included` selects. `id_prefix` precedes their HTML
    /// ids.
    fn inputs(&self, id_prefix: &str, is_included: impl Fn(&OrderInput) -> bool) -> Markup {
        let order_form = OrderForm {
            is_new: false,
            status: self.order.status,
            id_prefix,
        };
        html! {
            @for input in &ORDER_INPUTS {
                @if is_included(input) {
                    (input.show(self.desk, &self.shown_values, self.errors, order_form))
                }
            }
        }
    }

    /// Renders the form with the price, and the buttons that sell the animal or cancel the
    /// reservation.
    fn sale_form(&self) -> Markup {
        let content = html! {
            div.row {
                (self.inputs("", |input| input.name == PRICE))
                (self.button("complete", "main", texts().sell))
                (self.button("cancel", PLAIN_BUTTON, texts().cancel_reservation))
            }
        };
        self.form_for("complete", UnsavedInput::Warn, &content)
    }

    /// Renders the form that reserves the animal again.
    fn reopening_form(&self) -> Markup {
        let label = texts().reopen(self.order.status);
        let content = html! { div.buttons { (self.button("reopen", PLAIN_BUTTON, label)) } };
        self.form_for("reopen", UnsavedInput::Ignore, &content)
    }

    /// Renders the form that records that the customer returned the animal.
    fn return_form(&self) -> Markup {
        let form = &self.shown_values;
        let reason = Input::from_form(RETURN_REASON, texts().reason_label, form, self.errors)
            .make_optional();
        let is_new_intake = !self.is_rejected || return_intake::is_checked(&self.desk.visit.form);
        let content = html! {
            details open[self.errors.message_for(RETURN_REASON).is_some()] {
                summary { (texts().take_back_more) }
                div.fields {
                    p.hint { (texts().take_back_hint) }
                    (reason.show())
                    (return_intake::checkbox(self.fields, is_new_intake))
                    div { (self.button("return", PLAIN_BUTTON, texts().take_back)) }
                }
            }
        };
        self.form_for("return", UnsavedInput::Warn, &content)
    }

    /// Renders the form that edits the order. For a reservation, it also edits the end.
    fn change_form(&self) -> Markup {
        let is_reserved = self.order.status == OrderStatus::Reserved;
        // The price of a cancelled order cannot change.
        let has_price = is_reserved || self.order.status == OrderStatus::Completed;
        // The sale form of a reservation has a price input, too, and ids must be unique.
        let price_prefix = if is_reserved { "change-" } else { "" };
        let summary = if is_reserved {
            texts().extend_or_change
        } else {
            texts().change_order
        };
        let end_day = self.shown_values.get(forms::RESERVATION_END);
        let content = html! {
            details open[self.is_rejected] {
                summary { (summary) }
                div.fields {
                    @if is_reserved {
                        (forms::day_input(end_day, self.errors.message_for(forms::RESERVATION_END)))
                    }
                    (self.inputs("", |input| input.name != PRICE))
                    @if has_price { (self.inputs(price_prefix, |input| input.name == PRICE)) }
                    div { button { (texts().save) } }
                }
            }
        };
        self.form_for("change", UnsavedInput::Warn, &content)
    }
}

/// Whether a closed order can become a reservation again.
///
/// A sale can be reopened while it still holds its animal, and any other closed order while its
/// animal is available.
fn may_reopen(order: &Order, pet: Option<&StorePet>) -> bool {
    if order.status == OrderStatus::Completed {
        return order.holds;
    }
    pet.is_some_and(|pet| pet.status == PetStatus::Available && pet.withdrawal.is_none())
}
