//! Guarantees that the edge gives for every interface behind it.

use std::{future::pending, net::IpAddr};

use hyper::StatusCode;
use petstore_domain::SystemClock;
use petstore_observe::metrics::Exposition;

use super::*;

/// An interface whose paths misbehave: `/panic` panics, and `/hang` never responds.
struct Faulty<const IS_FOR_CLIENTS: bool>(Edge);

impl<const IS_FOR_CLIENTS: bool> Interface for Faulty<IS_FOR_CLIENTS> {
    const IS_FOR_CLIENTS: bool = IS_FOR_CLIENTS;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("private");
    type RouteMatch = ();

    fn edge(&self) -> &Edge {
        &self.0
    }

    fn find(&self, _: &Parts) {}

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
            "/panic" => unreachable!("planted"),
            "/hang" => pending().await,
            _ => Ok(response::json(StatusCode::OK, "[]")),
        }
    }
}

impl<const IS_FOR_CLIENTS: bool> Faulty<IS_FOR_CLIENTS> {
    fn new() -> Self {
        let settings = Settings {
            cors_origins: vec!["https://shop.example".parse().unwrap()],
            request_timeout: Duration::from_millis(1),
            ..Settings::default()
        };
        Self(Edge::new(
            Arc::new(SystemClock),
            &mut StdRng::seed_from_u64(1),
            &settings,
        ))
    }

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

async fn check_guarantees<const IS_FOR_CLIENTS: bool>() {
    let interface = Faulty::<IS_FOR_CLIENTS>::new();
    let long = "a".repeat(20_000);
    for (path, fields, status) in [
        ("/", &[][..], StatusCode::OK),
        (
            "/",
            &[("x", &*long)],
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        ),
        ("/", &[("host", "y")], StatusCode::BAD_REQUEST),
        ("/panic", &[], StatusCode::INTERNAL_SERVER_ERROR),
        ("/hang", &[], StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let fields = [fields, &[("x-request-id", "mine")]].concat();
        let response = interface.get(path, &fields).await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()[REQUEST_ID], "mine", "{path}");
        assert_eq!(
            response.headers()[header::CACHE_CONTROL],
            "private",
            "{path}"
        );
    }
}

#[tokio::test]
async fn every_interface_has_head_limits_a_time_limit_request_ids_and_survives_a_panic() {
    check_guarantees::<true>().await;
    check_guarantees::<false>().await;
}

/// Returns whether a request from an allowed origin gets CORS header fields, whether its preflight gets
/// a response, and whether the request is counted.
async fn cors_preflight_and_counting<const IS_FOR_CLIENTS: bool>() -> (bool, bool, bool) {
    let interface = Faulty::<IS_FOR_CLIENTS>::new();
    let origin = ("origin", "https://shop.example");
    let response = interface.get("/", &[origin]).await;
    let mut exposition = Exposition::default();
    interface.0.metrics.expose(&mut exposition);
    let is_counted = exposition
        .finish()
        .contains(r#"http_response_status_code="200"} 1"#);
    let preflight = Request::options("/")
        .header(origin.0, origin.1)
        .header(header::HOST, "x");
    let preflight = preflight.header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET");
    let (preflight, ()) = preflight.body(()).unwrap().into_parts();
    (
        response
            .headers()
            .contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN),
        interface
            .0
            .preflight::<Faulty<IS_FOR_CLIENTS>>(&preflight)
            .is_some(),
        is_counted,
    )
}

#[tokio::test]
async fn only_an_interface_for_clients_is_counted_and_open_to_pages_of_other_origins() {
    assert_eq!(
        cors_preflight_and_counting::<true>().await,
        (true, true, true)
    );
    assert_eq!(
        cors_preflight_and_counting::<false>().await,
        (false, false, false)
    );
}
