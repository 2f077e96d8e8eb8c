//! The languages of the window and the console.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use crate::words::words;

/// Passes the languages of the window and the console to the macro `with`: the name of each, its code (BCP 47), and the
/// folder of its texts.
///
/// `each_language!(language)` becomes `language! { English = "en" in en, German = "de" in de, … }`. So a new language is
/// one line here.
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

/// Declares the enumeration of the languages. Used only with [`each_language!`].
macro_rules! language {
    ($($language:ident = $code:literal in $folder:ident,)+) => {
        words! {
            /// A language of the window and the console.
            pub enum Language {
                $($language = $code,)+
            }
        }
    };
}
each_language!(language);
