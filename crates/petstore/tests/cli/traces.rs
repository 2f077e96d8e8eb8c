//! Traces: what a collector receives, and what happens without one.

use std::{collections::HashMap, sync::Arc, time::Duration};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, Status, span::SpanKind, status::StatusCode},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use super::{
    certificates::Certificates,
    management::MANAGED,
    metrics::Page,
    program::{Service, client, command, create, directory, new_key},
};

/// Much longer than spans are collected into a batch.
const PATIENCE: Duration = Duration::from_secs(30);

/// A collector that parses spans by the OTLP specification.
pub(super) struct Collector(TcpListener);

impl Collector {
    pub(super) async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    /// Waits for the next request, and responds to it.
    async fn take(&self) -> ExportTraceServiceRequest {
        take(&mut self.accept().await).await
    }

    async fn accept(&self) -> TcpStream {
        timeout(PATIENCE, self.0.accept())
            .await
            .expect("it sends nothing")
            .unwrap()
            .0
    }

    /// Waits for this many spans.
    pub(super) async fn spans(&self, count: usize) -> Vec<Span> {
        let mut spans = Vec::new();
        while spans.len() < count {
            for resource in self.take().await.resource_spans {
                let service = resource.resource.unwrap();
                let service = attributes(&service.attributes);
                assert_eq!(service["service.name"], "petstore");
                assert_eq!(service["deployment.environment.name"], "production");
                spans.extend(
                    resource
                        .scope_spans
                        .into_iter()
                        .flat_map(|scope| scope.spans),
                );
            }
        }
        assert_eq!(spans.len(), count, "{spans:?}");
        spans
    }
}

