//! Serves the OpenAPI documents of the contract and of the store area, with the servers of this
//! installation, and without operations that have been removed.
//!
//! The repository has each document as YAML and as JSON, so that neither the build nor the service has to
//! parse YAML. A test generates them from the sources that people edit.

use std::{collections::HashMap, sync::Arc};

use hyper::{header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_domain::named_enum::named_enum;
use petstore_web::edge::{ApiError, BaseUrl, Response, request};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::document::{Document, make_on_blocking_thread};
use crate::{context::Settings, contract::deprecation};

/// The member that marks the parts of the contract that are removed together with `getPet`.
const REMOVED_WITH_GET_PET: &str = "x-sunset";

/// The placeholder in the YAML files that is replaced by the servers of the installation.
const SERVERS_IN_YAML: &str = "servers:\n  - url: /v1\n    description: This service\n";

/// The placeholder in the JSON files that is replaced by the servers of the installation.
const SERVERS_IN_JSON: &str = r#""servers": [
    {
      "url": "/v1",
      "description": "This service"
    }
  ]"#;

/// The maximum number of cached documents. Once it is reached, a request with a new host gets the document
/// with the configured servers, so that requests with made-up hosts do not use up the memory.
const MAX_DOCUMENTS: usize = 64;

/// The headers by which a proxy shows that it has forwarded the request.
const PROXY_HEADERS: [&str; 5] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
];

/// An OpenAPI document of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenApi {
    /// `openapi.yaml`.
    Contract,
    /// `openapi-store.yaml`.
    StoreArea,
}

named_enum! {
    /// The format of a document.
    pub enum Format {
        /// Media type: RFC 9512.
        Yaml = "yaml",
        /// Media type: RFC 8259.
        Json = "json",
    }
}

/// The embedded text of a document in each format.
struct EmbeddedTexts {
    yaml: &'static str,
    json: &'static str,
}

/// A server at which clients reach the service.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Server {
    url: BaseUrl,
    description: &'static str,
}

/// The `servers` of a document. If there are none, the document keeps the relative URL `/v1`.
pub(crate) type Servers = Vec<Server>;

/// The OpenAPI documents, rendered and cached for each set of servers.
pub struct OpenApiDocuments {
    /// The configured servers. If there are none, a document contains the URL at which the request arrived.
    servers: Servers,
    tls: bool,
    documents: Mutex<HashMap<DocumentKey, Arc<OnceCell<Document>>>>,
}

/// An entry of the cache.
struct CacheEntry {
    key: DocumentKey,
    /// Empty until the document has been rendered.
    cell: Arc<OnceCell<Document>>,
}

/// The cache key of a document: everything on which its text depends.
#[derive(Clone, PartialEq, Eq, Hash)]
struct DocumentKey {
    document: OpenApi,
    format: Format,
    servers: Servers,
    is_after_removal: bool,
}

impl OpenApi {
    /// Returns the embedded texts of the document.
    fn embedded_texts(self) -> EmbeddedTexts {
        match self {
            Self::Contract => EmbeddedTexts {
                yaml: include_str!("../../../../openapi/openapi.yaml"),
                json: include_str!("../../../../openapi/openapi.json"),
            },
            Self::StoreArea => EmbeddedTexts {
                yaml: include_str!("../../../../openapi/openapi-store.yaml"),
                json: include_str!("../../../../openapi/openapi-store.json"),
            },
        }
    }
}

/// Returns the servers with these base URLs.
pub fn servers(production: Option<&BaseUrl>, staging: Option<&BaseUrl>) -> Servers {
    let mut servers = Vec::new();
    if let Some(url) = production {
        servers.push(Server {
            url: url.clone(),
            description: "Production",
        });
    }
    if let Some(url) = staging {
        servers.push(Server {
            url: url.clone(),
            description: "Staging",
        });
    }
    servers
}

/// Returns the list with a single server at this URL.
pub fn this_service(url: BaseUrl) -> Servers {
    vec![Server {
        url,
        description: "This service",
    }]
}

