//! The OpenAPI documents that this service serves: the contract and the store area, with the servers
//! of this installation, and without operations that have been removed.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use hyper::{header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{document::Document, server_url};
use crate::http::{
    App, BaseUrl, Response, Settings,
    contract::deprecation,
    error::ApiError,
    routes::{Call, OpenApi},
};

/// Marks the parts of the contract that leave it when `getPet` is removed.
const REMOVED_WITH_GET_PET: &str = "x-sunset";

impl OpenApi {
    /// The document in the repository.
    const fn source(self) -> &'static str {
        match self {
            Self::Contract => include_str!("../../../openapi.yaml"),
            Self::StoreArea => include_str!("../../../openapi-store.yaml"),
        }
    }
}

/// A document as JSON and YAML.
pub struct Forms {
    pub(crate) json: Document,
    /// As YAML (media type: RFC 9512).
    pub(crate) yaml: Document,
}

/// A document before and after the removal of `getPet`, of which the store area is independent.
pub struct Documents {
    before: Forms,
    after: Option<Forms>,
}

/// The largest number of server addresses whose documents are cached. A request for another address
/// gets the relative one, so invented hosts take neither memory nor time.
const MAX_SERVERS: usize = 32;

/// Both documents for all requests.
pub(crate) struct Served {
    contract: ServedDocument,
    store_area: ServedDocument,
}

/// One document for all requests.
struct ServedDocument {
    /// With the configured base URLs, or else a relative address.
    documents: Arc<Documents>,
    /// With the address in the request, by that address. Only if no base URL is configured.
    by_server: Option<Mutex<HashMap<String, Arc<Documents>>>>,
    tls: bool,
}

impl Served {
    pub(crate) fn new(settings: &Settings) -> Result<Self, DocumentError> {
        Ok(Self {
            contract: ServedDocument::new(OpenApi::Contract, settings)?,
            store_area: ServedDocument::new(OpenApi::StoreArea, settings)?,
        })
    }

    fn for_request(&self, request: &Parts) -> Arc<Documents> {
        let is_store_area = request.uri.path().starts_with("/openapi-store.");
        if is_store_area { &self.store_area } else { &self.contract }.for_request(request)
    }
}

impl ServedDocument {
    fn new(document: OpenApi, settings: &Settings) -> Result<Self, DocumentError> {
        let (production, staging) = (&settings.base_url, &settings.staging_base_url);
        let is_relative = production.is_none() && staging.is_none();
        Ok(Self {
            documents: Arc::new(Documents::new(document, production.as_ref(), staging.as_ref())?),
            by_server: is_relative.then(Mutex::default),
            tls: settings.tls,
        })
    }

    fn for_request(&self, request: &Parts) -> Arc<Documents> {
        let named = self.by_server.as_ref().zip(server_url::of(request, self.tls));
        let Some((by_server, server)) = named else {
            return Arc::clone(&self.documents);
        };
        let mut by_server = by_server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = by_server.get(server.as_str()) {
            return Arc::clone(known);
        }
        if by_server.len() >= MAX_SERVERS {
            return Arc::clone(&self.documents);
        }
        let documents = Arc::new(self.documents.at_server(&server));
        by_server.insert(server.as_str().to_owned(), Arc::clone(&documents));
        documents
    }
}

/// A document cannot be parsed or rendered: an error in the build.
#[derive(Debug, thiserror::Error)]
#[error("the OpenAPI document cannot be rendered: {0}")]
pub struct DocumentError(pub(crate) String);

