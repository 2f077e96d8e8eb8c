//! The imports that nearly every page needs.

pub(super) use maud::{Markup, html};

pub(super) use super::{
    desk::Desk,
    forms::{self, Errors, Input, InputKind},
    markup::{self, LONG_LENGTH, SHORT_LENGTH},
    reply::{Page, Reply},
    visit::Form,
    wording,
};
pub(super) use petstore_languages::{amount, console_texts as texts, numbers, window_texts};
pub(super) use petstore_store::StoreError;
pub(super) use petstore_web::edge::ApiError;
