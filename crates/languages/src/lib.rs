//! The language of the pages: pages for the public are in the language of the store, and pages for the staff in the
//! language of the member.
//!
//! A language is the two files of its folder, and one line of `each_language!` in the domain. A text that it
//! lacks does not compile. What a shelter calls in other words than a shop is a module of its own, over the
//! texts for a shop.

mod browsers;
pub mod console;
mod dates;
mod declaration;
pub mod everyday;
mod fields;
mod former_labels;
pub mod look;
mod numbers;
mod table_lists;
mod tables;
pub mod window;

use std::cell::Cell;

use petstore_domain::store_area::{
    Currency, Decimal, FieldDefinition, FieldLabels, Language, StoreKind, each_language,
};
use tokio::task_local;

pub(crate) use self::numbers::Numbers;
pub use self::{
    browsers::browser,
    declaration::Unit,
    fields::relabelled_fields,
    tables::{spreadsheet_separator, table_words},
};

task_local! {
    /// The words of the request. They are with the request and no arguments, because nearly every
    /// function that makes a part of a page needs them.
    static SPOKEN: Cell<Spoken>;
}

/// The language of a request, and the kind of the store.
#[derive(Clone, Copy)]
struct Spoken {
    language: Language,
    kind: StoreKind,
}

/// The words until the store is known.
const DEFAULT: Spoken = Spoken {
    language: Language::English,
    kind: StoreKind::Shop,
};

/// Returns the language of this request.
pub fn language() -> Language {
    spoken().language
}

/// Returns the kind of the store, for the words about a sale.
pub fn store_kind() -> StoreKind {
    spoken().kind
}

/// Returns the language of this request, and the kind of the store.
fn spoken() -> Spoken {
    SPOKEN.try_with(Cell::get).unwrap_or(DEFAULT)
}

/// Handles a request, which can choose its language.
pub async fn with_language<T>(handling: impl Future<Output = T>) -> T {
    SPOKEN.scope(Cell::new(DEFAULT), handling).await
}

/// Sets the language of the remaining request to the language of this store.
pub fn set_language_and_kind(language: Language, kind: StoreKind) {
    _ = SPOKEN.try_with(|spoken| spoken.set(Spoken { language, kind }));
}

/// Sets the language of the remaining request.
pub fn set_language(language: Language) {
    set_language_and_kind(language, store_kind());
}

/// Declares the folders of the languages, and the functions that choose the texts of a language. A macro, because each
/// language is a module.
///
/// Example: `German = "de" in de,` declares the modules in the folder `de`, and adds
/// `Language::German => &de::window::TEXTS` to the choice.
macro_rules! languages {
    ($($language:ident = $code:literal in $folder:ident,)+) => {
        $(mod $folder {
            pub(super) mod console;
            pub(super) mod window;
        })+

        /// Returns how a language writes numbers, amounts and days.
        fn numbers_in(language: Language) -> &'static Numbers {
            match language {
                $(Language::$language => &$folder::window::NUMBERS,)+
            }
        }

        /// Returns the labels of the fields of a new database, in a language.
        pub fn field_labels(language: Language) -> &'static [FieldLabels] {
            match language {
                $(Language::$language => &$folder::window::FIELDS,)+
            }
        }

        /// Returns the texts of the pages for the staff, in the language of this request, and in the words of this kind
        /// of store.
        pub fn console_texts() -> &'static console::Texts {
            let Spoken { language, kind } = spoken();
            match (language, kind) {
                $((Language::$language, StoreKind::Shop) => &$folder::console::TEXTS,
                (Language::$language, StoreKind::Shelter) => &$folder::console::shelter::TEXTS,)+
            }
        }

        /// Returns the texts of the pages for the public, in the language of this request.
        pub fn window_texts() -> &'static window::Texts {
            window_texts_in(language())
        }

        /// Returns the texts of the pages for the staff in a language: those of a shop and those of a shelter.
        fn console_texts_in(language: Language) -> [&'static console::Texts; 2] {
            match language {
                $(Language::$language => [&$folder::console::TEXTS, &$folder::console::shelter::TEXTS],)+
            }
        }

        fn window_texts_in(language: Language) -> &'static window::Texts {
            match language {
                $(Language::$language => &$folder::window::TEXTS,)+
            }
        }
    };
}
each_language!(languages);

/// Returns the name of a language in this language itself.
pub fn name_of(language: Language) -> &'static str {
    window_texts_in(language).language_name
}

/// Returns a text in quotation marks.
pub fn quoted(text: &str) -> String {
    let [open_quote, close_quote] = window_texts().quotes;
    format!("{open_quote}{text}{close_quote}")
}

/// Returns how the language of this request writes numbers, amounts and days, and reads them.
pub fn numbers() -> &'static Numbers {
    numbers_in(language())
}

/// Returns a price with its currency.
pub fn amount(price: &str, currency: Option<&Currency>) -> String {
    numbers().amount(price, currency)
}

/// Returns a price for the public, in words if it is free.
pub fn price(price: &str, currency: Option<&Currency>) -> String {
    let is_free = Decimal::new(price).is_some_and(|price| price.ten_thousandths() == 0);
    if is_free {
        window_texts().free.to_owned()
    } else {
        amount(price, currency)
    }
}

/// Returns the labels of the fields of a new database in every language, and those that earlier versions gave.
pub(crate) fn all_field_labels() -> impl Iterator<Item = &'static FieldLabels> {
    let labels = Language::ALL.into_iter().flat_map(field_labels);
    labels.chain(&former_labels::FORMER_FIELDS)
}

/// Returns the label of the price in a shelter, unless somebody has changed it: orders have an adoption fee, and a page
/// has one word for it.
pub fn fee_label(field: &FieldDefinition) -> Option<&'static str> {
    if !field.is_price() || store_kind() != StoreKind::Shelter {
        return None;
    }
    let is_unchanged = all_field_labels()
        .any(|labels| labels.name == field.name.as_str() && labels.label == field.label.as_str());
    if is_unchanged {
        Some(console_texts().price)
    } else {
        None
    }
}

/// Whether a field marks estimated births, and has the label that a language gives it. Such a field has no label in each
/// language, so pages show that of their own.
pub(crate) fn is_usual_estimate_label(field: &FieldDefinition) -> bool {
    let label = field.label.as_str();
    let mut languages = Language::ALL.into_iter();
    field.is_birth_estimate()
        && (former_labels::FORMER_ESTIMATE_LABELS.contains(&label)
            || languages.any(|language| window_texts_in(language).birth_estimated == label))
}

/// Returns words as a list. The words after the first one begin in lower case, unless they are an abbreviation.
///
/// Example: `Name, breed, ID`.
fn in_lower_case(words: &[String]) -> String {
    let mut list = String::new();
    for (index, word) in words.iter().enumerate() {
        if index == 0 {
            list.push_str(word);
        } else {
            list.push_str(", ");
            push_in_lower_case(&mut list, word);
        }
    }
    list
}

/// Adds a word to a text, with its first letter in lower case unless the second one is in upper case.
fn push_in_lower_case(text: &mut String, word: &str) {
    let mut letters = word.chars();
    let first_letter = letters.next();
    let is_abbreviation = letters.as_str().starts_with(char::is_uppercase);
    match first_letter {
        Some(letter) if !is_abbreviation => {
            text.extend(letter.to_lowercase());
            text.push_str(letters.as_str());
        }
        _ => text.push_str(word),
    }
}

/// Returns a number in groups.
pub fn in_digits(number: usize) -> String {
    numbers().integer(number)
}
