//! The inputs of forms in words: what they are called, and what is typed into them.

use petstore_domain::store_area::{Currency, Decimal, FieldDefinition, FieldKind};
use petstore_languages::{amount, console_texts as texts, look::label_of, numbers, window_texts};

use super::{
    forms,
    markup::{self, SHORT},
    order_inputs::{ORDER_INPUTS, OrderInput, PRICE},
    store_inputs, wording,
};

/// The beginning of the name of an input, before the name of the field.
pub(super) const PREFIX: &str = "field.";

/// The name of the input for a field.
pub(crate) fn input_of(field: &FieldDefinition) -> String {
    format!("{PREFIX}{}", field.name.as_str())
}

/// The label of an input, and a value of it in words; `None` if people do not fill it in.
pub(crate) fn in_words(
    fields: &[FieldDefinition],
    currency: Option<&Currency>,
    name: &str,
    typed: &str,
) -> Option<(String, String)> {
    if let Some(of_store) = store_inputs::in_words(name, typed) {
        return Some(of_store);
    }
    let field = fields.iter().find(|field| input_of(field) == name);
    let label = match field {
        Some(field) => label_of(field),
        None => label(name)?.to_owned(),
    };
    let kind = field.map(|field| field.kind);
    let typed = field.map_or(typed, |field| field.shown(typed));
    let is_price = field.map_or(name == PRICE, FieldDefinition::is_price);
    // As the store has it, or as it was typed.
    let price = Some(typed).filter(|typed| is_price && Decimal::new(typed).is_some());
    let read = || {
        numbers()
            .parse(typed, currency, false)
            .ok()
            .filter(|_| is_price)
    };
    let price = price
        .map(str::to_owned)
        .or_else(read)
        .filter(|it| Decimal::new(it).is_some());
    let words = match typed {
        "" => texts().no_value.to_owned(),
        "true" if kind == Some(FieldKind::Boolean) => window_texts().yes.to_owned(),
        "false" if kind == Some(FieldKind::Boolean) => window_texts().no.to_owned(),
        _ if price.is_some() => amount(&price.unwrap_or_default(), currency),
        day if name == "until" || kind == Some(FieldKind::Date) => wording::day(day),
        status if name == "status" => match (forms::parse_status(status), status.parse()) {
            (Ok(status), _) => texts().status(status).to_owned(),
            (_, Ok(status)) => texts().order_status(status).to_owned(),
            _ => status.to_owned(),
        },
        role if name == "role" => match role.parse() {
            Ok(role) => texts().role(role).to_owned(),
            Err(_) => markup::readable(role, SHORT),
        },
        typed => markup::readable(typed, SHORT),
    };
    Some((label, words))
}

/// The label of an input that is not for a field of animals.
fn label(name: &str) -> Option<&'static str> {
    let of_order = ORDER_INPUTS.iter().find(|input| input.name == name);
    of_order
        .map(OrderInput::label)
        .or_else(|| wording::field(name))
}