impl Documents {
    /// Sets the servers to the known base URLs, or to a relative `/v1` if there are none. Fails
    /// only if the document is broken.
    pub fn new(
        document: OpenApi,
        production: Option<&BaseUrl>,
        staging: Option<&BaseUrl>,
    ) -> Result<Self, DocumentError> {
        let mut document: Value = serde_saphyr::from_str(document.source())
            .map_err(|error| DocumentError(error.to_string()))?;
        let named = |url: Option<&BaseUrl>, description: &str| {
            url.map(|url| json!({ "url": url.as_str(), "description": description }))
        };
        let servers: Vec<Value> = [named(production, "Production"), named(staging, "Staging")]
            .into_iter()
            .flatten()
            .collect();
        if !servers.is_empty() {
            document["servers"] = servers.into();
        }
        let mut after = document.clone();
        prune(&mut after, &document);
        let after = (after != document).then(|| Forms::render(&after)).transpose()?;
        Ok(Self { before: Forms::render(&document)?, after })
    }

    /// The same documents with `server` instead of the relative address.
    #[must_use]
    pub fn at_server(&self, server: &BaseUrl) -> Self {
        Self {
            before: self.before.at_server(server),
            after: self.after.as_ref().map(|after| after.at_server(server)),
        }
    }

    /// The document at the time `now`.
    pub fn at(&self, now: Timestamp) -> &Forms {
        let after = self.after.as_ref().filter(|_| deprecation::is_removed_at(now));
        after.unwrap_or(&self.before)
    }
}

impl Forms {
    fn at_server(&self, server: &BaseUrl) -> Self {
        let put = |document: &Document, before: &str, after: &str| {
            let relative = format!("{before}/v1{after}");
            let absolute = format!("{before}{}{after}", server.as_str());
            let text = String::from_utf8_lossy(document.body()).replacen(&relative, &absolute, 1);
            document.with_body(text.into())
        };
        Self { json: put(&self.json, r#""url": ""#, r#"""#), yaml: put(&self.yaml, "url: ", "\n") }
    }

    fn render(document: &Value) -> Result<Self, DocumentError> {
        let json = serde_json::to_vec_pretty(document)
            .map_err(|error| DocumentError(error.to_string()))?;
        let yaml = serde_saphyr::to_string(&Plain(document))
            .map_err(|error| DocumentError(error.to_string()))?;
        Ok(Self {
            json: Document::new(HeaderValue::from_static("application/json"), json.into()),
            yaml: Document::new(HeaderValue::from_static("application/yaml"), yaml.into()),
        })
    }

    pub fn json(&self) -> &Bytes {
        self.json.body()
    }

    pub fn yaml(&self) -> &Bytes {
        self.yaml.body()
    }
}

/// Serializes numbers as numbers. With `arbitrary_precision`, which body parsing needs,
/// `serde_json` presents them to other formats as maps.
struct Plain<'v>(&'v Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Number(number) => match number.as_i64() {
                Some(integer) => serializer.serialize_i64(integer),
                None => serializer.serialize_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::Array(elements) => serializer.collect_seq(elements.iter().map(Plain)),
            Value::Object(members) => {
                serializer.collect_map(members.iter().map(|(name, member)| (name, Plain(member))))
            }
            other => other.serialize(serializer),
        }
    }
}

/// Removes from `value` every object that is removed with `getPet`, and every reference to one.
/// `document` is the whole document before the removal.
fn prune(value: &mut Value, document: &Value) {
    let is_removed = |member: &Value| {
        let referred = member
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| document.pointer(reference.strip_prefix('#')?));
        referred.unwrap_or(member).get(REMOVED_WITH_GET_PET).is_some()
    };
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !is_removed(member));
            for member in members.values_mut() {
                prune(member, document);
            }
        }
        Value::Array(elements) => {
            elements.retain(|element| !is_removed(element));
            for element in elements {
                prune(element, document);
            }
        }
        _ => {}
    }
}

pub(crate) async fn json(app: &App, Call { request, .. }: Call<'_>) -> Result<Response, ApiError> {
    let documents = app.documents.for_request(request);
    Ok(documents.at(app.clock.now()).json.response(&request.headers).await)
}

pub(crate) async fn yaml(app: &App, Call { request, .. }: Call<'_>) -> Result<Response, ApiError> {
    let documents = app.documents.for_request(request);
    Ok(documents.at(app.clock.now()).yaml.response(&request.headers).await)
}
