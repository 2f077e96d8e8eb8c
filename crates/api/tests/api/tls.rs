//! TLS: protocol versions, a certificate that is renewed under load, and clients that do not finish
//! a handshake.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, combinators::BoxBody};
use hyper::{
    Request, Response, Version,
    body::Incoming,
    client::conn::{http1, http2},
    header,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use petstore_testing::{
    certificates::{Certificates, shown},
    harness::{Server, Setup, soon},
};
use petstore_web::server::{Limits, Tls};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};
use tokio_rustls::{
    client::TlsStream,
    rustls::{
        ALL_VERSIONS, ProtocolVersion,
        version::{TLS12, TLS13},
    },
};

/// A server over TLS.
struct Secure {
    server: Server,
    certificates: Certificates,
    tls: Arc<Tls>,
}

impl Secure {
    async fn start() -> Self {
        Self::start_with(Setup::default().limits).await
    }

    async fn start_with(limits: Limits) -> Self {
        let certificates = Certificates::new();
        let tls = Arc::new(Tls::load(certificates.certificate(), certificates.key()).unwrap());
        let setup = Setup {
            limits,
            tls: Some(Arc::clone(&tls)),
            ..Setup::default()
        };
        Self {
            server: Server::start_with(setup).await,
            certificates,
            tls,
        }
    }

    async fn connect(&self, protocol: &str) -> TlsStream<TcpStream> {
        let stream = self.server.connect().await;
        self.certificates
            .connect(stream, ALL_VERSIONS, &[protocol])
            .await
            .unwrap()
    }

    fn request(&self, path: &str) -> Request<BoxBody<Bytes, Infallible>> {
        Request::get(format!("https://localhost{path}"))
            .header(header::HOST, "localhost")
            .header(header::AUTHORIZATION, self.server.bearer())
            .body(BoxBody::new(Empty::new()))
            .unwrap()
    }

