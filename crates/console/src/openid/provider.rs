//! The OpenID provider: sends requests to its endpoints, and builds the URLs to which browsers are
//! redirected.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_app::turns::{Caller, NoTurn, TurnLimits, Turns};
use petstore_domain::Clock;
use petstore_system::addresses::Resolve;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio_rustls::rustls::{self, RootCertStore};
use tracing::warn;
use url::Url;

use super::{
    claims::{self, Logout, check_issuer},
    failure::Failure,
    fetch::Fetcher,
    metadata::{MetadataCache, ProviderMetadata},
    person::{IdToken, Person, UserClaims},
    settings::ProviderSettings,
    sign_in::SignIn,
    signature::{Verification, parse_keys, verify},
};

/// The time limit of a request to the provider. A person waits for it, so it is short.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// The limits for redeeming authorization codes concurrently. Each request first takes a turn, and
/// turns go to the caller that was served least ([`Turns`]).
///
/// A caller can have 24 requests: 2 in flight, and 22 that wait for their turn. With 2 turns at a
/// time, the last request waits for 11 rounds.
const TURN_LIMITS: TurnLimits = TurnLimits {
    turns: 6,
    turns_of_known: 2,
    turns_of_caller: 2,
    waiting: 256,
    waiting_of_caller: 22,
    waiting_of_shared: 22,
    wait: REQUEST_LIMIT,
    memory: Duration::from_secs(30),
};

/// The response of the token endpoint.
#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

/// An OpenID provider, with its cached metadata.
pub struct Provider {
    /// The operator's settings.
    pub settings: ProviderSettings,
    fetcher: Fetcher,
    clock: Arc<dyn Clock>,
    turns: Arc<Turns>,
    metadata_cache: Mutex<MetadataCache>,
    /// Held while the metadata is fetched, so that at most one request for it is in flight.
    request_lock: tokio::sync::Mutex<()>,
}

