//! The provider as the service uses it: where it is, and whom its responses name.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio_rustls::rustls::{self, RootCertStore};
use url::{Url, form_urlencoded};

use super::{
    claims::{self, LoggedOut, Person, check_issuer},
    fetch::{Fetcher, Form},
    settings::{Failure, ProviderSettings},
    signature::{Key, content, keys},
};
use crate::{delivery::Resolve, domain::Clock};

/// How long a request to the provider may take.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// How long what the provider says about itself is used, and how soon it is asked again because of a token
/// with another key.
const MAX_AGE: Duration = Duration::from_hours(1);
const MIN_AGE: Duration = Duration::from_secs(10);

/// What the provider says about itself.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    end_session_endpoint: Option<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(skip)]
    keys: Vec<Key>,
}

/// A sign-in that has begun.
pub(crate) struct SignIn {
    /// Where the browser comes back.
    pub(crate) redirect: String,
    pub(crate) state: String,
    pub(crate) nonce: String,
    /// The secret of PKCE.
    pub(crate) verifier: String,
    /// Whether the person must prove again who they are.
    pub(crate) again: bool,
}

/// A provider, with what it last said about itself.
pub struct Provider {
    /// The choices of the operator.
    pub settings: ProviderSettings,
    fetcher: Fetcher,
    clock: Arc<dyn Clock>,
    /// What it said, and when it was last asked.
    last: Mutex<Option<(Instant, Arc<Document>)>>,
}

impl Provider {
    /// A provider that is asked when somebody signs in. A request may take as long as `limit`, usually
    /// [`REQUEST_LIMIT`]. Fails only if the build supports no suitable protocol version.
    pub fn new(
        settings: ProviderSettings,
        resolver: Box<dyn Resolve>,
        roots: Option<RootCertStore>,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, rustls::Error> {
        let fetcher = Fetcher::new(settings.issuer.clone(), resolver, roots, limit)?;
        Ok(Self { settings, fetcher, clock, last: Mutex::default() })
    }

    /// Where the browser goes to sign in.
    pub(crate) async fn authorization_url(&self, of: &SignIn) -> Result<Url, Failure> {
        let mut url = self.url(&self.document(MAX_AGE).await?.authorization_endpoint)?;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&of.verifier));
        let again = [("max_age", "0"), ("prompt", "login")];
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &of.redirect)
            .append_pair("scope", "openid profile email")
            .append_pair("state", &of.state)
            .append_pair("nonce", &of.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .extend_pairs(again.into_iter().filter(|_| of.again));
        Ok(url)
    }

    /// Exchanges a code for the person whom the provider signed in. `issuer` is the parameter `iss`: it shows whether
    /// the response is from another provider (RFC 9207).
    pub(crate) async fn person(
        &self,
        of: &SignIn,
        code: &str,
        issuer: Option<&str>,
        now: Timestamp,
    ) -> Result<Person, Failure> {
        #[derive(Deserialize)]
        struct Tokens {
            id_token: String,
        }
        let document = self.document(MAX_AGE).await?;
        if issuer.is_some() || document.authorization_response_iss_parameter_supported {
            let found = issuer.unwrap_or_default();
            check_issuer("the response", found, self.settings.issuer.as_str())?;
        }
        let (url, form) = (self.url(&document.token_endpoint)?, self.form(of, code));
        let tokens: Tokens = self.fetcher.json(&url, Some(form)).await?;
        let token = self.verified(&tokens.id_token).await?;
        claims::person(&token, &self.settings, &of.nonce, now)
    }

    /// The form that redeems a code.
    fn form(&self, of: &SignIn, code: &str) -> Form {
        let ProviderSettings { client_id, client_secret, .. } = &self.settings;
        let encoded =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let authorization = client_secret.as_ref().map(|secret| {
            let pair = format!("{}:{}", encoded(client_id), encoded(secret));
            format!("Basic {}", STANDARD.encode(pair))
        });
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", &of.redirect)
            .append_pair("code_verifier", &of.verifier);
        if authorization.is_none() {
            body.append_pair("client_id", client_id);
        }
        (body.finish(), authorization)
    }

    /// Returns the content of a logout token. See [`claims::logged_out`].
    pub(crate) async fn logged_out(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<LoggedOut, Failure> {
        claims::logged_out(&self.verified(token).await?, &self.settings, now)
    }

    /// Where the browser goes to sign out there, too, and then `back`; `None` if the provider does not
    /// offer it, or does not respond.
    pub(crate) async fn sign_out_url(&self, back: &str) -> Option<Url> {
        let document = self.document(MAX_AGE).await.ok()?;
        let mut url = self.url(document.end_session_endpoint.as_ref()?).ok()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("post_logout_redirect_uri", back);
        Some(url)
    }

    /// The content of a token with a valid signature.
    async fn verified(&self, token: &str) -> Result<Vec<u8>, Failure> {
        for max_age in [MAX_AGE, MIN_AGE] {
            if let Some(content) = content(token, &self.document(max_age).await?.keys)? {
                return Ok(content);
            }
        }
        Err(Failure::Invalid("no key has the id of the token (kid)".to_owned()))
    }

    /// What the provider says about itself. It is asked if that was not within `max_age`.
    async fn document(&self, max_age: Duration) -> Result<Arc<Document>, Failure> {
        let (now, issuer) = (self.clock.instant(), self.settings.issuer.as_str());
        let last = || self.last.lock();
        if let Some((asked, known)) = &mut *last() {
            if now.saturating_duration_since(*asked) < max_age {
                return Ok(Arc::clone(known));
            }
            // So those who come meanwhile do not ask, too.
            *asked = now;
        }
        let base = issuer.trim_end_matches('/');
        let url = self.url(&format!("{base}/.well-known/openid-configuration"))?;
        let mut document: Document = self.fetcher.json(&url, None).await?;
        check_issuer(url.as_str(), &document.issuer, issuer)?;
        document.keys = keys(&self.fetcher.json(&self.url(&document.jwks_uri)?, None).await?)?;
        let document = Arc::new(document);
        *last() = Some((now, Arc::clone(&document)));
        Ok(document)
    }

    /// A URL to which the browser goes, or the service with secrets: with TLS, or at the issuer itself.
    fn url(&self, text: &str) -> Result<Url, Failure> {
        let own = self.settings.issuer.url.origin();
        let url = Url::parse(text).ok();
        url.filter(|url| url.scheme() == "https" || url.origin() == own)
            .ok_or_else(|| Failure::Invalid(format!("{text:.200} is no URL with https://")))
    }
}
