//! The document in which a provider describes itself, and the memory of the last one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::{
    settings::{Failure, ProviderSettings},
    signature::Key,
};

/// The time for which the document of the provider is used.
const MAX_DOCUMENT_AGE: Duration = Duration::from_hours(1);

/// The pause before the provider is asked again because of a token with another key.
const MIN_PAUSE: Duration = Duration::from_secs(10);

/// The scopes for which the provider is asked if the operator names none.
const USUAL_SCOPE: &str = "openid profile email";

/// The scope for which a provider is asked, too, if its document has it.
const GROUPS_SCOPE: &str = "groups";

/// The document in which the provider describes itself, with its keys.
#[derive(Deserialize)]
pub(super) struct Document {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) jwks_uri: String,
    pub(super) userinfo_endpoint: Option<String>,
    pub(super) end_session_endpoint: Option<String>,
    pub(super) scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
    #[serde(skip)]
    pub(super) keys: Vec<Key>,
}

impl Document {
    /// Returns the scopes for which the provider is asked: those of the operator, or else the usual ones. Some providers
    /// send the groups of a person only with a scope of their own.
    pub(super) fn scope(&self, settings: &ProviderSettings) -> String {
        if let Some(scope) = &settings.scope {
            return scope.clone();
        }
        let mut scope = USUAL_SCOPE.to_owned();
        if let Some(supported_scopes) = &self.scopes_supported
            && supported_scopes.iter().any(|scope| scope == GROUPS_SCOPE)
        {
            scope += " ";
            scope += GROUPS_SCOPE;
        }
        scope
    }
}

/// The last document, and the times at which the provider was asked for it.
#[derive(Default)]
pub(super) struct DocumentState {
    /// The last document that arrived.
    pub(super) document: Option<Arc<Document>>,
    pub(super) arrived_at: Option<Instant>,
    pub(super) asked_at: Option<Instant>,
    /// The number of flights that have ended. A flight is one question to the provider, with its response or failure.
    pub(super) flights: u64,
    /// The result of the last flight.
    pub(super) result: Option<Result<Arc<Document>, Failure>>,
}

impl DocumentState {
    /// Returns the last document, if it has arrived within [`MAX_DOCUMENT_AGE`].
    pub(super) fn fresh(&self, now: Instant) -> Option<Arc<Document>> {
        let age = now.saturating_duration_since(self.arrived_at?);
        if age < MAX_DOCUMENT_AGE {
            self.document.clone()
        } else {
            None
        }
    }

    /// Whether the provider was asked within [`MIN_PAUSE`].
    pub(super) fn was_just_asked(&self, now: Instant) -> bool {
        self.asked_at
            .is_some_and(|asked_at| now.saturating_duration_since(asked_at) < MIN_PAUSE)
    }
}
