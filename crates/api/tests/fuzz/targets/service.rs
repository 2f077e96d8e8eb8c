//! The service that all targets share, and the checks for each of its responses.

use std::{
    net::IpAddr,
    sync::{Arc, LazyLock},
    time::Instant,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, StatusCode, header};
use jiff::Timestamp;
use petstore_api::Api;
use petstore_domain::{ApiKey, Clock, Deployment, NewKey, Scope, SystemClock};
use petstore_testing::interface;
use rand::{SeedableRng, rngs::StdRng};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::memory::Memory;

/// The largest accepted size of the request line and header fields together, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The name of the thread that serves connections.
pub(crate) const THREAD: &str = "service";

pub(super) struct Service {
    pub(super) api: Arc<Api>,
    /// Its only key, which is always the same.
    pub(super) key: String,
    pub(super) runtime: Runtime,
}

pub(super) static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    let mut random = StdRng::seed_from_u64(1);
    let key = ApiKey::generate(Deployment::Production, &mut random);
    let new = NewKey {
        digest: key.digest(),
        name: "fuzz".to_owned(),
        scope: Scope::Write,
        deployment: Deployment::Production,
        expires_at: None,
        rate_limit: None,
    };
    let store = Memory::new(new, BeforeRemoval.now());
    let api = interface::api(Arc::new(store), Arc::new(BeforeRemoval));
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name(THREAD)
        .enable_all()
        .build()
        .unwrap();
    Service {
        api,
        key: key.reveal().to_owned(),
        runtime,
    }
});

/// A date before the removal of reading by id, whatever the date of the machine is.
struct BeforeRemoval;

impl Clock for BeforeRemoval {
    fn now(&self) -> Timestamp {
        Timestamp::constant(1_796_126_400, 0)
    }

    fn instant(&self) -> Instant {
        SystemClock.instant()
    }
}

/// A response that `openapi.yaml` declares.
pub(super) struct CheckedResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

/// Sends an authenticated request to an operation, without a connection.
pub(super) fn send(method: &str, target: &str, body: &[u8]) -> Option<CheckedResponse> {
    let bearer = format!("Bearer {}", SERVICE.key);
    send_with(method, target, bearer.as_bytes(), body)
}

/// `None` if HTTP does not allow such a request, or its head is too large.
pub(super) fn send_with(
    method: &str,
    target: &str,
    authorization: &[u8],
    body: &[u8],
) -> Option<CheckedResponse> {
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(header::HOST, "x")
        .header(header::AUTHORIZATION, authorization)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::from(Bytes::copy_from_slice(body)))
        .ok()?;
    let operation = match request.uri().path() {
        "/v1/pets" => &DOCUMENT["paths"]["/pets"][method.to_lowercase()],
        _ => &DOCUMENT["paths"]["/pets/{petId}"][method.to_lowercase()],
    };
    // A fragment is not sent.
    let length = request.uri().path_and_query().unwrap().as_str().len() + authorization.len();
    let client = IpAddr::from([127, 0, 0, 1]).into();
    let (head, body) = SERVICE.runtime.block_on(async {
        let (head, body) = SERVICE.api.handle(&client, request).await.into_parts();
        (head, body.collect().await.unwrap().to_bytes())
    });
    let body: Value = serde_json::from_slice(&body).unwrap();
    expect_declared(operation, head.status, &body);
    if head.status == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE {
        assert!(
            length > MAX_HEAD - 200,
            "a head of {length} bytes is refused"
        );
        return None;
    }
    assert!(length <= MAX_HEAD, "a head of {length} bytes is taken");
    Some(CheckedResponse {
        status: head.status,
        headers: head.headers,
        body,
    })
}

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("../../../../../openapi/openapi.yaml")).unwrap()
});

/// Fails unless `operation` declares this status with this error code, and the response is not an
/// internal error.
fn expect_declared(operation: &Value, status: StatusCode, body: &Value) {
    assert!(!status.is_server_error(), "{status}: {body}");
    let mut declared = &operation["responses"][status.as_str()];
    if let Some(reference) = declared["$ref"].as_str() {
        declared = DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap();
    }
    assert!(
        declared.is_object(),
        "the undeclared status {status}: {body}"
    );
    if status.is_success() {
        return;
    }
    expect_error(status.as_u16(), body);
    let code = body["code"].as_str().unwrap();
    let examples = &declared["content"]["application/json"]["examples"];
    assert!(
        examples[code].is_object(),
        "the undeclared code {code} at {status}"
    );
}

/// Fails unless this is the Error body of the contract for this status.
pub(super) fn expect_error(status: u16, body: &Value) {
    let members = body.as_object().unwrap();
    assert_eq!(members.len(), 3, "{body}");
    assert_eq!(body["status"], status, "{body}");
    assert!(
        body["code"].is_string() && body["message"].is_string(),
        "{body}"
    );
}
