//! The parts that the operations of the store area share.

use std::sync::Arc;

use super::turns::Turns;
use crate::{app::App, http::context::Context};

/// The parts that the operations of the store area share.
pub(crate) struct StoreArea {
    pub(super) app: Arc<App>,
    pub(super) http: Arc<Context>,
    pub(super) turns: Turns,
}

impl StoreArea {
    pub(crate) fn new(app: Arc<App>, http: Arc<Context>) -> Self {
        Self { app, http, turns: Turns::default() }
    }
}
