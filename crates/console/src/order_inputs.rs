//! The members of an order that people fill in, each declared once: for the forms that have its input, the
//! pages that show it, and the messages that name it.

use std::time::Duration;

use maud::Markup;
use petstore_domain::store_area::{
    Contact, Currency, Decimal, Order, OrderPatch, OrderStatus, Patch, Text,
};
use petstore_languages::{amount, console::Label, console_texts as texts};

use super::{
    desk::Desk,
    forms::{self, Errors, Input},
    visit::Form,
    wording,
};

/// The name of the input for the contact.
const CONTACT: &str = "contact";

/// The name of the input for the note.
pub(super) const NOTE: &str = "note";

/// The name of the input for the price.
pub(super) const PRICE: &str = "price";

/// A member of an order that people fill in, and can leave out.
pub(super) struct OrderInput {
    /// The name of the input, and of the member in the log of changes.
    pub(super) name: &'static str,
    label: Label,
    /// See [`Input::kind`] and [`Input::inputmode`].
    kind: &'static str,
    inputmode: &'static str,
    /// Returns the hint for the form of an order, given whether the order is new, and how long contacts are kept.
    hint: fn(bool, Duration) -> Option<String>,
    /// Whether it is in the closed part of the form of a new order.
    pub(super) is_detail: bool,
    /// Whether only members of the staff with permission to change orders see it.
    is_private: bool,
    stored: fn(&Order) -> Option<&str>,
    /// Parses the text of the input, and writes the value into the change of an order. An empty text clears the member.
    parse: fn(&str, Option<&Currency>, &mut OrderPatch) -> Result<(), String>,
}

/// All members of an order that people fill in, in the order of the pages.
pub(super) static ORDER_INPUTS: [OrderInput; 4] = [
    OrderInput {
        name: CONTACT,
        label: |texts| texts.contact,
        hint: |_, contact_retention| Some(texts().contact_hint(wording::days(contact_retention))),
        is_detail: false,
        is_private: true,
        stored: |order| order.contact.as_ref().map(Contact::as_str),
        parse: |text, _, patch| set(&mut patch.contact, forms::parse_contact(text)),
        ..TEXT
    },
    OrderInput {
        name: PRICE,
        label: |texts| texts.price,
        inputmode: "decimal",
        is_detail: false,
        stored: |order| order.price.as_ref().map(Decimal::as_str),
        parse: |text, currency, patch| set(&mut patch.price, forms::parse_price(text, currency)),
        ..TEXT
    },
    OrderInput {
        name: "reference",
        label: |texts| texts.reference,
        hint: |is_new, _| is_new.then(|| texts().reference_hint.to_owned()),
        stored: |order| order.reference.as_ref().map(Text::as_str),
        parse: |text, _, patch| {
            set(
                &mut patch.reference,
                forms::parse_optional_text(text, texts().reference),
            )
        },
        ..TEXT
    },
    OrderInput {
        name: NOTE,
        label: |texts| texts.note,
        kind: "textarea",
        stored: |order| order.note.as_ref().map(Text::as_str),
        parse: |text, _, patch| {
            set(
                &mut patch.note,
                forms::parse_optional_text(text, texts().note),
            )
        },
        ..TEXT
    },
];

/// The defaults of an input: one line of text that every member of the staff may see.
const TEXT: OrderInput = OrderInput {
    name: "",
    label: |_| "",
    kind: "",
    inputmode: "",
    hint: |_, _| None,
    is_detail: true,
    is_private: false,
    stored: |_| None,
    parse: |_, _, _| Ok(()),
};

/// Writes a parsed value into a member of a change. `None` clears the member.
fn set<T>(member: &mut Patch<T>, value: Result<Option<T>, String>) -> Result<(), String> {
    *member = value?.map_or(Patch::Clear, Patch::Set);
    Ok(())
}

/// The form that has the input of an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderForm<'a> {
    /// Whether the form places the order.
    pub(super) is_new: bool,
    /// The status that the order has, or that it will have.
    pub(super) status: OrderStatus,
    /// The beginning of the identifiers of the inputs, because a page can have two forms that place an order.
    pub(super) id_prefix: &'a str,
}

impl OrderInput {
    /// Returns the label, in the language of the request.
    pub(super) fn label(&self) -> &'static str {
        (self.label)(texts())
    }

    /// Returns the label for an order in this status: people who have reserved an animal do not have it yet.
    pub(super) fn label_in(&self, status: OrderStatus) -> &'static str {
        if self.name == CONTACT {
            texts().contact_of(status)
        } else {
            self.label()
        }
    }

    /// Returns the stored value, if the member of the staff may see it.
    pub(super) fn stored_value<'o>(&self, desk: &Desk<'_>, order: &'o Order) -> Option<&'o str> {
        if self.is_private && !desk.may_write() {
            return None;
        }
        (self.stored)(order)
    }

    /// Returns the stored value as pages show it, if the member of the staff may see it.
    pub(super) fn display_value(&self, desk: &Desk<'_>, order: &Order) -> Option<String> {
        let value = self.stored_value(desk, order)?;
        if self.name == PRICE {
            return Some(amount(value, desk.currency()));
        }
        Some(value.to_owned())
    }

    /// Renders the input with the text from `form`. An input in the closed part has no mark that it is optional, because
    /// the heading of the part says so.
    pub(super) fn show(
        &self,
        desk: &Desk<'_>,
        form: &Form,
        errors: &Errors,
        order_form: OrderForm<'_>,
    ) -> Markup {
        let label_with_currency = match desk.currency() {
            Some(currency) if self.name == PRICE => Some(wording::price_in(currency)),
            _ => None,
        };
        let label = label_with_currency
            .as_deref()
            .unwrap_or(self.label_in(order_form.status));
        let hint = (self.hint)(order_form.is_new, desk.app().keep_contacts);

        let mut input = Input::from_form(self.name, label, form, errors);
        input.hint = hint.as_deref();
        input.id_prefix = order_form.id_prefix;
        input.kind = self.kind;
        input.inputmode = self.inputmode;
        input.is_optional = !(order_form.is_new && self.is_detail);
        input.show()
    }
}

/// Parses the inputs for whose names `is_included` holds, and returns them as a change of an order. Adds an error for
/// each invalid input.
pub(super) fn parse_patch(
    form: &Form,
    currency: Option<&Currency>,
    is_included: impl Fn(&str) -> bool,
    errors: &mut Errors,
) -> OrderPatch {
    let mut patch = OrderPatch::default();
    for input in &ORDER_INPUTS {
        if is_included(input.name) {
            let result = (input.parse)(form.get(input.name), currency, &mut patch);
            errors.take(input.name, result);
        }
    }
    patch
}
