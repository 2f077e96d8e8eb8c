//! The editable members of an order. Each is declared once, for the forms that contain its input,
//! the pages that show its value, and the messages that name it. What only one member needs, such
//! as the currency of the price, is in the methods of [`OrderInput`].

use std::{borrow::Cow, time::Duration};

use maud::Markup;
use petstore_domain::store_area::{
    Contact, Currency, Decimal, Order, OrderPatch, OrderStatus, Patch, Text,
};
use petstore_languages::{amount, console::Label, console_texts as texts};

use super::{
    desk::Desk,
    forms::{self, Errors, Input, InputKind},
    visit::Form,
    wording,
};

/// The name of the input for the contact.
pub(super) const CONTACT: &str = "contact";

/// The name of the input for the note.
pub(super) const NOTE: &str = "note";

/// The name of the input for the price.
pub(super) const PRICE: &str = "price";

/// An editable, optional member of an order, with its input.
pub(super) struct OrderInput {
    /// The name of the input, and of the member in the log of changes.
    pub(super) name: &'static str,
    label: Label,
    kind: InputKind,
    /// See [`Input::inputmode`].
    inputmode: &'static str,
    /// Returns the hint below the input, if it has one.
    hint: fn(HintContext) -> Option<String>,
    /// Whether the form for a new order shows the input in the part that is collapsed initially.
    pub(super) is_detail: bool,
    /// Whether only roles that may change orders may see the value.
    is_private: bool,
    /// Returns the current value of the order.
    get_stored: fn(&Order) -> Option<&str>,
    /// Parses the submitted text into the patch of an order. An empty text clears the member.
    parse_into:
        fn(text: &str, currency: Option<&Currency>, patch: &mut OrderPatch) -> Result<(), String>,
}

/// What the hint of an input depends on.
#[derive(Clone, Copy)]
struct HintContext {
    /// Whether the form places a new order.
    is_new: bool,
    /// How long the contacts of closed orders are kept.
    contact_retention: Duration,
}

/// The form that contains an [`OrderInput`].
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderForm<'a> {
    /// Whether the form places a new order.
    pub(super) is_new: bool,
    /// The current status of the order, or the initial status of a new one.
    pub(super) status: OrderStatus,
    /// The prefix of the HTML ids of the inputs, which keeps them unique on a page with two forms
    /// for a new order.
    pub(super) id_prefix: &'a str,
}

/// The base of [`ORDER_INPUTS`]: a single-line text input whose value every role may see.
const TEXT_INPUT: OrderInput = OrderInput {
    name: "",
    label: |_| "",
    kind: InputKind::Line,
    inputmode: "",
    hint: |_| None,
    is_detail: true,
    is_private: false,
    get_stored: |_| None,
    parse_into: |_, _, _| Ok(()),
};

/// All editable members of an order, in the order in which pages show them.
pub(super) static ORDER_INPUTS: [OrderInput; 4] = [
    OrderInput {
        name: CONTACT,
        label: |texts| texts.contact,
        hint: |context| {
            let days = wording::days(context.contact_retention);
            Some(texts().contact_hint(days))
        },
        is_detail: false,
        is_private: true,
        get_stored: |order| order.contact.as_ref().map(Contact::as_str),
        parse_into: |text, _, patch| set_member(&mut patch.contact, forms::parse_contact(text)),
        ..TEXT_INPUT
    },
    OrderInput {
        name: PRICE,
        label: |texts| texts.price,
        inputmode: "decimal",
        is_detail: false,
        get_stored: |order| order.price.as_ref().map(Decimal::as_str),
        parse_into: |text, currency, patch| {
            set_member(&mut patch.price, forms::parse_price(text, currency))
        },
        ..TEXT_INPUT
    },
    OrderInput {
        name: "reference",
        label: |texts| texts.reference,
        hint: |context| context.is_new.then(|| texts().reference_hint.to_owned()),
        get_stored: |order| order.reference.as_ref().map(Text::as_str),
        parse_into: |text, _, patch| {
            set_member(
                &mut patch.reference,
                forms::parse_optional_text(text, texts().reference),
            )
        },
        ..TEXT_INPUT
    },
    OrderInput {
        name: NOTE,
        label: |texts| texts.note,
        kind: InputKind::Paragraph,
        get_stored: |order| order.note.as_ref().map(Text::as_str),
        parse_into: |text, _, patch| {
            set_member(
                &mut patch.note,
                forms::parse_optional_text(text, texts().note),
            )
        },
        ..TEXT_INPUT
    },
];

/// Sets a member of a patch to a parsed value. `None` clears the member. An error leaves the member
/// unchanged, and is returned.
fn set_member<T>(
    member: &mut Patch<T>,
    parsed_value: Result<Option<T>, String>,
) -> Result<(), String> {
    *member = match parsed_value? {
        Some(value) => Patch::Set(value),
        None => Patch::Clear,
    };
    Ok(())
}

impl OrderInput {
    /// Returns the label, in the language of the request.
    pub(super) fn label(&self) -> &'static str {
        (self.label)(texts())
    }

    /// Returns the label for an order in this status. Only the label of the contact depends on it,
    /// because somebody with a reservation does not have the animal yet.
    pub(super) fn label_in(&self, status: OrderStatus) -> &'static str {
        if self.name == CONTACT {
            texts().contact_of(status)
        } else {
            self.label()
        }
    }

    /// Returns the stored value; `None` if there is none, or if the signed-in member may not see
    /// it.
    pub(super) fn stored_value<'o>(&self, desk: &Desk<'_>, order: &'o Order) -> Option<&'o str> {
        if self.is_private && !desk.may_write() {
            return None;
        }
        (self.get_stored)(order)
    }

    /// Returns the [stored value](Self::stored_value) as pages show it: a price with its currency,
    /// and other values unchanged.
    pub(super) fn display_value(&self, desk: &Desk<'_>, order: &Order) -> Option<String> {
        let value = self.stored_value(desk, order)?;
        if self.name == PRICE {
            return Some(amount(value, desk.currency()));
        }
        Some(value.to_owned())
    }

    /// Renders the input with its value and its error from `form`. The label says that the input is
    /// optional, except in the collapsed part, whose heading already says so.
    pub(super) fn show(
        &self,
        desk: &Desk<'_>,
        form: &Form,
        errors: &Errors,
        order_form: OrderForm<'_>,
    ) -> Markup {
        let label = match desk.currency() {
            Some(currency) if self.name == PRICE => Cow::Owned(wording::price_in(currency)),
            _ => Cow::Borrowed(self.label_in(order_form.status)),
        };
        let hint = (self.hint)(HintContext {
            is_new: order_form.is_new,
            contact_retention: desk.app().keep_contacts,
        });

        let mut input = Input::from_form(self.name, &label, form, errors);
        input.hint = hint.as_deref();
        input.id_prefix = order_form.id_prefix;
        input.kind = self.kind;
        input.inputmode = self.inputmode;
        input.is_optional = !(order_form.is_new && self.is_detail);
        input.show()
    }
}

/// Parses a submitted form into a patch of an order. Adds an error for each invalid input. The
/// patch contains only the inputs whose names `is_included` accepts.
pub(super) fn parse_patch(
    form: &Form,
    currency: Option<&Currency>,
    is_included: impl Fn(&str) -> bool,
    errors: &mut Errors,
) -> OrderPatch {
    let mut patch = OrderPatch::default();
    for input in &ORDER_INPUTS {
        if is_included(input.name) {
            let result = (input.parse_into)(form.get(input.name), currency, &mut patch);
            if let Err(message) = result {
                errors.add(input.name, message);
            }
        }
    }
    patch
}
