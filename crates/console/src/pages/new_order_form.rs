//! The forms on the page of an animal that reserve it and sell it.

use petstore_domain::store_area::{FieldSet, StorePet, asking_price};

use crate::{
    merge::{self, MergedForm},
    order_inputs::{ORDER_INPUTS, OrderForm, OrderInput},
    prelude::*,
};

/// Returns the form for an order with the values of the animal: its version, and the price that the store asks.
pub(super) fn offer_form(pet: &StorePet, fields: &FieldSet) -> Form {
    let price = match asking_price(pet, fields) {
        Some(price) => numbers().plain(price.as_str()),
        None => String::new(),
    };
    Form::from_pairs(&[("version", &pet.version.to_string()), ("price", &price)])
}

/// The effect of a new order on its animal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Reserve,
    Sell,
}

impl Act {
    /// Returns the value of the button that places the order.
    fn value(self) -> &'static str {
        match self {
            Self::Reserve => "reserve",
            Self::Sell => "sell",
        }
    }
}

/// Whether a submitted form sells an animal. Otherwise, it reserves the animal.
pub(super) fn is_sale(form: &Form) -> bool {
    form.get("do") == Act::Sell.value()
}

/// Shows a button that opens the form to reserve the animal, and a button that opens the form to sell it.
///
/// After one of these forms was submitted, it is open, with its values and `errors`.
pub(super) fn new_order_forms(
    desk: &Desk<'_>,
    pet: &StorePet,
    fields: &FieldSet,
    errors: &Errors,
) -> Markup {
    let offer_form = offer_form(pet, fields);
    let submitted_form = &desk.visit.form;
    let mut submitted_act = Act::Reserve;
    if is_sale(submitted_form) {
        submitted_act = Act::Sell;
    }
    let is_submitted = submitted_form.all("price").next().is_some();
    let form = if is_submitted {
        &MergedForm::new(submitted_form, &offer_form).form
    } else {
        &offer_form
    };

    let no_errors = Errors::default();
    let path = format!("/animals/{}/order", pet.id.get());
    html! {
        div.acts {
            @for act in [Act::Reserve, Act::Sell] {
                @let is_submitted_act = act == submitted_act;
                // The messages link to the inputs of the form that was submitted.
                @let id_prefix = if is_submitted_act { "" } else { "other-" };
                @let errors = if is_submitted_act { errors } else { &no_errors };
                details name="order" open[is_submitted && is_submitted_act] {
                    summary.button.main[act == Act::Reserve] { (opening_label(act)) }
                    form.card.fields data-draft id=(act.value()) method="post" action=(path) {
                        (desk.key("order"))
                        (merge::hidden_fields(&offer_form))
                        (inputs(desk, act, form, errors, id_prefix))
                        div { button.main name="do" value=(act.value()) { (submit_label(act)) } }
                    }
                }
            }
        }
    }
}

fn opening_label(act: Act) -> &'static str {
    match act {
        Act::Reserve => texts().reserve_more,
        Act::Sell => texts().sell_more,
    }
}

fn submit_label(act: Act) -> &'static str {
    match act {
        Act::Reserve => texts().reserve,
        Act::Sell => texts().sell_now,
    }
}

/// Shows the inputs of a form that reserves or sells an animal. A part of the form that opens has the details.
///
/// The ids of the inputs begin with `id_prefix`, because the page has two such forms.
fn inputs(desk: &Desk<'_>, act: Act, form: &Form, errors: &Errors, id_prefix: &str) -> Markup {
    let end_day = match form.get("until") {
        "" => desk.default_end().strftime("%F").to_string(),
        typed_day => typed_day.to_owned(),
    };
    let (detail_inputs, main_inputs): (Vec<&OrderInput>, Vec<&OrderInput>) =
        ORDER_INPUTS.iter().partition(|input| input.is_detail);
    let detail_labels: Vec<&str> = detail_inputs.iter().map(|input| input.label()).collect();
    let has_details = detail_inputs
        .iter()
        .any(|input| !form.raw(input.name).is_empty());

    let order_form = OrderForm::New { id_prefix };
    html! {
        @for input in main_inputs { (input.show(desk, form, errors, order_form)) }
        @if act == Act::Reserve { (forms::day_input(&end_day, errors.message_for("until"))) }
        details open[has_details] {
            summary { (texts().labels(&detail_labels)) " " (texts().optional) }
            div.fields {
                @for input in detail_inputs { (input.show(desk, form, errors, order_form)) }
            }
        }
    }
}
