//! The language of the pages: of those for the public, that of the store; of those for the staff, that of
//! the member.
//!
//! A language is the two files of its folder, and one line of `each_language!` in the domain. A text that it
//! lacks does not compile. What a shelter calls in other words than a shop is a module of its own, over the
//! texts for a shop.

mod browsers;
pub mod console;
mod dates;
mod declaration;
mod fields;
pub mod look;
mod numbers;
pub mod window;

use std::cell::Cell;

use petstore_domain::store_area::{
    Currency, Decimal, FieldDefinition, FieldLabels, Language, StoreKind, each_language,
};
use tokio::task_local;

pub(crate) use self::numbers::Numbers;
pub use self::{
    browsers::browser, declaration::Unit, fields::relabelled_fields, numbers::AmbiguousNumber,
};

task_local! {
    /// The language of the request, and the kind of the store. They are with the request and no
    /// arguments, because nearly every function that makes a part of a page needs them.
    static SPOKEN: Cell<(Language, StoreKind)>;
}

/// The language of this request.
pub fn language() -> Language {
    spoken().0
}

/// The kind of the store, for the words about a sale.
pub fn store_kind() -> StoreKind {
    spoken().1
}

fn spoken() -> (Language, StoreKind) {
    SPOKEN.try_with(Cell::get).unwrap_or(DEFAULT)
}

/// What holds until the store is known.
const DEFAULT: (Language, StoreKind) = (Language::English, StoreKind::Shop);

/// Handles a request, which can choose its language.
pub async fn with_language<T>(handling: impl Future<Output = T>) -> T {
    SPOKEN.scope(Cell::new(DEFAULT), handling).await
}

/// The rest of the request is in the language of this store.
pub fn set_language_and_kind(language: Language, kind: StoreKind) {
    _ = SPOKEN.try_with(|spoken| spoken.set((language, kind)));
}

/// The rest of the request is in this language.
pub fn set_language(language: Language) {
    set_language_and_kind(language, store_kind());
}

/// Declares the folders of the languages, and which texts are those of a language.
macro_rules! languages {
    ($($language:ident = $code:literal in $folder:ident,)+) => {
        $(mod $folder {
            pub(super) mod console;
            pub(super) mod window;
        })+

        /// How a language writes numbers, amounts and days.
        fn numbers_in(language: Language) -> &'static Numbers {
            match language {
                $(Language::$language => &$folder::window::NUMBERS,)+
            }
        }

        /// The labels of the fields of a new database, in a language.
        pub fn field_labels(language: Language) -> &'static [FieldLabels] {
            match language {
                $(Language::$language => &$folder::window::FIELDS,)+
            }
        }

        /// The texts of the pages for the staff, in the language of this request, and in the words of such a
        /// store.
        pub fn console_texts() -> &'static console::Texts {
            match spoken() {
                $((Language::$language, StoreKind::Shop) => &$folder::console::TEXTS,
                (Language::$language, StoreKind::Shelter) => &$folder::console::shelter::TEXTS,)+
            }
        }

        /// The texts of the pages for the public, in the language of this request.
        pub fn window_texts() -> &'static window::Texts {
            window_texts_in(language())
        }

        /// The same label in each language.
        pub fn in_each_language(label: console::Label) -> impl Iterator<Item = &'static str> {
            [$(&$folder::console::TEXTS, &$folder::console::shelter::TEXTS),+].into_iter().map(label)
        }

        fn window_texts_in(language: Language) -> &'static window::Texts {
            match language {
                $(Language::$language => &$folder::window::TEXTS,)+
            }
        }
    };
}
each_language!(languages);

/// The name of a language, in itself.
pub fn name_of(language: Language) -> &'static str {
    window_texts_in(language).language_name
}

/// A text in quotation marks.
pub fn quoted(text: &str) -> String {
    let [open, close] = window_texts().quotes;
    format!("{open}{text}{close}")
}

/// How the language of this request writes numbers, amounts and days, and reads them.
pub fn numbers() -> &'static Numbers {
    numbers_in(language())
}

/// A price with its currency.
pub fn amount(price: &str, currency: Option<&Currency>) -> String {
    numbers().amount(price, currency)
}

/// A price for the public.
pub fn price(price: &str, currency: Option<&Currency>) -> String {
    let is_free = Decimal::new(price).is_some_and(|price| price.ten_thousandths() == 0);
    if is_free {
        window_texts().free.to_owned()
    } else {
        amount(price, currency)
    }
}

/// The same in every language.
pub fn all_field_labels() -> impl Iterator<Item = &'static FieldLabels> {
    Language::ALL.into_iter().flat_map(field_labels)
}

/// The label of the price in a shelter, if nobody has changed it: orders have an adoption fee, and a page has one
/// word for it.
pub fn fee_label(field: &FieldDefinition) -> Option<&'static str> {
    let is_usual = |labels: &FieldLabels| {
        labels.name == field.name.as_str() && labels.label == field.label.as_str()
    };
    let is_fee = field.is_price() && store_kind() == StoreKind::Shelter;
    let is_fee = is_fee && all_field_labels().any(is_usual);
    is_fee.then(|| console_texts().price)
}

/// Words in a list: those behind the first begin in lower case, unless they are an abbreviation.
fn in_lower_case(all: &[String]) -> String {
    let within = |(at, word): (usize, &String)| {
        let mut letters = word.chars();
        let first = letters
            .next()
            .filter(|_| at > 0 && !letters.as_str().starts_with(char::is_uppercase));
        first.map_or_else(
            || word.clone(),
            |first| first.to_lowercase().chain(letters).collect(),
        )
    };
    all.iter()
        .enumerate()
        .map(within)
        .collect::<Vec<String>>()
        .join(", ")
}

/// A number in groups.
pub fn in_digits(number: usize) -> String {
    numbers().integer(number)
}
