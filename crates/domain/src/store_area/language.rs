//! The languages of the window and the console.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use crate::named_enum::named_enum;

/// Calls the macro `$with` with the list of all languages of the window and the console: for each,
/// its variant name, its BCP 47 code, and the folder of its texts.
///
/// `each_language!(language)` expands to
/// `language! { English = "en" in en, German = "de" in de, … }`, so a new language needs only one
/// line here.
#[macro_export]
macro_rules! each_language {
    ($with:ident) => {
        $with! {
            English = "en" in en,
            German = "de" in de,
            French = "fr" in fr,
            Spanish = "es" in es,
        }
    };
}
pub use each_language;

/// Declares the enum [`Language`]. To be called only by [`each_language!`].
macro_rules! language {
    ($($language:ident = $code:literal in $folder:ident,)+) => {
        named_enum! {
            /// A language of the window and the console.
            pub enum Language {
                $($language = $code,)+
            }
        }
    };
}
each_language!(language);
