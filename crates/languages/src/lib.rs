//! The texts of all pages, in each language. Pages for the public are in the language of the store, and pages
//! for the staff in the language of the signed-in member.
//!
//! A language consists of the two files in its folder, and one line of `each_language!` in the domain
//! crate. A missing text is a compile error. For a shelter, a separate module overrides the texts in
//! which it differs from a shop.

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
    /// The language and kind of store of the current request. Task-local instead of passed as an argument,
    /// because nearly every function that renders a part of a page needs it.
    static REQUEST_WORDING: Cell<Wording>;
}

/// What determines the wording of a page: the language, and the kind of the store.
#[derive(Clone, Copy)]
struct Wording {
    language: Language,
    kind: StoreKind,
}

/// The wording until the store has been loaded.
const DEFAULT_WORDING: Wording = Wording {
    language: Language::English,
    kind: StoreKind::Shop,
};

/// Returns the language of the current request.
pub fn language() -> Language {
    wording().language
}

/// Returns the kind of the store. A shop sells animals, and a shelter gives them to new owners for a fee.
pub fn store_kind() -> StoreKind {
    wording().kind
}

/// Returns the wording of the current request, or the default outside of [`with_language`].
fn wording() -> Wording {
    REQUEST_WORDING
        .try_with(Cell::get)
        .unwrap_or(DEFAULT_WORDING)
}

/// Runs the handling of a request in a scope in which [`set_language`] and [`set_language_and_kind`] take
/// effect.
pub async fn with_language<T>(handling: impl Future<Output = T>) -> T {
    REQUEST_WORDING
        .scope(Cell::new(DEFAULT_WORDING), handling)
        .await
}

/// Sets the language and the kind of the store for the remainder of the current request.
pub fn set_language_and_kind(language: Language, kind: StoreKind) {
    _ = REQUEST_WORDING.try_with(|wording| wording.set(Wording { language, kind }));
}

/// Sets the language for the remainder of the current request.
pub fn set_language(language: Language) {
    set_language_and_kind(language, store_kind());
}

/// Declares the modules of the languages, and the functions that select the texts of a language. This is a
/// macro, because each language is a module.
///
/// Example: `German = "de" in de,` declares the modules in the folder `de`, and adds
/// `Language::German => &de::window::TEXTS` to a `match`.
macro_rules! languages {
    ($($language:ident = $code:literal in $folder:ident,)+) => {
        $(mod $folder {
            pub(super) mod console;
            pub(super) mod window;
        })+

        /// Returns the number and date formats of a language.
        fn numbers_in(language: Language) -> &'static Numbers {
            match language {
                $(Language::$language => &$folder::window::NUMBERS,)+
            }
        }

        /// Returns the default labels of fields in a language.
        pub fn field_labels(language: Language) -> &'static [FieldLabels] {
            match language {
                $(Language::$language => &$folder::window::FIELDS,)+
            }
        }

        /// Returns the texts of the pages for the staff, in the language of the current request and for
        /// its kind of store.
        pub fn console_texts() -> &'static console::Texts {
            let Wording { language, kind } = wording();
            match (language, kind) {
                $((Language::$language, StoreKind::Shop) => &$folder::console::TEXTS,
                (Language::$language, StoreKind::Shelter) => &$folder::console::shelter::TEXTS,)+
            }
        }

        /// Returns the texts of the pages for the public, in the language of the current request.
        pub fn window_texts() -> &'static window::Texts {
            window_texts_in(language())
        }

        /// Returns the texts of the pages for the staff in a language: those for a shop, and those for
        /// a shelter.
        fn console_texts_in(language: Language) -> [&'static console::Texts; 2] {
            match language {
                $(Language::$language => [&$folder::console::TEXTS, &$folder::console::shelter::TEXTS],)+
            }
        }

        /// Returns the texts of the pages for the public in a language.
        fn window_texts_in(language: Language) -> &'static window::Texts {
            match language {
                $(Language::$language => &$folder::window::TEXTS,)+
            }
        }
    };
}
each_language!(languages);

/// Returns the name of a language in that language itself.
///
/// Example: `Deutsch` for German.
pub fn name_of(language: Language) -> &'static str {
    window_texts_in(language).language_name
}

/// Encloses a text in the quotation marks of the current language.
pub fn quoted(text: &str) -> String {
    let [open_quote, close_quote] = window_texts().quotes;
    format!("{open_quote}{text}{close_quote}")
}

/// Returns the number and date formats of the current language.
pub fn numbers() -> &'static Numbers {
    numbers_in(language())
}

/// Formats a price with its currency in the current language.
pub fn amount(price: &str, currency: Option<&Currency>) -> String {
    numbers().amount(price, currency)
}

/// Formats a price for the public. A price of 0 becomes a word such as `Free`.
pub fn price(price: &str, currency: Option<&Currency>) -> String {
    let is_free = Decimal::new(price).is_some_and(|price| price.ten_thousandths() == 0);
    if is_free {
        window_texts().free.to_owned()
    } else {
        amount(price, currency)
    }
}

/// Returns the default labels of fields in every language, of this version and of earlier ones.
pub(crate) fn all_field_labels() -> impl Iterator<Item = &'static FieldLabels> {
    let labels = Language::ALL.into_iter().flat_map(field_labels);
    labels.chain(&former_labels::FORMER_FIELDS)
}

/// Returns the label that the price field has on the pages of a shelter, or `None` in a shop, for
/// another field, or if somebody has changed its label.
///
/// A shelter calls the price on an order an adoption fee, so the field must have the same name.
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

/// Whether a field marks estimated births and still has a default label, in any language. Pages then show the
/// label of their own language, because this field is not relabelled with the others.
pub(crate) fn is_usual_estimate_label(field: &FieldDefinition) -> bool {
    let label = field.label.as_str();
    let mut languages = Language::ALL.into_iter();
    field.is_birth_estimate()
        && (former_labels::FORMER_ESTIMATE_LABELS.contains(&label)
            || languages.any(|language| window_texts_in(language).birth_estimated == label))
}

/// Joins words into a list in sentence case: all words but the first are uncapitalized, unless they are an
/// abbreviation.
///
/// Example: `Name, breed, ID`.
fn join_in_sentence_case(words: &[String]) -> String {
    let mut list = String::new();
    for (index, word) in words.iter().enumerate() {
        if index == 0 {
            list.push_str(word);
        } else {
            list.push_str(", ");
            push_uncapitalized(&mut list, word);
        }
    }
    list
}

/// Appends a word to a text, with its first letter in lower case, unless the second letter is in upper
/// case: that is taken as an abbreviation, such as `ID`.
fn push_uncapitalized(text: &mut String, word: &str) {
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

/// Formats an integer with group separators in the current language.
///
/// Example: `12,495` in English.
pub fn in_digits(number: usize) -> String {
    numbers().integer(number)
}
