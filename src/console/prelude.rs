//! The names that nearly every page needs.

pub(super) use maud::{Markup, html};

pub(super) use super::{
    desk::Desk,
    forms::{self, Errors, Input},
    markup::{self, LONG, SHORT},
    reply::{Page, Reply},
    visit::Form,
    wording,
};
pub(super) use crate::{
    edge::ApiError,
    languages::{amount, console_texts as texts, numbers, window_texts},
    store::StoreError,
};
