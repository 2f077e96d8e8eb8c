//! The operations on animals, one file each, and what they share.

pub(super) mod create;
mod cursor;
pub(super) mod deprecation;
mod first_pages;
pub(super) mod get;
pub(super) mod list;
mod wire;

use std::sync::Arc;

use self::first_pages::FirstPages;
use super::context::Context;
use crate::{app::App, observe::metrics::Exposition};

/// The parts that the operations of the contract share.
pub(crate) struct Contract {
    app: Arc<App>,
    http: Arc<Context>,
    first_pages: FirstPages,
    /// The path of the list as clients see it.
    pets_path: String,
}

impl Contract {
    pub(crate) fn new(app: Arc<App>, http: Arc<Context>, pets_path: String) -> Self {
        Self { app, http, first_pages: FirstPages::default(), pets_path }
    }

    pub(crate) fn expose(&self, page: &mut Exposition) {
        self.first_pages.expose(page);
    }
}
