//! The metadata of a provider (OpenID Connect Discovery 1.0, section 3), and its cache. The
//! metadata is a document with the URLs of the provider's endpoints.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::{failure::Failure, settings::ProviderSettings, signature::Key};

/// How long cached metadata is used before it is fetched again. Providers rarely change it, and a
/// change of the keys is noticed earlier, by the first token with an unknown key.
const MAX_METADATA_AGE: Duration = Duration::from_hours(1);

/// The minimum interval between requests for metadata that tokens with an unknown key cause.
/// Strangers can send such tokens.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// The scopes to request if the operator configured none.
const DEFAULT_SCOPE: &str = "openid profile email";

/// The scope that is also requested by default if the provider's metadata lists it.
const GROUPS_SCOPE: &str = "groups";

/// The metadata of a provider, by the names in the specification, with the provider's keys.
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
    /// The keys at `jwks_uri`. The metadata itself does not contain them, so the caller adds them.
    #[serde(skip)]
    pub(super) keys: Vec<Key>,
}

impl ProviderMetadata {
    /// Whether the token request must have the client secret in its form, because the provider
    /// supports `client_secret_post` but not `client_secret_basic`. A provider that states no
    /// methods supports `client_secret_basic` (OpenID Connect Discovery 1.0, section 3).
    pub(super) fn needs_secret_in_form(&self) -> bool {
        let Some(methods) = &self.token_endpoint_auth_methods_supported else {
            return false;
        };
        let supports = |method: &str| methods.iter().any(|name| name == method);
        supports("client_secret_post") && !supports("client_secret_basic")
    }

    /// Returns the scopes to request, separated by spaces: the scopes that the operator configured,
    /// or else the defaults.
    ///
    /// The defaults include [`GROUPS_SCOPE`] if the provider supports it, because some providers do
    /// not send a person's groups without it.
    pub(super) fn scope(&self, settings: &ProviderSettings) -> String {
        if let Some(scope) = &settings.scope {
            return scope.clone();
        }
        let supports_groups = match &self.scopes_supported {
            Some(scopes) => scopes.iter().any(|scope| scope == GROUPS_SCOPE),
            None => false,
        };
        if supports_groups {
            format!("{DEFAULT_SCOPE} {GROUPS_SCOPE}")
        } else {
            DEFAULT_SCOPE.to_owned()
        }
    }
}

/// The cached metadata, and the state of the requests for it.
#[derive(Default)]
pub(super) struct MetadataCache {
    /// The latest metadata that was fetched.
    pub(super) metadata: Option<Arc<ProviderMetadata>>,
    /// When the request for `metadata` was completed.
    pub(super) arrived_at: Option<Instant>,
    /// When the last request began, whether it succeeded or not.
    pub(super) asked_at: Option<Instant>,
    /// The number of completed requests. If it grows while a caller waits for its turn, another
    /// caller's request has brought a new result.
    pub(super) request_count: u64,
    /// The result of the last completed request.
    pub(super) last_result: Option<Result<Arc<ProviderMetadata>, Failure>>,
}

impl MetadataCache {
    /// Returns the cached metadata; `None` if it is older than [`MAX_METADATA_AGE`], or was never
    /// fetched.
    pub(super) fn fresh_metadata(&self, now: Instant) -> Option<Arc<ProviderMetadata>> {
        let age = now.saturating_duration_since(self.arrived_at?);
        if age < MAX_METADATA_AGE {
            self.metadata.clone()
        } else {
            None
        }
    }

    /// Whether the last request for metadata began less than [`MIN_REFRESH_INTERVAL`] ago.
    pub(super) fn was_asked_recently(&self, now: Instant) -> bool {
        self.asked_at
            .is_some_and(|asked_at| now.saturating_duration_since(asked_at) < MIN_REFRESH_INTERVAL)
    }
}
