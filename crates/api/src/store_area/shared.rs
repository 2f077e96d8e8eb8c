//! The parts that the operations of the store area share.

use std::sync::Arc;

use petstore_app::App;

use super::turns::Turns;
use crate::context::Context;

/// The parts that the operations of the store area share.
pub struct StoreArea {
    pub(super) app: Arc<App>,
    pub(super) http: Arc<Context>,
    pub(super) turns: Turns,
}

impl StoreArea {
    pub fn new(app: Arc<App>, http: Arc<Context>) -> Self {
        Self {
            app,
            http,
            turns: Turns::default(),
        }
    }
}
