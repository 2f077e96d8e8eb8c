//! Guarantees that the edge gives for every interface behind it.

use std::{future::pending, net::IpAddr};

use hyper::StatusCode;
use petstore_domain::SystemClock;
use petstore_observe::metrics::Exposition;

use super::*;

/// An interface whose paths misbehave: `/panic` panics, and `/hang` never responds.
struct Faulty<const FOR_CLIENTS: bool>(Edge);

impl<const FOR_CLIENTS: bool> Interface for Faulty<FOR_CLIENTS> {
    const IS_FOR_CLIENTS: bool = FOR_CLIENTS;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("private");
    type RouteMatch = ();

    fn edge(&self) -> &Edge {
        &self.0
    }

    /// Routes nothing, because the interface has no route table.
    fn find(&self, _: &Parts) {}

    /// Looks only at the path of the request.
    async fn process(
        &self,
        _: &Client,
        request: &Parts,
        _: &HeaderValue,
        _: UnreadBody<'_>,
        (): (),
        _: &mut Facts,
    ) -> Result<Response, ApiError> {
        match request.uri.path() {
            "/panic" => panic!("on purpose"),
            "/hang" => pending().await,
            _ => Ok(response::json(StatusCode::OK, "[]")),
        }
    }
}

impl<const FOR_CLIENTS: bool> Faulty<FOR_CLIENTS> {
    fn new() -> Self {
        let settings = Settings {
            cors_origins: vec!["https://shop.example".parse().unwrap()],
            // Only `/hang` exceeds this, because every other response is ready at the first poll.
            request_timeout: Duration::from_millis(1),
            ..Settings::default()
        };
        Self(Edge::new(
            Arc::new(SystemClock),
            &mut StdRng::seed_from_u64(1),
            &settings,
        ))
    }

    /// Sends a request with these header fields, in addition to `Host`.
    async fn get(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let mut request = Request::builder().uri(path).header(header::HOST, "x");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        let request = request
            .body(http_body_util::Full::<bytes::Bytes>::default())
            .unwrap();
        self.0.handle(self, &client, request).await
    }
}

/// Checks that a request gets its id, its `Cache-Control` and the right status, even if it fails.
async fn check_guarantees<const FOR_CLIENTS: bool>() {
    let interface = Faulty::<FOR_CLIENTS>::new();
    let long_value = "a".repeat(20_000);
    for (path, fields, status) in [
        ("/", &[][..], StatusCode::OK),
        (
            "/",
            &[("x", &*long_value)],
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        ),
        // A second `Host`.
        ("/", &[("host", "y")], StatusCode::BAD_REQUEST),
        ("/panic", &[], StatusCode::INTERNAL_SERVER_ERROR),
        ("/hang", &[], StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let all_fields = [fields, &[("x-request-id", "mine")]].concat();
        let response = interface.get(path, &all_fields).await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()[REQUEST_ID], "mine", "{path}: {status}");
        assert_eq!(
            response.headers()[header::CACHE_CONTROL],
            "private",
            "{path}: {status}"
        );
    }
}

#[tokio::test]
async fn every_interface_has_limits_and_request_ids_and_survives_a_panic() {
    check_guarantees::<true>().await;
    check_guarantees::<false>().await;
}

/// What an interface does with a request from an allowed origin.
#[derive(Debug, PartialEq, Eq)]
struct Handling {
    has_cors_headers: bool,
    responds_to_preflight: bool,
    is_counted: bool,
}

/// Sends a request and a preflight from an allowed origin, and returns how the edge handles them.
async fn observe_handling<const FOR_CLIENTS: bool>() -> Handling {
    const ORIGIN: &str = "https://shop.example";
    let interface = Faulty::<FOR_CLIENTS>::new();
    let response = interface.get("/", &[("origin", ORIGIN)]).await;
    let mut exposition = Exposition::default();
    interface.0.metrics.expose(&mut exposition);
    let (preflight, ()) = Request::options("/")
        .header(header::ORIGIN, ORIGIN)
        .header(header::HOST, "x")
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET")
        .body(())
        .unwrap()
        .into_parts();
    Handling {
        has_cors_headers: response
            .headers()
            .contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN),
        responds_to_preflight: interface
            .0
            .preflight::<Faulty<FOR_CLIENTS>>(&preflight)
            .is_some(),
        // The end of the line that counts the responses with the status 200: one.
        is_counted: exposition
            .finish()
            .contains(r#"http_response_status_code="200"} 1"#),
    }
}

#[tokio::test]
async fn only_an_interface_for_clients_is_counted_and_open_to_pages_of_other_origins() {
    assert_eq!(
        observe_handling::<true>().await,
        Handling {
            has_cors_headers: true,
            responds_to_preflight: true,
            is_counted: true,
        }
    );
    assert_eq!(
        observe_handling::<false>().await,
        Handling {
            has_cors_headers: false,
            responds_to_preflight: false,
            is_counted: false,
        }
    );
}