impl Provider {
    /// Returns a provider, whose metadata is fetched when it is first needed. Fails only if the
    /// build supports no suitable TLS version.
    ///
    /// `limit` is the time limit of a request, usually [`REQUEST_LIMIT`].
    pub fn new(
        settings: ProviderSettings,
        resolver: Box<dyn Resolve>,
        roots: Option<RootCertStore>,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, rustls::Error> {
        Ok(Self {
            fetcher: Fetcher::new(settings.issuer.clone(), resolver, roots, limit)?,
            settings,
            turns: Turns::new(
                TurnLimits {
                    wait: limit,
                    ..TURN_LIMITS
                },
                Arc::clone(&clock),
            ),
            clock,
            metadata_cache: Mutex::default(),
            request_lock: tokio::sync::Mutex::default(),
        })
    }

    /// Returns the URL of the authorization request, to which the browser is redirected to sign in.
    pub(crate) async fn authorization_url(&self, sign_in: &SignIn) -> Result<Url, Failure> {
        let metadata = self.metadata().await?;
        let mut url = self.parse_safe_url(&metadata.authorization_endpoint)?;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&sign_in.verifier));
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &sign_in.redirect_uri)
            .append_pair("scope", &metadata.scope(&self.settings))
            .append_pair("state", &sign_in.state)
            .append_pair("nonce", &sign_in.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        if sign_in.asks_again {
            query
                .append_pair("max_age", "0")
                .append_pair("prompt", "login");
        }
        // The guard of the query writes to the URL, so it must be dropped first.
        drop(query);
        Ok(url)
    }

    /// Redeems an authorization code, and returns the person who signed in at the provider.
    ///
    /// `issuer` is the `iss` parameter of the callback, which names the provider that issued the
    /// code (RFC 9207).
    pub(crate) async fn redeem_code(
        &self,
        caller: Caller,
        sign_in: &SignIn,
        code: &str,
        issuer: Option<&str>,
        now: Timestamp,
    ) -> Result<Person, Failure> {
        let metadata = self.metadata().await?;
        self.check_callback_issuer(&metadata, issuer)?;
        let url = self.parse_safe_url(&metadata.token_endpoint)?;
        let form = sign_in.build_code_form(code, &self.settings, metadata.needs_secret_in_form());
        let turn = self.turns.take(caller).await.map_err(turn_failure)?;
        let tokens: Tokens = self.fetcher.post_form(&url, form).await?;
        // Only a valid code gets here, so the further requests need no turn.
        drop(turn);
        let payload = self.verify_token(&tokens.id_token).await?;
        let id_token = IdToken::parse(&payload, &self.settings, &sign_in.nonce, now)?;
        let userinfo = self
            .fetch_missing_claims(&metadata, &id_token, &tokens)
            .await?;
        Ok(id_token.into_person(tokens.id_token, userinfo.as_ref(), &self.settings))
    }

    /// Checks the `iss` parameter of a callback. It may be missing, unless the metadata announces
    /// that the provider always sends it.
    fn check_callback_issuer(
        &self,
        metadata: &ProviderMetadata,
        stated_issuer: Option<&str>,
    ) -> Result<(), Failure> {
        let is_required = metadata.authorization_response_iss_parameter_supported;
        if stated_issuer.is_none() && !is_required {
            return Ok(());
        }
        let configured_issuer = self.settings.issuer.as_str();
        // A missing issuer counts as an empty one, which never equals the configured one.
        check_issuer(
            "the response",
            stated_issuer.unwrap_or_default(),
            configured_issuer,
        )
    }

    /// Fetches the claims from the userinfo endpoint if the ID token lacks the person's name, or a
    /// claim on which the role depends. Many providers send these claims only there.
    ///
    /// Returns `None` if nothing is missing, or if there is no such endpoint. If only the name is
    /// missing, a failure to fetch the claims is logged, and the result is `None`. Claims about
    /// another person are always rejected.
    async fn fetch_missing_claims(
        &self,
        metadata: &ProviderMetadata,
        id_token: &IdToken,
        tokens: &Tokens,
    ) -> Result<Option<UserClaims>, Failure> {
        let lacks_role_claim = id_token.lacks_role_claim(&self.settings);
        if !lacks_role_claim && !id_token.lacks_name() {
            return Ok(None);
        }
        let (Some(endpoint), Some(access_token)) =
            (&metadata.userinfo_endpoint, &tokens.access_token)
        else {
            return Ok(None);
        };
        match self.fetch_userinfo(endpoint, access_token).await {
            Ok(userinfo) => {
                id_token.check_userinfo(&userinfo)?;
                Ok(Some(userinfo))
            }
            Err(failure) if lacks_role_claim => Err(failure),
            Err(failure) => {
                warn!("the name of a person who signs in is not known: {failure}");
                Ok(None)
            }
        }
    }

    /// Fetches the claims from the userinfo endpoint (OpenID Connect Core 1.0, section 5.3). The
    /// response is plain JSON or a signed token.
    async fn fetch_userinfo(
        &self,
        endpoint: &str,
        access_token: &str,
    ) -> Result<UserClaims, Failure> {
        let url = self.parse_safe_url(endpoint)?;
        let authorization = format!("Bearer {access_token}");
        let response = self.fetcher.get_userinfo(&url, authorization).await?;
        if !response.is_token {
            return response.parse_json(&url);
        }
        let token = String::from_utf8_lossy(&response.body);
        let payload = self.verify_token(token.trim()).await?;
        claims::parse_userinfo(&payload, &self.settings)
    }

    /// Verifies and parses a logout token. See [`claims::parse_logout`].
    pub(crate) async fn parse_logout(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Logout, Failure> {
        let payload = self.verify_token(token).await?;
        claims::parse_logout(&payload, &self.settings, now)
    }

    /// Returns the URL at which a browser signs out of the provider (OpenID Connect RP-Initiated
    /// Logout 1.0, section 2). The provider then redirects the browser to `next_url`.
    ///
    /// Returns `None` if the provider does not support this. A failure to fetch its metadata also
    /// gives `None`, because the sign-out from the console must not depend on the provider.
    ///
    /// `id_token` is the ID token of the sign-in, if the browser still has it. Some providers, such
    /// as Okta, require it.
    pub(crate) async fn sign_out_url(&self, next_url: &str, id_token: Option<&str>) -> Option<Url> {
        let metadata = self.metadata().await.ok()?;
        let endpoint = metadata.end_session_endpoint.as_ref()?;
        let mut url = self.parse_safe_url(endpoint).ok()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("post_logout_redirect_uri", next_url);
        if let Some(id_token) = id_token {
            url.query_pairs_mut().append_pair("id_token_hint", id_token);
        }
        Some(url)
    }

    /// Verifies the signature of a token, and returns its payload. If the right key may be missing,
    /// the keys are fetched again, because the provider may have rotated them.
    async fn verify_token(&self, token: &str) -> Result<Vec<u8>, Failure> {
        let metadata = self.metadata().await?;
        if let Verification::Valid(payload) = verify(token, &metadata.keys)? {
            return Ok(payload);
        }
        let latest_metadata = self.metadata_after_unknown_key(&metadata).await?;
        match verify(token, &latest_metadata.keys)? {
            Verification::Valid(payload) => Ok(payload),
            Verification::KeyMayBeMissing => Err(Failure::Invalid(
                "no key has the id of the token (kid), or has signed the token without an id"
                    .to_owned(),
            )),
        }
    }

    /// Returns the provider's metadata from the cache, or fetches it if the cached one is too old.
    async fn metadata(&self) -> Result<Arc<ProviderMetadata>, Failure> {
        let now = self.clock.instant();
        let cached_metadata = self.metadata_cache.lock().fresh_metadata(now);
        match cached_metadata {
            Some(metadata) => Ok(metadata),
            None => self.refresh_metadata().await,
        }
    }

    /// Returns the metadata to use in place of `old_metadata`, which lacks the key of a token. It
    /// comes [from the cache](Self::cached_metadata_after), or is fetched now.
    async fn metadata_after_unknown_key(
        &self,
        old_metadata: &Arc<ProviderMetadata>,
    ) -> Result<Arc<ProviderMetadata>, Failure> {
        match self.cached_metadata_after(old_metadata) {
            Some(metadata) => Ok(metadata),
            None => self.refresh_metadata().await,
        }
    }

    /// Returns the cached metadata if another caller has fetched it after `old_metadata`. Returns
    /// `None` if the metadata must be fetched.
    ///
    /// If the provider [was asked recently](MetadataCache::was_asked_recently), returns the cached
    /// metadata even if that is still `old_metadata`. Strangers can send tokens with invented key
    /// ids, which must not flood the provider with requests.
    fn cached_metadata_after(
        &self,
        old_metadata: &Arc<ProviderMetadata>,
    ) -> Option<Arc<ProviderMetadata>> {
        let cache = self.metadata_cache.lock();
        let cached_metadata = cache.metadata.as_ref().unwrap_or(old_metadata);
        let is_newer = !Arc::ptr_eq(cached_metadata, old_metadata);
        if is_newer || cache.was_asked_recently(self.clock.instant()) {
            return Some(Arc::clone(cached_metadata));
        }
        None
    }

    /// Fetches the metadata, and caches it. Concurrent callers share one request and its result,
    /// even if the result is a failure.
    async fn refresh_metadata(&self) -> Result<Arc<ProviderMetadata>, Failure> {
        let count_before_wait = self.metadata_cache.lock().request_count;
        let _request_guard = self.request_lock.lock().await;
        // In a block, so that the cache is not locked during the request.
        {
            let mut cache = self.metadata_cache.lock();
            // Another caller has completed a request while this one waited for the lock.
            if cache.request_count != count_before_wait
                && let Some(result) = &cache.last_result
            {
                return result.clone();
            }
            cache.asked_at = Some(self.clock.instant());
        }

        let result = self.fetch_metadata().await;
        let mut cache = self.metadata_cache.lock();
        cache.request_count += 1;
        cache.last_result = Some(result.clone());
        if let Ok(metadata) = &result {
            cache.metadata = Some(Arc::clone(metadata));
            cache.arrived_at = Some(self.clock.instant());
        }
        result
    }

    /// Fetches the provider's metadata, and the keys at its `jwks_uri`.
    async fn fetch_metadata(&self) -> Result<Arc<ProviderMetadata>, Failure> {
        let issuer = self.settings.issuer.as_str();
        let base = issuer.trim_end_matches('/');
        let url = self.parse_safe_url(&format!("{base}/.well-known/openid-configuration"))?;
        let mut metadata: ProviderMetadata = self.fetcher.get_json(&url).await?;
        check_issuer(url.as_str(), &metadata.issuer, issuer)?;

        let keys_url = self.parse_safe_url(&metadata.jwks_uri)?;
        let key_set = self.fetcher.get_json(&keys_url).await?;
        metadata.keys = parse_keys(&key_set)?;
        Ok(Arc::new(metadata))
    }

    /// Parses a URL from the metadata. Fails unless it is safe to send secrets there: it must use
    /// HTTPS, or have the origin of the issuer, which the operator chose.
    fn parse_safe_url(&self, text: &str) -> Result<Url, Failure> {
        let issuer_origin = self.settings.issuer.url.origin();
        match Url::parse(text) {
            Ok(url) if url.scheme() == "https" || url.origin() == issuer_origin => Ok(url),
            _ => Err(Failure::Invalid(format!(
                "{text:.200} is no URL with https://"
            ))),
        }
    }
}

/// Returns the failure for a request that got no turn.
fn turn_failure(error: NoTurn) -> Failure {
    let message = match error {
        NoTurn::Full => "too many requests wait for the provider",
        NoTurn::Late => "no turn at the provider came in time",
    };
    Failure::Unreachable(message.to_owned())
}
