//! An OpenID provider of the tests' own, which can lie at each step; and a shop whose staff signs in at it.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use petstore_console::{
    ConsoleSettings,
    openid::{Provider, ProviderSettings},
};
use petstore_system::addresses::Resolve;
use petstore_testing::clock::ManualClock;
use ring::digest;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use url::Url;

use super::{
    browser::{Browser, Page, Shop},
    provider_keys::Signing,
};

pub(crate) const CALLBACK: &str = "http://localhost:8081/sign-in/callback";
const SECRET: &str = "s3 cret&";

/// A name that leads to this machine, as do all others except this one.
pub(crate) const PRIVATE: &str = "inside.example";

struct Names;

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let address = if name == PRIVATE {
            [10, 1, 2, 3]
        } else {
            [127, 0, 0, 1]
        };
        Ok(vec![(address, port).into()])
    }
}

type Change = Box<dyn Fn(&mut Value) + Send>;

/// The place of the secret in the request that redeems a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretPlace {
    Head,
    Form,
}

/// What the provider does. A test changes it between the steps.
pub(crate) struct Says {
    /// The documents and other responses by their paths.
    pub(crate) documents: BTreeMap<String, Value>,
    /// Responses with another status, head or length.
    pub(crate) raw: BTreeMap<String, Vec<u8>>,
    pub(crate) signing: Signing,
    /// The id of the key, and the number from which it is made.
    pub(crate) key: (&'static str, u8),
    /// Changes the header and the claims of the next tokens.
    pub(crate) header: Change,
    pub(crate) claims: Change,
    /// Whether a code can be redeemed again, and without the secret of PKCE.
    pub(crate) is_careless: bool,
    pub(crate) secret_place: SecretPlace,
    /// Whether it says nothing about codes that it has not made.
    pub(crate) holds_invented_codes: bool,
    /// Whether it takes connections and says nothing.
    pub(crate) is_silent: bool,
    pub(crate) requests: Vec<String>,
    grants: HashMap<String, (HashMap<String, String>, Value)>,
    pub(crate) clock: Arc<ManualClock>,
}

pub(crate) struct FakeProvider {
    pub(crate) url: String,
    pub(crate) says: Arc<Mutex<Says>>,
    server: JoinHandle<()>,
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Says {
    fn respond(&mut self, path: &str, head: &str, body: &str) -> Vec<u8> {
        if let Some(raw) = self.raw.get(path) {
            return raw.clone();
        }
        if path == "/token" {
            let form: HashMap<String, String> = form_urlencoded::parse(body.as_bytes())
                .into_owned()
                .collect();
            return match self.redeem(&form, head) {
                Some(token) => ok(&json!({"access_token": "A", "token_type": "Bearer", "id_token": token})),
                None => b"HTTP/1.1 400 Bad Request\r\nContent-Length: 25\r\n\r\n{\"error\":\"invalid_grant\"}".to_vec(),
            };
        }
        if path == "/userinfo" {
            assert!(head.to_lowercase().contains("authorization: bearer a\r\n"));
        }
        if path == "/keys" && !self.documents.contains_key(path) {
            return ok(&json!({"keys": [self.jwk()]}));
        }
        self.documents.get(path).map_or_else(
            || b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
            ok,
        )
    }

    fn redeem(&mut self, form: &HashMap<String, String>, head: &str) -> Option<String> {
        let encoded =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let basic = STANDARD.encode(format!("{}:{}", encoded("shop"), encoded(SECRET)));
        let has_secret_in_head = head
            .to_lowercase()
            .contains(&format!("authorization: basic {basic}").to_lowercase());
        let has_secret_in_form = form
            .get("client_secret")
            .is_some_and(|secret| secret == SECRET)
            && form["client_id"] == "shop";
        assert_ne!(has_secret_in_head, has_secret_in_form);
        assert_eq!(has_secret_in_form, self.secret_place == SecretPlace::Form);
        let code = form.get("code")?;
        let (asked, claims) = self.grants.get(code)?.clone();
        if !self.is_careless {
            self.grants.remove(code);
            let verifier = digest::digest(&digest::SHA256, form.get("code_verifier")?.as_bytes());
            assert_eq!(
                URL_SAFE_NO_PAD.encode(verifier.as_ref()),
                asked["code_challenge"]
            );
            assert_eq!(form.get("redirect_uri")?, &asked["redirect_uri"]);
        }
        Some(self.token(claims))
    }
}

fn ok(document: &Value) -> Vec<u8> {
    response("200 OK", "", document.to_string().as_bytes())
}

pub(crate) fn response(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

impl FakeProvider {
    pub(crate) async fn start(clock: Arc<ManualClock>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let document = json!({
            "issuer": url,
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "jwks_uri": format!("{url}/keys"),
            "end_session_endpoint": format!("{url}/end"),
            "authorization_response_iss_parameter_supported": true,
        });
        let path = "/.well-known/openid-configuration".to_owned();
        let says = Arc::new(Mutex::new(Says {
            documents: BTreeMap::from([(path, document)]),
            raw: BTreeMap::new(),
            signing: Signing::EdDsa,
            key: ("first", 1),
            header: Box::new(|_| {}),
            claims: Box::new(|_| {}),
            is_careless: false,
            secret_place: SecretPlace::Head,
            holds_invented_codes: false,
            is_silent: false,
            requests: vec![],
            grants: HashMap::new(),
            clock,
        }));
        let saying = Arc::clone(&says);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&saying)));
            }
        });
        Self { url, says, server }
    }

    pub(crate) fn now_says(&self, change: impl FnOnce(&mut Says)) {
        change(&mut self.says.lock().unwrap());
    }

    /// Changes the document about the provider.
    pub(crate) fn documents(&self, name: &str, value: Value) {
        let path = "/.well-known/openid-configuration";
        self.now_says(|says| says.documents.get_mut(path).unwrap()[name] = value);
    }

    /// Offers these claims at userinfo.
    pub(crate) fn userinfo(&self, claims: &Value) {
        self.documents("userinfo_endpoint", json!(format!("{}/userinfo", self.url)));
        let claims = claims.clone();
        self.now_says(|says| {
            says.documents.insert("/userinfo".to_owned(), claims);
        });
    }

    pub(crate) fn requests(&self) -> usize {
        self.says.lock().unwrap().requests.len()
    }

    /// A person with these claims signs in there; returns the path to which the browser comes back.
    pub(crate) fn authorize(&self, leads_to: &str, claims: &Value) -> String {
        let url = Url::parse(leads_to).unwrap();
        assert_eq!(
            format!("{}{}", url.origin().ascii_serialization(), url.path()),
            format!("{}/authorize", self.url)
        );
        let asked: HashMap<String, String> = url.query_pairs().into_owned().collect();
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", "shop"),
            ("redirect_uri", CALLBACK),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(asked[name], value);
        }
        assert!(asked["scope"].split(' ').any(|scope| scope == "openid"));
        let mut says = self.says.lock().unwrap();
        let now = says.now();
        let mut all = json!({
            "iss": self.url, "aud": "shop", "iat": now, "exp": now + 300, "nonce": asked["nonce"],
        });
        if asked.contains_key("max_age") {
            all["auth_time"] = now.into();
        }
        for (name, value) in claims.as_object().unwrap() {
            all[name] = value.clone();
        }
        let code = format!("code-{}", says.grants.len() + says.requests.len());
        let state = asked["state"].clone();
        says.grants.insert(code.clone(), (asked, all));
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("code", &*code), ("state", &state), ("iss", &self.url)])
            .finish();
        format!("/sign-in/callback?{query}")
    }

    /// A logout token with these claims beside those that it must have.
    pub(crate) fn logout_token(&self, id: &str, claims: &Value) -> String {
        let says = self.says.lock().unwrap();
        let now = says.now();
        let mut all = json!({
            "iss": self.url, "aud": "shop", "iat": now, "exp": now + 120, "jti": id,
            "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
        });
        for (name, value) in claims.as_object().unwrap() {
            all[name] = value.clone();
        }
        says.token(all)
    }
}

