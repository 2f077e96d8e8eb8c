//! The state that the operations of the store area share.

use std::sync::Arc;

use petstore_app::{App, KnownFacts, StoreOptions};

use super::turns::Turns;
use crate::context::Context;

/// The state that the operations of the store area share.
pub struct StoreArea {
    pub(super) app: Arc<App>,
    /// The HTTP-related state, such as the memory for responses.
    pub(super) http: Arc<Context>,
    /// The turns of clients at slow reads.
    pub(super) turns: Turns,
    /// The fallback for facts about the store that its profile does not state.
    pub(super) store_options: StoreOptions,
    /// The cached facts from the profile of the store.
    pub(super) known_facts: KnownFacts,
}

impl StoreArea {
    /// Creates the state, without turns and cached facts.
    pub fn new(app: Arc<App>, http: Arc<Context>, store_options: StoreOptions) -> Self {
        Self {
            app,
            http,
            turns: Turns::default(),
            store_options,
            known_facts: KnownFacts::default(),
        }
    }
}
