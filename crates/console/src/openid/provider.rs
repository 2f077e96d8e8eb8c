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
use petstore_app::turns::{Caller, NoTurn, TurnLimits, Turns};
use petstore_domain::Clock;
use petstore_system::addresses::Resolve;
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

/// How long a request to the provider may take.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// How long what the provider says about itself is used, and how soon it is asked again because of a token
/// with another key.
const MAX_AGE: Duration = Duration::from_hours(1);
const MIN_PAUSE: Duration = Duration::from_secs(10);

/// The turns of requests that redeem codes. With those of its turns, a caller has 24 requests, and the last one waits for 11
/// others.
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
pub struct SignIn {
    /// Where the browser comes back.
    pub redirect: String,
    pub state: String,
    pub nonce: String,
    /// The secret of PKCE.
    pub verifier: String,
    /// Whether the person must prove again who they are.
    pub again: bool,
}

/// A provider, with what it last said about itself.
pub struct Provider {
    /// The choices of the operator.
    pub settings: ProviderSettings,
    fetcher: Fetcher,
    clock: Arc<dyn Clock>,
    turns: Arc<Turns>,
    known: Mutex<Known>,
    /// The turn to ask what the provider says about itself.
    flight: tokio::sync::Mutex<()>,
}

/// What the provider has said about itself, and how it was asked.
#[derive(Default)]
struct Known {
    /// The last document that arrived.
    document: Option<Arc<Document>>,
    arrived_at: Option<Instant>,
    asked_at: Option<Instant>,
    /// The number of flights that have ended: times that the provider was asked and has responded, or failed to.
    flights: u64,
    /// The result of the last flight.
    result: Option<Result<Arc<Document>, Failure>>,
}

impl Known {
    /// Returns the last document, if it has arrived within `MAX_AGE`.
    fn fresh(&self, now: Instant) -> Option<Arc<Document>> {
        let age = now.saturating_duration_since(self.arrived_at?);
        if age < MAX_AGE {
            self.document.clone()
        } else {
            None
        }
    }

    /// Whether it was asked within `MIN_PAUSE`.
    fn was_just_asked(&self, now: Instant) -> bool {
        self.asked_at
            .is_some_and(|asked| now.saturating_duration_since(asked) < MIN_PAUSE)
    }
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
            known: Mutex::default(),
            flight: tokio::sync::Mutex::default(),
        })
    }

    /// Where the browser goes to sign in.
    pub(crate) async fn authorization_url(&self, of: &SignIn) -> Result<Url, Failure> {
        let mut url = self.url(&self.document().await?.authorization_endpoint)?;
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
    pub async fn person(
        &self,
        caller: Caller,
        of: &SignIn,
        code: &str,
        issuer: Option<&str>,
        now: Timestamp,
    ) -> Result<Person, Failure> {
        #[derive(Deserialize)]
        struct Tokens {
            id_token: String,
        }
        let document = self.document().await?;
        if issuer.is_some() || document.authorization_response_iss_parameter_supported {
            let found = issuer.unwrap_or_default();
            check_issuer("the response", found, self.settings.issuer.as_str())?;
        }
        let (url, form) = (self.url(&document.token_endpoint)?, self.form(of, code));
        let turn = self.turns.take(caller).await.map_err(without_turn)?;
        let tokens: Tokens = self.fetcher.json(&url, Some(form)).await?;
        drop(turn);
        let token = self.verified(&tokens.id_token).await?;
        claims::person(&token, &self.settings, &of.nonce, now)
    }

    /// The form that redeems a code.
    fn form(&self, of: &SignIn, code: &str) -> Form {
        let ProviderSettings {
            client_id,
            client_secret,
            ..
        } = &self.settings;
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
        let document = self.document().await.ok()?;
        let mut url = self.url(document.end_session_endpoint.as_ref()?).ok()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("post_logout_redirect_uri", back);
        Some(url)
    }

    /// The content of a token with a valid signature.
    async fn verified(&self, token: &str) -> Result<Vec<u8>, Failure> {
        let document = self.document().await?;
        if let Some(content) = content(token, &document.keys)? {
            return Ok(content);
        }
        // The provider may have a new key.
        let document = self.document_after(&document).await?;
        let unknown = || Failure::Invalid("no key has the id of the token (kid)".to_owned());
        content(token, &document.keys)?.ok_or_else(unknown)
    }

    /// Returns what the provider says about itself. It is asked unless it has said so within `MAX_AGE`.
    async fn document(&self) -> Result<Arc<Document>, Failure> {
        if let Some(document) = self.known.lock().fresh(self.clock.instant()) {
            return Ok(document);
        }
        self.asked().await
    }

    /// Returns what the provider says about itself after this document, which it is not asked more often than every
    /// `MIN_PAUSE`: strangers can send tokens of keys that do not exist.
    async fn document_after(&self, old: &Arc<Document>) -> Result<Arc<Document>, Failure> {
        {
            let known = self.known.lock();
            let last = known.document.as_ref().unwrap_or(old);
            if !Arc::ptr_eq(last, old) || known.was_just_asked(self.clock.instant()) {
                return Ok(Arc::clone(last));
            }
        }
        self.asked().await
    }

    /// Asks the provider what it says about itself. Those who come meanwhile get the same response, or the same failure.
    async fn asked(&self) -> Result<Arc<Document>, Failure> {
        let flights = self.known.lock().flights;
        let _flight = self.flight.lock().await;
        {
            let mut known = self.known.lock();
            if known.flights != flights
                && let Some(result) = &known.result
            {
                return result.clone();
            }
            known.asked_at = Some(self.clock.instant());
        }

        let result = self.fetch().await;
        let mut known = self.known.lock();
        known.flights += 1;
        known.result = Some(result.clone());
        if let Ok(document) = &result {
            known.document = Some(Arc::clone(document));
            known.arrived_at = Some(self.clock.instant());
        }
        result
    }

    /// Fetches what the provider says about itself, with its keys.
    async fn fetch(&self) -> Result<Arc<Document>, Failure> {
        let issuer = self.settings.issuer.as_str();
        let base = issuer.trim_end_matches('/');
        let url = self.url(&format!("{base}/.well-known/openid-configuration"))?;
        let mut document: Document = self.fetcher.json(&url, None).await?;
        check_issuer(url.as_str(), &document.issuer, issuer)?;
        document.keys = keys(
            &self
                .fetcher
                .json(&self.url(&document.jwks_uri)?, None)
                .await?,
        )?;
        Ok(Arc::new(document))
    }

    /// A URL to which the browser goes, or the service with secrets: with TLS, or at the issuer itself.
    fn url(&self, text: &str) -> Result<Url, Failure> {
        let own = self.settings.issuer.url.origin();
        let url = Url::parse(text).ok();
        url.filter(|url| url.scheme() == "https" || url.origin() == own)
            .ok_or_else(|| Failure::Invalid(format!("{text:.200} is no URL with https://")))
    }
}

fn without_turn(error: NoTurn) -> Failure {
    Failure::Unreachable(match error {
        NoTurn::Full => "too many requests wait for the provider".to_owned(),
        NoTurn::Late => "no turn at the provider came in time".to_owned(),
    })
}