/// Returns the text of a document with these servers, without the operations that are removed by `now`. Fails
/// only if the embedded JSON is invalid.
pub fn text(
    document: OpenApi,
    format: Format,
    servers: &Servers,
    now: Timestamp,
) -> Result<String, serde_json::Error> {
    let EmbeddedTexts { yaml, json } = document.embedded_texts();
    let server_list: Vec<_> = servers
        .iter()
        .map(|server| json!({ "url": server.url.as_str(), "description": server.description }))
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

/// Returns the contract as it is after the removal of `getPet`, as JSON. JSON is also valid YAML (YAML
/// 1.2.2, section 1.3), so this serves both formats.
fn text_after_removal(json: &str, server_list: Vec<Value>) -> Result<String, serde_json::Error> {
    let original: Value = serde_json::from_str(json)?;
    let mut document = original.clone();
    prune(&mut document, &original);
    if !server_list.is_empty() {
        document["servers"] = server_list.into();
    }
    serde_json::to_string_pretty(&document)
}

/// Removes from `value` every part that is marked with [`REMOVED_WITH_GET_PET`], and every reference to
/// such a part. References are resolved in `original`, the whole document before the removal.
fn prune(value: &mut Value, original: &Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !is_removed(member, original));
            for member in members.values_mut() {
                prune(member, original);
            }
        }
        Value::Array(elements) => {
            elements.retain(|element| !is_removed(element, original));
            for element in elements {
                prune(element, original);
            }
        }
        _ => {}
    }
}

/// Whether a part of a document, or the part to which it refers, is marked with [`REMOVED_WITH_GET_PET`].
fn is_removed(part: &Value, original: &Value) -> bool {
    let reference = part.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|path| original.pointer(path.strip_prefix('#')?));
    target.unwrap_or(part).get(REMOVED_WITH_GET_PET).is_some()
}

impl OpenApiDocuments {
    /// Creates an empty cache for the service with these settings.
    pub fn new(settings: &Settings) -> Self {
        let configured_servers = servers(
            settings.base_url.as_ref(),
            settings.staging_base_url.as_ref(),
        );
        Self {
            servers: configured_servers,
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
        let CacheEntry { key, cell } = self.find_or_add_entry(request, document, format, now);
        let rendered_document = cell
            .get_or_try_init(|| make_on_blocking_thread(move || make_document(&key, now)))
            .await?;
        Ok(rendered_document.response(&request.headers).await)
    }

    /// Finds the cache entry of the document for a request. Adds an empty entry if there is none.
    fn find_or_add_entry(
        &self,
        request: &Parts,
        document: OpenApi,
        format: Format,
        now: Timestamp,
    ) -> CacheEntry {
        let servers = match request_base_url(request, self.tls) {
            Some(url) if self.servers.is_empty() => this_service(url),
            _ => self.servers.clone(),
        };
        let is_after_removal = deprecation::is_removed_at(now);
        let mut key = DocumentKey {
            document,
            format,
            servers,
            is_after_removal,
        };
        let mut documents = self.documents.lock();
        if documents.len() >= MAX_DOCUMENTS && !documents.contains_key(&key) {
            // There are only a few documents with the configured servers, so these may exceed the limit.
            key.servers.clone_from(&self.servers);
        }
        let cell = Arc::clone(documents.entry(key.clone()).or_default());
        CacheEntry { key, cell }
    }
}

/// Renders and hashes a document.
fn make_document(key: &DocumentKey, now: Timestamp) -> Result<Document, serde_json::Error> {
    let document_text = text(key.document, key.format, &key.servers, now)?;
    let media_type = match key.format {
        Format::Yaml => "application/yaml",
        Format::Json => "application/json",
    };
    let media_type = HeaderValue::from_static(media_type);
    Ok(Document::new(media_type, document_text.into()))
}

/// Returns the base URL at which the request arrived. Returns `None` if its host is invalid, and in two cases
/// in which the URL may be wrong:
///
/// - A proxy has forwarded the request. The proxy may use TLS to the client.
/// - A page of this service has sent the request, according to `Sec-Fetch-Site`. The page resolves relative
///   URLs by its own address.
///
/// Without a base URL, the document has a relative URL, which is always right.
fn request_base_url(request: &Parts, tls: bool) -> Option<BaseUrl> {
    let headers = &request.headers;
    let fetch_site = headers.get("sec-fetch-site");
    let is_from_own_page = fetch_site.is_some_and(|site| site == "same-origin");
    let is_forwarded = PROXY_HEADERS.iter().any(|name| headers.contains_key(*name));
    if is_from_own_page || is_forwarded {
        return None;
    }
    let host = request::host(request)?;
    // The host comes from the client and is inserted into a document. These characters have no special
    // meaning in a JSON or YAML string, or in another part of a URL.
    let is_safe = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
    if !is_safe {
        return None;
    }
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{host}/v1").parse().ok()
}
