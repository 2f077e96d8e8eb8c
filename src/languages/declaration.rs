//! How texts are declared, and what they are made of.

use crate::domain::store_area::Currency;

/// Declares the texts of pages: one, one with arguments, or several.
macro_rules! texts {
    ($($(#[$about:meta])* $name:ident $(: [$($several:tt)+])? $(($($of:ident: $type:ty),*) -> $result:ty)?;)+) => {
        /// Every text, in one language.
                pub(crate) struct Texts {
            $($(#[$about])* pub $name: texts!(@type $([$($several)+])? $(($($type),*) -> $result)?),)+
        }

        impl Texts {
            $(texts!(@call $name $([$($several)+])? $(($($of: $type),*) -> $result)?);)+
        }
    };
    (@type) => { &'static str };
    (@type ($($type:ty),*) -> $result:ty) => { fn($($type),*) -> $result };
    (@type [$($several:tt)+]) => { [$($several)+] };
    (@call $name:ident $([$($several:tt)+])?) => {};
    (@call $name:ident ($($of:ident: $type:ty),*) -> $result:ty) => {
        pub(crate) fn $name(&self, $($of: $type),*) -> $result {
            (self.$name)($($of),*)
        }
    };
}
pub(super) use texts;

/// A price in this currency, or as it was written: 95.5 as 95.50.
pub(crate) fn amount(price: &str, currency: Option<&Currency>) -> String {
    let has_one_decimal = price.len() > 2 && price.as_bytes()[price.len() - 2] == b'.';
    let written = || format!("{price}{}", if has_one_decimal { "0" } else { "" });
    currency.map_or_else(written, |currency| currency.amount(price))
}

/// A unit of time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Minute,
    Hour,
    Day,
}

/// A number below a million.
pub(crate) fn in_digits(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, number) => number.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}