async fn serve(mut stream: TcpStream, says: Arc<Mutex<Says>>) -> Option<()> {
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    let (head, mut body) = loop {
        let length = stream
            .read(&mut buffer)
            .await
            .ok()
            .filter(|length| *length > 0)?;
        read.extend(&buffer[..length]);
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            break (head.to_owned(), body.to_owned());
        }
    };
    let length = head.to_lowercase();
    let length = length
        .split("content-length: ")
        .nth(1)
        .and_then(|of| of.lines().next()?.parse().ok());
    while body.len() < length.unwrap_or(0) {
        let length = stream
            .read(&mut buffer)
            .await
            .ok()
            .filter(|length| *length > 0)?;
        body.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let response = {
        let mut says = says.lock().unwrap();
        says.requests.push(path.clone());
        let is_invented = path == "/token" && body.contains("code=invented-");
        if says.is_silent || is_invented && says.holds_invented_codes {
            None
        } else {
            Some(says.respond(&path, &head, &body))
        }
    };
    match response {
        Some(response) => {
            let _ = stream.write_all(&response).await;
            stream.shutdown().await.ok()
        }
        // Until the other side closes.
        None => stream.read(&mut buffer).await.map(drop).ok(),
    }
}

/// The usual choices of an operator.
pub(crate) fn settings(issuer: &str) -> ProviderSettings {
    let roles = [
        "groups=managers:manager",
        "groups=clerks:clerk",
        "email=boss@shop.example:manager",
    ];
    ProviderSettings {
        issuer: issuer.parse().unwrap(),
        client_id: "shop".to_owned(),
        client_secret: Some(SECRET.to_owned()),
        scope: None,
        roles: roles.map(|rule| rule.parse().unwrap()).to_vec(),
        only: false,
        redirects: false,
    }
}

