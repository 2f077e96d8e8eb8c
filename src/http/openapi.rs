//! The contract as this service serves it: `openapi.yaml`, with the servers of
//! this installation filled in, and without what has been removed.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderValue};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{App, Response, deprecation};
use crate::config::BaseUrl;

/// The document as it stands in the repository.
const SOURCE: &str = include_str!("../../openapi.yaml");

/// Marks, in the source, what leaves the document when `getPet` is removed.
const REMOVED_WITH_GET_PET: &str = "x-sunset";

/// The document in one state of the service.
pub struct Document {
    /// As JSON.
    pub json: Bytes,
    /// As YAML.
    pub yaml: Bytes,
}

/// The document before and after the removal of `getPet`.
pub struct Documents {
    before: Document,
    after: Document,
}

/// `openapi.yaml` cannot be made into the document; a fault of the build.
#[derive(Debug, thiserror::Error)]
#[error("the OpenAPI document cannot be rendered: {0}")]
pub struct DocumentError(pub(super) String);

impl Documents {
    /// Fills in the base addresses of the two deployments, as far as they are
    /// known; `/v1` on the same host if neither is.
    ///
    /// # Errors
    ///
    /// Only if `openapi.yaml` is broken.
    pub fn new(
        production: Option<&BaseUrl>,
        staging: Option<&BaseUrl>,
    ) -> Result<Self, DocumentError> {
        let mut document: Value =
            serde_saphyr::from_str(SOURCE).map_err(|error| DocumentError(error.to_string()))?;
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
        Ok(Self { before: Document::render(&document)?, after: Document::render(&after)? })
    }

    /// The document as of `now`.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> &Document {
        if deprecation::is_removed_at(now) { &self.after } else { &self.before }
    }
}

impl Document {
    fn render(document: &Value) -> Result<Self, DocumentError> {
        let json = serde_json::to_vec_pretty(document)
            .map_err(|error| DocumentError(error.to_string()))?;
        let yaml = serde_saphyr::to_string(&Plain(document))
            .map_err(|error| DocumentError(error.to_string()))?;
        Ok(Self { json: json.into(), yaml: yaml.into() })
    }
}

/// A value with numbers as numbers. `arbitrary_precision`, which the parser of
/// bodies needs, makes `serde_json` show them to other formats as maps.
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

/// Takes out of `value` every object that goes with `getPet`, and every
/// reference to one. `document` is the whole, as it was.
fn prune(value: &mut Value, document: &Value) {
    let goes = |member: &Value| {
        let referred = member
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| document.pointer(reference.strip_prefix('#')?));
        referred.unwrap_or(member).get(REMOVED_WITH_GET_PET).is_some()
    };
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !goes(member));
            for member in members.values_mut() {
                prune(member, document);
            }
        }
        Value::Array(elements) => {
            elements.retain(|element| !goes(element));
            for element in elements {
                prune(element, document);
            }
        }
        _ => {}
    }
}

/// `GET /openapi.json`.
pub(super) fn json(app: &App) -> Response {
    response("application/json", app.documents.at(app.clock.now()).json.clone())
}

/// `GET /openapi.yaml` (media type: RFC 9512).
pub(super) fn yaml(app: &App) -> Response {
    response("application/yaml", app.documents.at(app.clock.now()).yaml.clone())
}

fn response(media_type: &'static str, document: Bytes) -> Response {
    let mut response = Response::new(Full::new(document));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