/// Reads a request with spans, and responds to it.
async fn take(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> ExportTraceServiceRequest {
    let (head, body) = read(stream).await;
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains("content-type: application/json\r\n"),
        "{head}"
    );
    let response =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(response.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// The head and body of a request.
async fn read(stream: &mut (impl AsyncRead + Unpin)) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    loop {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8(bytes[..end + 2].to_vec())
            .unwrap()
            .to_lowercase();
        let length = head
            .split("content-length: ")
            .nth(1)
            .unwrap()
            .split('\r')
            .next()
            .unwrap();
        if bytes.len() == end + 4 + length.parse::<usize>().unwrap() {
            let head = String::from_utf8(bytes[..end + 2].to_vec()).unwrap();
            return (head, bytes.split_off(end + 4));
        }
    }
}

pub(super) fn attributes(attributes: &[KeyValue]) -> HashMap<&str, String> {
    let text = |value: &KeyValue| match value.value.as_ref().unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    attributes
        .iter()
        .map(|attribute| (attribute.key.as_str(), text(attribute)))
        .collect()
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

// The collector runs as a task of the test, which blocks on the program.
#[tokio::test(flavor = "multi_thread")]
async fn each_request_is_a_span_in_the_trace_of_the_client() {
    let here = directory();
    let collector = Collector::start().await;
    let service = Service::start(here.path(), &["--otlp-endpoint", &collector.url()]);
    let key = new_key(here.path());
    let client = client();
    let created = create(&client, &service.url, &key, "Frank")
        .header("traceparent", format!("00-{TRACE}-{PARENT}-01"))
        .header("x-request-id", "mine-1");
    assert_eq!(created.send().await.unwrap().status(), 201);
    let read = client
        .get(format!("{}/pets/4711?secret=1", service.url))
        .bearer_auth(&key);
    assert_eq!(read.send().await.unwrap().status(), 400);
    // Its trace is not sampled.
    let left_out = client
        .get(format!("{}/pets", service.url))
        .bearer_auth(&key);
    let left_out = left_out.header("traceparent", format!("00-{TRACE}-{PARENT}-00"));
    assert_eq!(left_out.send().await.unwrap().status(), 200);
    let unknown = client.request("BREW".parse().unwrap(), &service.url);
    assert_eq!(unknown.send().await.unwrap().status(), 401);

    let spans = collector.spans(3).await;
    let [create, read, unknown] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert_eq!(
        (hex(&create.trace_id), hex(&create.parent_span_id)),
        (TRACE.into(), PARENT.into())
    );
    assert_eq!(create.name, "POST /v1/pets");
    assert_eq!(create.kind(), SpanKind::Server);
    // Sampled, one with a remote parent; the other has no parent.
    assert_eq!((create.flags, read.flags), (0x301, 0x101));
    assert!(create.start_time_unix_nano < create.end_time_unix_nano);
    let about = attributes(&create.attributes);
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/v1/pets"),
        ("http.response.status_code", "201"),
        ("petstore.request_id", "mine-1"),
        ("petstore.key_id", "1"),
    ] {
        assert_eq!(about[name], value, "{name}");
    }
    assert_eq!(read.name, "GET /v1/pets/{petId}");
    assert_eq!((read.trace_id.len(), read.parent_span_id.len()), (16, 0));
    assert_eq!(
        read.status.as_ref().map(Status::code),
        Some(StatusCode::Unset)
    );
    assert_eq!(unknown.name, "HTTP");
    assert_eq!(
        attributes(&unknown.attributes)["http.request.method"],
        "_OTHER"
    );
    let ids: Vec<&[u8]> = spans.iter().map(|span| span.span_id.as_slice()).collect();
    assert!(ids.iter().all(|id| id.len() == 8) && ids[0] != ids[1] && ids[1] != ids[2]);
    let all = format!("{spans:?}");
    for secret in [
        &key["pets_live_".len()..],
        "Frank",
        "4711",
        "secret",
        "BREW",
    ] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_500_is_an_error_in_the_span_and_shutdown_sends_the_remaining_spans() {
    let here = directory();
    let collector = Collector::start().await;
    let mut command = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let service = Service::from(command);
    let key = new_key(here.path());
    std::fs::remove_file(here.path().join("petstore.db")).unwrap();
    let lost = create(&client(), &service.url, &key, "lost")
        .send()
        .await
        .unwrap();
    assert_eq!(lost.status(), 503);
    service.signal("TERM");
    let spans = collector.spans(1).await;
    assert_eq!(
        spans[0].status.as_ref().map(Status::code),
        Some(StatusCode::Error)
    );
    assert_eq!(attributes(&spans[0].attributes)["error.type"], "503");
    assert!(service.wait().0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_collector_gets_the_headers_of_the_environment_which_no_log_line_shows() {
    let here = directory();
    let collector = Collector::start().await;
    let arguments = ["serve", "--log-level", "trace", "--listen", "127.0.0.1:0"];
    let mut command = command(here.path(), &arguments);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    command.env(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "api-key=s3cret,authorization=Basic%20s3cret,s3cret",
    );
    let service = Service::from(command);
    assert_eq!(
        client().get(&service.url).send().await.unwrap().status(),
        401
    );
    let mut stream = collector.accept().await;
    let (head, _) = read(&mut stream).await;
    assert!(
        head.contains("api-key: s3cret\r\nauthorization: Basic s3cret\r\n"),
        "{head}"
    );
    // Also what is sent again at shutdown is rejected, and does not wait for a response.
    drop((stream, collector));
    service.signal("TERM");
    let first_lines = format!("{:?}", service.first_lines);
    let (_, log) = service.wait();
    let log = first_lines + &log;
    assert!(
        log.contains("OTEL_EXPORTER_OTLP_HEADERS") && log.contains("item 3"),
        "{log}"
    );
    assert!(
        log.contains("traces are dropped") && !log.contains("s3cret"),
        "{log}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sampler_of_the_environment_decides_which_requests_leave_a_span() {
    // A request of a client that did not sample its trace, and then one that starts a trace.
    for (sampler, argument, spans) in [
        ("always_on", "", 2),
        ("parentbased_traceidratio", "1", 1),
        ("parentbased_always_off", "", 0),
        ("traceidratio", "0", 0),
        ("unknown", "", 1),
    ] {
        let here = directory();
        let collector = Collector::start().await;
        let mut command = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        command
            .env("OTEL_TRACES_SAMPLER", sampler)
            .env("OTEL_TRACES_SAMPLER_ARG", argument);
        let service = Service::from(command);
        for parent in [Some(format!("00-{TRACE}-{PARENT}-00")), None] {
            let mut request = client().get(&service.url);
            if let Some(parent) = parent {
                request = request.header("traceparent", parent);
            }
            assert_eq!(request.send().await.unwrap().status(), 401);
        }
        let has_warned = format!("{:?}", service.first_lines).contains("OTEL_TRACES_SAMPLER must");
        service.signal("TERM");
        assert_eq!(collector.spans(spans).await.len(), spans, "{sampler}");
        let (status, log) = service.wait();
        assert!(status.success());
        // More spans would have had no response.
        assert!(!log.contains("dropped"), "{sampler}: {log}");
        assert_eq!(
            has_warned || log.contains("OTEL_TRACES_SAMPLER must"),
            sampler == "unknown"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_collector_requests_succeed_and_dropped_spans_are_counted() {
    let here = directory();
    // No program listens there, and none can start to.
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let gone = format!("http://{}", taken.local_addr().unwrap());
    let service = Service::start(
        here.path(),
        &[&MANAGED[..], &["--otlp-endpoint", &gone]].concat(),
    );
    let key = new_key(here.path());
    let client = client();
    for number in 0..10 {
        let created = create(&client, &service.url, &key, &number.to_string());
        assert_eq!(created.send().await.unwrap().status(), 201);
    }
    let dropped = async {
        while Page::of(&client, &service)
            .await
            .value("petstore_spans_dropped_total", &[])
            != 10
        {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, dropped).await.unwrap();
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success());
    assert_eq!(log.matches("traces are dropped").count(), 1, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_never_responds_does_not_delay_the_shutdown() {
    let here = directory();
    let collector = Collector::start().await;
    let service = Service::start(here.path(), &["--otlp-endpoint", &collector.url()]);
    let key = new_key(here.path());
    let created = create(&client(), &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    assert_eq!(created.status(), 201);
    // Reads the request, and sends no response during the test.
    let mut stream = collector.accept().await;
    read(&mut stream).await;
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success());
    assert!(log.contains("unsent spans are dropped"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls_only_a_trusted_collector_gets_spans() {
    let (certificates, others) = (Certificates::new(), Certificates::new());
    let chain = CertificateDer::from_pem_file(certificates.certificate()).unwrap();
    let key = PrivateKeyDer::from_pem_file(certificates.key()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let collector = Collector::start().await;
    let url = collector
        .url()
        .replace("http://127.0.0.1", "https://localhost");
    for (trusted, is_trusted) in [(&certificates, true), (&others, false)] {
        let here = directory();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--otlp-endpoint", &url];
        let mut command = command(here.path(), &arguments);
        // Replaces the trusted roots of the system.
        command.env(
            "SSL_CERT_FILE",
            trusted.certificate().with_file_name("root.pem"),
        );
        let service = Service::from(command);
        assert_eq!(
            client().get(&service.url).send().await.unwrap().status(),
            401
        );
        let connected = acceptor.accept(collector.accept().await).await;
        assert_eq!(connected.is_ok(), is_trusted);
        if let Ok(mut stream) = connected {
            assert_eq!(take(&mut stream).await.resource_spans.len(), 1);
        } else {
            // The collector can know of the failure first.
            let said = async {
                while !service.said().contains("traces are dropped") {
                    tokio::task::yield_now().await;
                }
            };
            timeout(PATIENCE, said).await.unwrap();
        }
        service.signal("TERM");
        let (_, log) = service.wait();
        assert_eq!(log.contains("traces are dropped"), !is_trusted, "{log}");
    }
}
