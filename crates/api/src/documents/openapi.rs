//! The OpenAPI documents that this service serves: the contract and the store area, with the servers
//! of this installation, and without operations that have been removed.
//!
//! The repository has each document in both forms, so that no build and no start of the
//! service parses YAML. A test writes them from what people edit.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::HashMap, sync::Arc};

use hyper::{header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_domain::words::words;
use petstore_web::edge::{ApiError, BaseUrl, Response, request};
use serde_json::{Value, json};
use tokio::{sync::OnceCell, task};

use super::document::Document;
use crate::{context::Settings, contract::deprecation};

/// Marks the parts of the contract that leave it when `getPet` is removed.
const REMOVED_WITH_GET_PET: &str = "x-sunset";

/// The servers in the YAML files, in place of the servers of the installation.
const SERVERS_IN_YAML: &str = "servers:\n  - url: /v1\n    description: This service\n";

/// The servers in the JSON files, in place of the servers of the installation.
const SERVERS_IN_JSON: &str = r#""servers": [
    {
      "url": "/v1",
      "description": "This service"
    }
  ]"#;

/// An OpenAPI document of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenApi {
    /// `openapi.yaml`.
    Contract,
    /// `openapi-store.yaml`.
    StoreArea,
}

words! {
    /// The form of a document.
    pub enum Format {
        /// Media type: RFC 9512.
        Yaml = "yaml",
        /// Media type: RFC 8259.
        Json = "json",
    }
}

