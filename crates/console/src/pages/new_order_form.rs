//! The forms on the page of an animal that reserve or sell it.

use petstore_domain::store_area::{FieldSet, OrderStatus, StorePet, asking_price};

use crate::{
    merge::{self, MergedForm},
    order_inputs::{ORDER_INPUTS, OrderForm, OrderInput, PRICE},
    prelude::*,
};

/// What a new order does with its animal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Reserve,
    Sell,
}

/// A form that reserves or sells an animal.
struct NewOrderForm<'f> {
    act: Act,
    /// The path to which the form is submitted.
    path: &'f str,
    /// The current version and price of the animal. The form carries them as hidden fields, by
    /// which a concurrent change is detected.
    initial_form: &'f Form,
    /// The values that the inputs show.
    form: &'f Form,
    errors: &'f Errors,
    /// A prefix that keeps the ids of the inputs unique, because the page has two such forms.
    id_prefix: &'f str,
    is_open: bool,
}

impl Act {
    /// Returns the value of the button that places the order.
    fn value(self) -> &'static str {
        match self {
            Self::Reserve => "reserve",
            Self::Sell => "sell",
        }
    }

    /// Returns the status of the new order.
    fn order_status(self) -> OrderStatus {
        match self {
            Self::Reserve => OrderStatus::Reserved,
            Self::Sell => OrderStatus::Completed,
        }
    }

    /// Returns the label of the summary that expands the form.
    fn opening_label(self) -> &'static str {
        match self {
            Self::Reserve => texts().reserve_more,
            Self::Sell => texts().sell_more,
        }
    }

    /// Returns the label of the button that places the order.
    fn submit_label(self) -> &'static str {
        match self {
            Self::Reserve => texts().reserve,
            Self::Sell => texts().sell_now,
        }
    }
}

/// Returns the initial values of a form for a new order: the version of the animal, and its asking
/// price.
pub(super) fn initial_order_form(pet: &StorePet, fields: &FieldSet) -> Form {
    let price = match asking_price(pet, fields) {
        Some(price) => numbers().plain(price.as_str()),
        None => String::new(),
    };
    Form::from_pairs(&[("version", &pet.version.to_string()), (PRICE, &price)])
}

/// Whether a submitted form sells the animal, rather than reserves it.
pub(super) fn is_sale(form: &Form) -> bool {
    form.get("do") == Act::Sell.value()
}

/// Renders two collapsed forms: one reserves the animal, and the other one sells it.
///
/// A form that was submitted and rejected is expanded, and shows its values and `errors`.
pub(super) fn new_order_forms(
    desk: &Desk<'_>,
    pet: &StorePet,
    fields: &FieldSet,
    errors: &Errors,
) -> Markup {
    let submitted_form = &desk.visit.form;
    let submitted_act = if is_sale(submitted_form) {
        Act::Sell
    } else {
        Act::Reserve
    };
    let initial_form = initial_order_form(pet, fields);
    // Both forms have a price input, so its presence shows that one of them was submitted.
    let is_submitted = submitted_form.all(PRICE).next().is_some();
    let merged_form = MergedForm::new(submitted_form, &initial_form).form;
    let path = format!("/animals/{}/order", pet.id.get());

    let shown_form = if is_submitted {
        &merged_form
    } else {
        &initial_form
    };

    let no_errors = Errors::default();
    let mut both_forms = Vec::new();
    for act in [Act::Reserve, Act::Sell] {
        let is_submitted_act = act == submitted_act;
        both_forms.push(NewOrderForm {
            act,
            path: &path,
            initial_form: &initial_form,
            form: shown_form,
            // Error messages link to the inputs by id, so the inputs of the submitted form have ids
            // without a prefix.
            errors: if is_submitted_act { errors } else { &no_errors },
            id_prefix: if is_submitted_act { "" } else { "other-" },
            is_open: is_submitted && is_submitted_act,
        });
    }
    html! {
        div.acts { @for form in &both_forms { (form.show(desk)) } }
    }
}

impl NewOrderForm<'_> {
    /// Renders the form, and the summary that expands it.
    fn show(&self, desk: &Desk<'_>) -> Markup {
        let act = self.act;
        html! {
            details name="order" open[self.is_open] {
                summary.button.main[act == Act::Reserve] { (act.opening_label()) }
                form.card.fields data-draft id=(act.value()) method="post" action=(self.path) {
                    (desk.idempotency_field("order"))
                    (merge::hidden_fields(self.initial_form))
                    (self.inputs(desk))
                    div { button.main name="do" value=(act.value()) { (act.submit_label()) } }
                }
            }
        }
    }

    /// Renders the inputs. The optional details are collapsed unless one of them has a value.
    fn inputs(&self, desk: &Desk<'_>) -> Markup {
        let form = self.form;
        let errors = self.errors;
        let end_day = match form.get(forms::RESERVATION_END) {
            "" => desk.default_end_day(),
            typed_day => typed_day.to_owned(),
        };
        let (detail_inputs, main_inputs): (Vec<&OrderInput>, Vec<&OrderInput>) =
            ORDER_INPUTS.iter().partition(|input| input.is_detail);
        let detail_labels: Vec<&str> = detail_inputs.iter().map(|input| input.label()).collect();
        let has_details = detail_inputs
            .iter()
            .any(|input| !form.raw(input.name).is_empty());

        let order_form = OrderForm {
            is_new: true,
            status: self.act.order_status(),
            id_prefix: self.id_prefix,
        };
        html! {
            @for input in main_inputs { (input.show(desk, form, errors, order_form)) }
            @if self.act == Act::Reserve {
                (forms::day_input(&end_day, errors.message_for(forms::RESERVATION_END)))
            }
            details open[has_details] {
                summary { (texts().labels(&detail_labels)) " " (texts().optional) }
                div.fields {
                    @for input in detail_inputs { (input.show(desk, form, errors, order_form)) }
                }
            }
        }
    }
}
