//! The language of the pages: of those for the public, that of the store; of those for the staff, that of
//! the member.
//!
//! A language is the two files of its folder, and one line of `each_language!` in the domain. A text
//! that it lacks does not compile.

mod browsers;
pub(crate) mod console;
mod declaration;
pub(crate) mod window;

use tokio::task_local;

pub(crate) use self::{
    browsers::browser,
    declaration::{Unit, amount, in_digits},
};
use crate::domain::store_area::{Language, StoreKind, each_language};

task_local! {
    /// The language of the request, and the kind of the store. They are with the request and no
    /// arguments, because nearly every function that makes a part of a page needs them.
    static SPOKEN: (Language, StoreKind);
}

/// The language of this request. English where there is none.
pub(crate) fn language() -> Language {
    SPOKEN.try_with(|spoken| spoken.0).unwrap_or(Language::English)
}

#[expect(dead_code, reason = "the pages call it with the next change")]
/// The kind of the store, for the words about a sale.
pub(crate) fn store_kind() -> StoreKind {
    SPOKEN.try_with(|spoken| spoken.1).unwrap_or(StoreKind::Shop)
}

#[expect(dead_code, reason = "the pages call it with the next change")]
/// Handles a request, or a part of it, in this language.
pub(crate) async fn speaking<T>(
    language: Language,
    kind: StoreKind,
    handling: impl Future<Output = T>,
) -> T {
    SPOKEN.scope((language, kind), handling).await
}

/// Declares the folders of the languages, and which texts are those of a language.
macro_rules! languages {
    ($($language:ident = $code:literal in $folder:ident,)+) => {
        $(mod $folder {
            pub(super) mod console;
            pub(super) mod window;
        })+

        /// The texts of the pages for the staff, in the language of this request.
        pub(crate) fn console_texts() -> &'static console::Texts {
            match language() {
                $(Language::$language => &$folder::console::TEXTS,)+
            }
        }

        /// The texts of the pages for the public, in the language of this request.
        pub(crate) fn window_texts() -> &'static window::Texts {
            match language() {
                $(Language::$language => &$folder::window::TEXTS,)+
            }
        }
    };
}
each_language!(languages);