    /// An HTTP/1.1 client that keeps its connection open.
    async fn client(&self) -> http1::SendRequest<BoxBody<Bytes, Infallible>> {
        let io = TokioIo::new(self.connect("http/1.1").await);
        let (client, connection) = http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

/// Reads a response to its end.
async fn finish(response: Response<Incoming>) -> Response<Bytes> {
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn http_1_1_and_http_2_are_chosen_by_alpn_over_tls_1_2_and_1_3() {
    let secure = Secure::start().await;
    for (version, expected) in [
        (&TLS12, ProtocolVersion::TLSv1_2),
        (&TLS13, ProtocolVersion::TLSv1_3),
    ] {
        for (offered, chosen) in [
            (&["h2", "http/1.1"][..], Version::HTTP_2),
            (&["http/1.1"], Version::HTTP_11),
            (&[], Version::HTTP_11),
        ] {
            let stream = secure.server.connect().await;
            let stream = secure
                .certificates
                .connect(stream, &[version], offered)
                .await
                .unwrap();
            assert_eq!(stream.get_ref().1.protocol_version(), Some(expected));
            let protocol = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
            let io = TokioIo::new(stream);
            let request = secure.request("/v1/pets");
            let response = if protocol.as_deref() == Some(b"h2") {
                let (mut client, connection) =
                    http2::handshake(TokioExecutor::new(), io).await.unwrap();
                tokio::spawn(connection);
                client.send_request(request).await.unwrap()
            } else {
                let (mut client, connection) = http1::handshake(io).await.unwrap();
                tokio::spawn(connection);
                client.send_request(request).await.unwrap()
            };
            assert_eq!(
                (response.status().as_u16(), response.version()),
                (200, chosen),
                "{offered:?}"
            );
            assert_eq!(
                &response.headers()["strict-transport-security"],
                "max-age=31536000"
            );
            assert_eq!(finish(response).await.body(), "[]");
        }
    }
    let stream = secure.server.connect().await;
    let rejected = secure
        .certificates
        .connect(stream, ALL_VERSIONS, &["spdy/3"])
        .await;
    assert!(
        rejected
            .unwrap_err()
            .to_string()
            .contains("NoApplicationProtocol")
    );
}

#[tokio::test]
async fn over_tls_the_openapi_document_has_an_https_address() {
    let secure = Secure::start().await;
    let response = secure
        .client()
        .await
        .send_request(secure.request("/openapi.json"))
        .await;
    let document = finish(response.unwrap()).await;
    let document: Value = serde_json::from_slice(document.body()).unwrap();
    assert_eq!(document["servers"][0]["url"], "https://localhost/v1");
}

#[tokio::test]
async fn without_tls_no_response_mentions_it() {
    let server = Server::start().await;
    assert_eq!(
        server
            .get("/v1/pets")
            .await
            .header("strict-transport-security"),
        None
    );
}

/// The type of the first record that responds to a minimal `ClientHello` of this version: one
/// cipher suite, one curve, one signature, no compression.
async fn response_to_hello(secure: &Secure, version: [u8; 2]) -> Vec<u8> {
    let extensions: &[u8] = &[
        0, 10, 0, 4, 0, 2, 0, 23, 0, 11, 0, 2, 1, 0, 0, 13, 0, 4, 0, 2, 4, 3,
    ];
    let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
    let mut hello = [&version[..], &[7; 32], &[0, 0, 2, 0xc0, 0x2b, 1, 0]].concat();
    hello.extend([0, length(extensions)]);
    hello.extend(extensions);
    let record = [22, 3, 1, 0, length(&hello) + 4, 1, 0, 0, length(&hello)];
    let mut stream = secure.server.connect().await;
    stream
        .write_all(&[&record[..], &hello].concat())
        .await
        .unwrap();
    let mut response = [0; 7];
    soon(stream.read_exact(&mut response)).await.unwrap();
    response.into()
}

#[tokio::test]
async fn tls_1_1_is_rejected() {
    let secure = Secure::start().await;
    // A ServerHello.
    assert_eq!(response_to_hello(&secure, [3, 3]).await[0], 22);
    // An alert: fatal, protocol_version (RFC 8446, section 6.2).
    for earlier in [[3, 2], [3, 1], [3, 0]] {
        assert_eq!(
            response_to_hello(&secure, earlier).await,
            [21, 3, 3, 0, 2, 2, 70]
        );
    }
}

#[tokio::test]
async fn a_certificate_is_renewed_20_times_under_load_and_no_request_fails() {
    let secure = Arc::new(Secure::start().await);
    let tls = Arc::clone(&secure.tls);
    let renewing = tokio::spawn(async move {
        loop {
            let _ = tls.renew().await;
        }
    });
    let stop = Arc::new(AtomicBool::new(false));
    let completed = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for keeps_its_connection in [true, true, false, false] {
        let (secure, stop, completed) = (
            Arc::clone(&secure),
            Arc::clone(&stop),
            Arc::clone(&completed),
        );
        clients.spawn(async move {
            let mut client = secure.client().await;
            while !stop.load(Relaxed) {
                if !keeps_its_connection {
                    client = secure.client().await;
                }
                client.ready().await.unwrap();
                let response = client
                    .send_request(secure.request("/v1/pets"))
                    .await
                    .unwrap();
                assert_eq!(finish(response).await.body(), "[]");
                completed.fetch_add(1, Relaxed);
            }
        });
    }
    for serial in 2..22 {
        let before = completed.load(Relaxed);
        let renewed = secure.certificates.renew(serial);
        soon(async {
            while shown(&secure.connect("http/1.1").await) != renewed
                || completed.load(Relaxed) == before
            {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
    stop.store(true, Relaxed);
    while let Some(done) = soon(clients.join_next()).await {
        done.unwrap();
    }
    renewing.abort();
}

#[tokio::test]
async fn an_invalid_renewed_certificate_leaves_the_old_one_in_use() {
    let secure = Secure::start().await;
    let first = shown(&secure.connect("h2").await);
    let tls = Arc::clone(&secure.tls);
    let renewing = tokio::spawn(async move {
        loop {
            let _ = tls.renew().await;
        }
    });
    let key = std::fs::read(secure.certificates.key()).unwrap();
    secure.certificates.renew(2);
    let certificate = std::fs::read(secure.certificates.certificate()).unwrap();
    // A new certificate with the old key, half a file, and an empty one.
    for (certificate, key) in [
        (&certificate[..], &key[..]),
        (&certificate[..99], &key),
        (b"", &key),
    ] {
        std::fs::write(secure.certificates.certificate(), certificate).unwrap();
        std::fs::write(secure.certificates.key(), key).unwrap();
        // Many checks of the files.
        for _ in 0..20 {
            assert_eq!(shown(&secure.connect("h2").await), first);
        }
    }
    std::fs::remove_file(secure.certificates.key()).unwrap();
    assert_eq!(shown(&secure.connect("h2").await), first);
    let third = secure.certificates.renew(3);
    soon(async {
        while shown(&secure.connect("h2").await) != third {
            tokio::task::yield_now().await;
        }
    })
    .await;
    renewing.abort();
}

#[tokio::test]
async fn plain_http_is_closed_and_not_reset() {
    let secure = Secure::start().await;
    let mut stream = secure.server.connect().await;
    let request = format!(
        "GET /docs HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    soon(stream.read_to_end(&mut response)).await.unwrap();
    assert!(!response.starts_with(b"HTTP"), "{response:?}");
}

#[tokio::test]
async fn a_client_that_does_not_finish_its_handshake_is_disconnected() {
    let client_timeout = Duration::from_millis(50);
    let limits = Limits {
        client_timeout,
        ..Setup::default().limits
    };
    let secure = Secure::start_with(limits).await;
    for beginning in [&b""[..], &[22, 3, 1, 0, 200, 1]] {
        let mut stream = secure.server.connect().await;
        stream.write_all(beginning).await.unwrap();
        assert_eq!(soon(stream.read(&mut [0])).await.unwrap(), 0);
    }
    // The same for a client that is silent after the handshake, for which it has time.
    let limits = Limits {
        client_timeout: Duration::from_secs(1),
        ..Setup::default().limits
    };
    let secure = Secure::start_with(limits).await;
    let mut stream = secure.connect("h2").await;
    let mut response = Vec::new();
    let _ = soon(stream.read_to_end(&mut response)).await;
    assert!(!response.starts_with(b"HTTP"), "{response:?}");
}

#[tokio::test]
async fn connections_in_a_handshake_count_towards_the_limit() {
    let limits = Limits {
        max_connections_per_address: 1,
        ..Setup::default().limits
    };
    let secure = Secure::start_with(limits).await;
    let first = secure.server.connect().await;
    let mut second = secure.server.connect().await;
    let _ = soon(second.read_to_end(&mut Vec::new())).await;
    drop(first);
    soon(async {
        while secure.client().await.ready().await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_handshake_and_an_idle_http_2_connection_are_replaced_by_a_client_with_a_key() {
    let limits = Limits {
        max_connections: 2,
        ..Setup::default().limits
    };
    let secure = Secure::start_with(limits).await;
    let mut idle = secure.connect("h2").await;
    let mut handshake = secure.server.connect().await;
    let mut clients = [secure.client().await, secure.client().await];
    for client in &mut clients {
        let response = soon(client.send_request(secure.request("/v1/pets")))
            .await
            .unwrap();
        assert_eq!(finish(response).await.status(), 200);
    }
    let _ = soon(idle.read_to_end(&mut Vec::new())).await;
    let _ = soon(handshake.read_to_end(&mut Vec::new())).await;
}

#[tokio::test]
async fn a_client_that_reads_no_responses_over_tls_is_disconnected() {
    // Enough for its handshake.
    let client_timeout = Duration::from_secs(1);
    let limits = Limits {
        client_timeout,
        ..Setup::default().limits
    };
    let secure = Secure::start_with(limits).await;
    let mut stream = secure.connect("http/1.1").await;
    let request = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n";
    stream
        .write_all(request.repeat(20).as_bytes())
        .await
        .unwrap();
    stream.flush().await.unwrap();
    soon(async {
        while Arc::strong_count(&secure.server.api) > 3 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn handshakes_and_idle_connections_do_not_delay_the_shutdown() {
    let mut secure = Secure::start().await;
    let silent = secure.server.connect().await;
    let mut client = secure.client().await;
    let request = secure.request("/v1/pets");
    finish(client.send_request(request).await.unwrap()).await;
    // Long before the deadline of a minute.
    soon(secure.server.stop()).await.unwrap();
    drop((silent, client));
    assert_eq!(Arc::strong_count(&secure.server.api), 1);
}