impl Shop {
    /// A shop, and its provider.
    pub(crate) async fn with_provider() -> (Self, FakeProvider) {
        Self::with_provider_and(|_| {}).await
    }

    pub(crate) async fn with_provider_and(
        change: impl FnOnce(&mut ProviderSettings),
    ) -> (Self, FakeProvider) {
        let url = Some("http://localhost:8081".parse().unwrap());
        let settings = ConsoleSettings {
            url,
            ..ConsoleSettings::default()
        };
        Self::with(settings).await.and_provider(change).await
    }

    /// The shop with a new provider.
    pub(crate) async fn and_provider(
        self,
        change: impl FnOnce(&mut ProviderSettings),
    ) -> (Self, FakeProvider) {
        let provider = FakeProvider::start(self.clock.clone()).await;
        let mut settings = settings(&provider.url);
        change(&mut settings);
        (self.at(settings, Duration::from_mins(1)), provider)
    }

    /// The shop with another provider, or another time for it.
    pub(crate) fn at(mut self, settings: ProviderSettings, limit: Duration) -> Self {
        let clock = self.clock.clone();
        let provider = Provider::new(settings, Box::new(Names), None, limit, clock).unwrap();
        self.console = self.console.with_provider(Some(provider));
        self
    }
}

impl Browser<'_> {
    /// Goes to the provider, and returns where the browser comes back for this person.
    pub(crate) async fn leave(&mut self, path: &str, at: &FakeProvider, person: &Value) -> String {
        let leads_to = self.get(path).await.expect(303).next().to_owned();
        at.authorize(&leads_to, person)
    }

    /// Signs in at the provider as this person.
    pub(crate) async fn sign_in_at(&mut self, at: &FakeProvider, person: &Value) -> Page {
        let back = self.leave("/sign-in/provider", at, person).await;
        self.get(&back).await
    }
}

/// A clerk of the provider.
pub(crate) fn ana() -> Value {
    json!({"sub": "ana-1", "groups": ["clerks"], "preferred_username": "Ana", "sid": "session-1"})
}

pub(crate) fn manager() -> Value {
    json!({"sub": "max-1", "groups": ["clerks", "managers"], "preferred_username": "Max"})
}
