//! The members of an order that people fill in, each declared once: for the forms that have its input, the
//! pages that show it, and the messages that name it.

use std::time::Duration;

use maud::Markup;
use petstore_domain::store_area::{Contact, Currency, Decimal, Order, OrderPatch, Patch, Text};
use petstore_languages::{amount, console::Label, console_texts as texts};

use super::{
    desk::Desk,
    forms::{self, Errors, Input},
    visit::Form,
    wording,
};

/// The name of the input for the price.
pub(super) const PRICE: &str = "price";

/// A member of an order that people fill in, and can leave out.
pub(super) struct OrderInput {
    /// The name of its input, and of the member in the log of changes.
    pub(super) name: &'static str,
    label: Label,
    /// See [`Input::kind`] and [`Input::inputmode`].
    kind: &'static str,
    inputmode: &'static str,
    /// The hint in the form of an order, which is a new one or not; with how long contacts are kept.
    hint: fn(bool, Duration) -> Option<String>,
    /// Whether it is in the closed part of the form of a new order.
    pub(super) is_detail: bool,
    /// Only for members of the staff with permission to change orders.
    is_private: bool,
    stored: fn(&Order) -> Option<&str>,
    /// Reads what was typed into a change of the order. Nothing clears the value.
    read: fn(&str, Option<&Currency>, &mut OrderPatch) -> Result<(), String>,
}

/// All of them, in the order of the pages.
pub(super) static ORDER_INPUTS: [OrderInput; 4] = [
    OrderInput {
        name: "contact",
        label: |of| of.contact,
        hint: |_, kept| Some(texts().contact_hint(wording::days(kept))),
        is_detail: false,
        is_private: true,
        stored: |order| order.contact.as_ref().map(Contact::as_str),
        read: |typed, _, order| set(&mut order.contact, forms::contact(typed)),
        ..TEXT
    },
    OrderInput {
        name: PRICE,
        label: |of| of.price,
        inputmode: "decimal",
        is_detail: false,
        stored: |order| order.price.as_ref().map(Decimal::as_str),
        read: |typed, currency, order| set(&mut order.price, forms::price(typed, currency)),
        ..TEXT
    },
    OrderInput {
        name: "reference",
        label: |of| of.reference,
        hint: |is_new, _| is_new.then(|| texts().reference_hint.to_owned()),
        stored: |order| order.reference.as_ref().map(Text::as_str),
        read: |typed, _, order| {
            set(
                &mut order.reference,
                forms::optional(typed, texts().reference),
            )
        },
        ..TEXT
    },
    OrderInput {
        name: "note",
        label: |of| of.note,
        kind: "textarea",
        stored: |order| order.note.as_ref().map(Text::as_str),
        read: |typed, _, order| set(&mut order.note, forms::optional(typed, texts().note)),
        ..TEXT
    },
];

/// A line of text for everybody.
const TEXT: OrderInput = OrderInput {
    name: "",
    label: |_| "",
    kind: "",
    inputmode: "",
    hint: |_, _| None,
    is_detail: true,
    is_private: false,
    stored: |_| None,
    read: |_, _, _| Ok(()),
};

fn set<T>(member: &mut Patch<T>, read: Result<Option<T>, String>) -> Result<(), String> {
    *member = read?.map_or(Patch::Clear, Patch::Set);
    Ok(())
}

impl OrderInput {
    pub(super) fn label(&self) -> &'static str {
        (self.label)(texts())
    }

    /// The stored value, if the member of the staff may see it.
    pub(super) fn of<'o>(&self, desk: &Desk<'_>, order: &'o Order) -> Option<&'o str> {
        (self.stored)(order).filter(|_| !self.is_private || desk.may_write())
    }

    /// The same as pages show it.
    pub(super) fn shown(&self, desk: &Desk<'_>, order: &Order) -> Option<String> {
        let value = self.of(desk, order)?;
        Some(if self.name == PRICE {
            amount(value, desk.currency())
        } else {
            value.to_owned()
        })
    }

    /// The input with what was typed into it. One in a closed part has its hint there: that it is optional.
    pub(super) fn show(
        &self,
        desk: &Desk<'_>,
        (form, errors): (&Form, &Errors),
        (is_new, of_form): (bool, &str),
    ) -> Markup {
        let in_currency = desk
            .currency()
            .filter(|_| self.name == PRICE)
            .map(wording::price_in);
        let hint = (self.hint)(is_new, desk.app().keep_contacts);
        Input {
            hint: hint.as_deref(),
            of_form,
            kind: self.kind,
            inputmode: self.inputmode,
            is_optional: !(is_new && self.is_detail),
            ..Input::of(
                self.name,
                in_currency.as_deref().unwrap_or(self.label()),
                form,
                errors,
            )
        }
        .show()
    }
}

/// The values of the inputs for which `is_given`, as a change of an order.
pub(super) fn read(
    (form, currency): (&Form, Option<&Currency>),
    is_given: impl Fn(&str) -> bool,
    errors: &mut Errors,
) -> OrderPatch {
    let mut patch = OrderPatch::default();
    for input in ORDER_INPUTS.iter().filter(|input| is_given(input.name)) {
        errors.take(
            input.name,
            (input.read)(form.get(input.name), currency, &mut patch),
        );
    }
    patch
}