/// The `servers` of a document: each a URL and its description. Without any, the document has the
/// relative address `/v1`.
pub(crate) type Servers = Vec<(BaseUrl, &'static str)>;

/// Returns the servers with these base URLs.
pub fn servers(production: Option<&BaseUrl>, staging: Option<&BaseUrl>) -> Servers {
    let named = [(production, "Production"), (staging, "Staging")];
    named
        .into_iter()
        .filter_map(|(url, name)| Some((url?.clone(), name)))
        .collect()
}

/// Returns the servers of a service with this address.
pub fn this_service(url: BaseUrl) -> Servers {
    vec![(url, "This service")]
}

/// Returns the text of a document at the time `now`. Fails only if the build is broken.
pub fn text(
    document: OpenApi,
    format: Format,
    servers: &Servers,
    now: Timestamp,
) -> Result<String, serde_json::Error> {
    let (yaml, json) = match document {
        OpenApi::Contract => (
            include_str!("../../../../openapi/openapi.yaml"),
            include_str!("../../../../openapi/openapi.json"),
        ),
        OpenApi::StoreArea => (
            include_str!("../../../../openapi/openapi-store.yaml"),
            include_str!("../../../../openapi/openapi-store.json"),
        ),
    };
    let server_list: Vec<_> = servers
        .iter()
        .map(|(url, description)| json!({ "url": url.as_str(), "description": description }))
        .collect();
    if deprecation::is_removed_at(now) && document == OpenApi::Contract {
        return text_after_removal(json, server_list);
    }
    let source = match format {
        Format::Yaml => yaml,
        Format::Json => json,
    };
    if servers.is_empty() {
        return Ok(source.to_owned());
    }
    let server_list = Value::from(server_list);
    Ok(match format {
        Format::Yaml => source.replacen(SERVERS_IN_YAML, &format!("servers: {server_list}\n"), 1),
        Format::Json => source.replacen(SERVERS_IN_JSON, &format!("\"servers\": {server_list}"), 1),
    })
}

/// Returns the contract without the operations that are removed with `getPet`, as JSON, which is also YAML (YAML 1.2.2,
/// section 1.3).
fn text_after_removal(json: &str, server_list: Vec<Value>) -> Result<String, serde_json::Error> {
    let before: Value = serde_json::from_str(json)?;
    let mut after = before.clone();
    prune(&mut after, &before);
    if !server_list.is_empty() {
        after["servers"] = server_list.into();
    }
    serde_json::to_string_pretty(&after)
}

/// Removes from `value` every object that is removed with `getPet`, and every reference to one.
/// `document` is the whole document before the removal.
fn prune(value: &mut Value, document: &Value) {
    let is_removed = |member: &Value| {
        let referred = member
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| document.pointer(reference.strip_prefix('#')?));
        referred
            .unwrap_or(member)
            .get(REMOVED_WITH_GET_PET)
            .is_some()
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

/// The largest number of documents that are kept. A request for another address gets the relative
/// one, so invented hosts do not exhaust memory.
const MAX_DOCUMENTS: usize = 64;

/// Both documents for all requests.
pub struct Served {
    /// The servers of the settings. If there are none, a document names the address in the request.
    servers: Servers,
    tls: bool,
    documents: Mutex<HashMap<Form, Arc<OnceCell<Document>>>>,
}

/// The inputs on which a document depends.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Form {
    document: OpenApi,
    format: Format,
    servers: Servers,
    is_after_removal: bool,
}

impl Served {
    pub fn new(settings: &Settings) -> Self {
        let contract_servers = servers(
            settings.base_url.as_ref(),
            settings.staging_base_url.as_ref(),
        );
        Self {
            servers: contract_servers,
            tls: settings.tls,
            documents: Mutex::default(),
        }
    }

    /// Responds to a request for a document.
    pub(super) async fn response(
        &self,
        request: &Parts,
        document: OpenApi,
        format: Format,
        now: Timestamp,
    ) -> Result<Response, ApiError> {
        let (form, place) = self.place(request, document, format, now);
        let document = place.get_or_try_init(|| render(form, now)).await?;
        Ok(document.response(&request.headers).await)
    }

    /// Returns the form of the document for a request, and its place among the documents that are kept.
    fn place(
        &self,
        request: &Parts,
        document: OpenApi,
        format: Format,
        now: Timestamp,
    ) -> (Form, Arc<OnceCell<Document>>) {
        let servers = match received_url(request, self.tls) {
            Some(url) if self.servers.is_empty() => this_service(url),
            _ => self.servers.clone(),
        };
        let is_after_removal = deprecation::is_removed_at(now);
        let mut form = Form {
            document,
            format,
            servers,
            is_after_removal,
        };
        let mut documents = self.documents.lock();
        if documents.len() >= MAX_DOCUMENTS && !documents.contains_key(&form) {
            form.servers.clone_from(&self.servers);
        }
        let place = Arc::clone(documents.entry(form.clone()).or_default());
        (form, place)
    }
}

/// Renders and hashes a document on a separate thread, because the file is large.
async fn render(form: Form, now: Timestamp) -> Result<Document, ApiError> {
    let document = task::spawn_blocking(move || {
        let document_text = text(form.document, form.format, &form.servers, now)?;
        let media_type = HeaderValue::from_static(match form.format {
            Format::Yaml => "application/yaml",
            Format::Json => "application/json",
        });
        Ok(Document::new(media_type, document_text.into()))
    })
    .await
    .map_err(|error| serde_json::Error::io(error.into()));
    document
        .flatten()
        .map_err(|error| ApiError::internal(Arc::new(error)))
}

/// Header fields that show that a proxy forwarded the request.
const FORWARDED: [&str; 5] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
];

/// Returns the base URL at which the service received the request. Returns `None` if the host is invalid, and in
/// two cases where a relative address is right and this one may be wrong: a proxy may use TLS to
/// the client, and a page of the service itself (confirmed by `Sec-Fetch-Site`) has its own
/// address.
fn received_url(request: &Parts, tls: bool) -> Option<BaseUrl> {
    let headers = &request.headers;
    let same_origin = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "same-origin");
    if same_origin || FORWARDED.iter().any(|name| headers.contains_key(*name)) {
        return None;
    }
    let host = request::host(request)?;
    // These characters have no special meaning in JSON, in YAML or elsewhere in a URL.
    let is_harmless = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
    if !is_harmless {
        return None;
    }
    format!("{}://{host}/v1", if tls { "https" } else { "http" })
        .parse()
        .ok()
}
