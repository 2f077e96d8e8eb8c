//! The metadata of a provider (OpenID Connect Discovery 1.0, section 3), and the cache of it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::{
    settings::{Failure, ProviderSettings},
    signature::Key,
};

/// The time for which cached metadata is used.
const MAX_METADATA_AGE: Duration = Duration::from_hours(1);

/// The pause before the provider is asked again because of a token with another key.
const MIN_PAUSE: Duration = Duration::from_secs(10);

/// The scopes for which a provider is asked if the operator names no scope.
const DEFAULT_SCOPE: &str = "openid profile email";

/// A further scope, for which a provider is asked if its metadata lists it.
const GROUPS_SCOPE: &str = "groups";

/// The metadata of a provider, with its keys.
#[derive(Deserialize)]
pub(super) struct ProviderMetadata {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) jwks_uri: String,
    pub(super) userinfo_endpoint: Option<String>,
    pub(super) end_session_endpoint: Option<String>,
    pub(super) scopes_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
    #[serde(skip)]
    pub(super) keys: Vec<Key>,
}

impl ProviderMetadata {
    /// Whether the provider takes the secret of a client only in the form, and not in `Authorization`, which is the default
    /// (OpenID Connect Discovery 1.0, section 3).
    pub(super) fn needs_secret_in_form(&self) -> bool {
        let Some(methods) = &self.token_endpoint_auth_methods_supported else {
            return false;
        };
        let has = |method: &str| methods.iter().any(|name| name == method);
        has("client_secret_post") && !has("client_secret_basic")
    }

    /// Returns the scopes for which the provider is asked: the scopes that the operator names, or else the default ones.
    /// Some providers send the groups of a person only with [`GROUPS_SCOPE`].
    pub(super) fn scope(&self, settings: &ProviderSettings) -> String {
        if let Some(scope) = &settings.scope {
            return scope.clone();
        }
        let mut scope = DEFAULT_SCOPE.to_owned();
        if let Some(supported_scopes) = &self.scopes_supported
            && supported_scopes.iter().any(|scope| scope == GROUPS_SCOPE)
        {
            scope += " ";
            scope += GROUPS_SCOPE;
        }
        scope
    }
}

/// The cached metadata, and the last requests for it.
#[derive(Default)]
pub(super) struct MetadataCache {
    /// The newest metadata.
    pub(super) metadata: Option<Arc<ProviderMetadata>>,
    pub(super) arrived_at: Option<Instant>,
    pub(super) asked_at: Option<Instant>,
    /// The number of requests that have ended.
    pub(super) request_count: u64,
    /// The result of the last request.
    pub(super) last_result: Option<Result<Arc<ProviderMetadata>, Failure>>,
}

impl MetadataCache {
    /// Returns the cached metadata, unless it is older than [`MAX_METADATA_AGE`].
    pub(super) fn fresh(&self, now: Instant) -> Option<Arc<ProviderMetadata>> {
        let age = now.saturating_duration_since(self.arrived_at?);
        if age < MAX_METADATA_AGE {
            self.metadata.clone()
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
