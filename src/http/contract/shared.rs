//! What the operations of the contract share.

use std::sync::Arc;

use super::first_pages::FirstPages;
use crate::{app::App, http::context::Context, observe::metrics::Exposition};

/// What the operations of the contract share.
pub(crate) struct Contract {
    pub(super) app: Arc<App>,
    pub(super) http: Arc<Context>,
    pub(super) first_pages: FirstPages,
    /// The path of the list as clients see it.
    pub(super) pets_path: String,
}

impl Contract {
    pub(crate) fn new(app: Arc<App>, http: Arc<Context>, pets_path: String) -> Self {
        Self { app, http, first_pages: FirstPages::default(), pets_path }
    }

    pub(crate) fn expose(&self, page: &mut Exposition) {
        self.first_pages.expose(page);
    }
}
