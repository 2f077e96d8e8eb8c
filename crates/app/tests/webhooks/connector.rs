//! What one attempt may reach, and what a hostile receiver cannot do.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use petstore_app::delivery::{AttemptError, Connector, EndpointResponse, SignedFields};
use petstore_domain::{Networks, SystemClock};
use petstore_system::addresses::Resolve;
use petstore_testing::certificates::Certificates;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

pub(super) const SOON: Duration = Duration::from_secs(30);

/// Gives these addresses, one list for each call, and the last one from then on.
#[derive(Clone)]
pub(super) struct Scripted(Arc<Mutex<Vec<Vec<SocketAddr>>>>);

impl Scripted {
    pub(super) fn new(mut lists: Vec<Vec<SocketAddr>>) -> Self {
        lists.reverse();
        Self(Arc::new(Mutex::new(lists)))
    }

    /// How many lists are left.
    fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[async_trait]
impl Resolve for Scripted {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        let mut lists = self.0.lock().unwrap();
        if lists.len() > 1 {
            Ok(lists.pop().unwrap())
        } else {
            Ok(lists[0].clone())
        }
    }
}

pub(super) fn networks(text: &str) -> Networks {
    text.split_whitespace()
        .map(|text| text.parse().unwrap())
        .collect()
}

fn connector(allowed: &str, names: Vec<Vec<SocketAddr>>) -> Connector {
    connector_with(allowed, Scripted::new(names), None, SOON)
}

fn connector_with(
    allowed: &str,
    names: Scripted,
    roots: Option<RootCertStore>,
    limit: Duration,
) -> Connector {
    let clock = Arc::new(SystemClock);
    Connector::new(networks(allowed), Box::new(names), roots, limit, clock).unwrap()
}

pub(super) async fn deliver(
    connector: &Connector,
    url: &str,
) -> Result<EndpointResponse, AttemptError> {
    let fields = SignedFields {
        id: "msg_1".to_owned(),
        timestamp: "1".to_owned(),
        signature: "v1,x".to_owned(),
    };
    timeout(
        SOON,
        connector.deliver(url, &fields, Bytes::from_static(b"{}")),
    )
    .await
    .unwrap()
}

pub(super) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Reads a request up to its body, which is `{}`.
pub(super) async fn read_request(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"{}") {
        assert!(stream.read_buf(&mut request).await.unwrap() > 0);
    }
    String::from_utf8(request).unwrap()
}

/// A receiver that sends this to its only client. The result is the request.
fn respond(listener: TcpListener, response: &'static str) -> oneshot::Receiver<String> {
    let (sender, request) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(response.as_bytes()).await.unwrap();
        let _ = sender.send(request);
    });
    request
}

/// Whether nobody has connected: a connection of our own is the first one.
async fn is_untouched(listener: &TcpListener, address: SocketAddr) -> bool {
    let own = TcpStream::connect(address).await.unwrap();
    let (_, first) = listener.accept().await.unwrap();
    first == own.local_addr().unwrap()
}

fn roots_of(certificates: &Certificates) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let root = certificates.certificate().with_file_name("root.pem");
    roots
        .add(CertificateDer::from_pem_file(root).unwrap())
        .unwrap();
    roots
}

fn acceptor_with(certificates: &Certificates) -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_file(certificates.certificate()).unwrap();
    let key = PrivateKeyDer::from_pem_file(certificates.key()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth();
    TlsAcceptor::from(Arc::new(
        config.with_single_cert(vec![certificate], key).unwrap(),
    ))
}

const NO_CONTENT: &str = "HTTP/1.1 204 No Content\r\n\r\n";

/// Counts lookups; those of `hangs.example` never end.
#[derive(Clone)]
struct Counting(SocketAddr, Arc<Mutex<usize>>);

#[async_trait]
impl Resolve for Counting {
    async fn resolve(&self, name: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        *self.1.lock().unwrap() += 1;
        if name == "hangs.example" {
            std::future::pending().await
        } else {
            Ok(vec![self.0])
        }
    }
}

#[tokio::test]
async fn attempts_share_the_lookup_of_a_name_that_hangs_and_other_names_go_on() {
    let (listener, address) = listen().await;
    let names = Counting(address, Arc::default());
    let (clock, limit) = (Arc::new(SystemClock), Duration::from_millis(1));
    let patient = Duration::from_secs(30);
    let attempts = |limit| {
        let (names, allowed) = (Box::new(names.clone()), networks("127.0.0.1"));
        Connector::new(allowed, names, None, limit, clock.clone()).unwrap()
    };
    let connector = attempts(limit);
    for _ in 0..100 {
        let error = deliver(&connector, "http://hangs.example/")
            .await
            .unwrap_err();
        assert_eq!(error.class(), "timeout");
    }
    assert_eq!(*names.1.lock().unwrap(), 1);
    let connector = attempts(patient);
    let accepting = tokio::spawn(async move {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            let response = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(response).await.unwrap();
        }
    });
    // A lookup that has ended is not used again.
    for lookups in 2..=3 {
        deliver(&connector, "http://shop.example/").await.unwrap();
        assert_eq!(*names.1.lock().unwrap(), lookups);
    }
    accepting.await.unwrap();
}

#[tokio::test]
async fn a_name_that_changes_between_check_and_connection_changes_nothing() {
    let (listener, address) = listen().await;
    let (other, elsewhere) = listen().await;
    let request = respond(listener, NO_CONTENT);
    let names = Scripted::new(vec![vec![address], vec![elsewhere], vec![elsewhere]]);
    let connector = connector_with("127.0.0.1", names.clone(), None, SOON);
    let url = format!("http://shop.example:{}/hook?a=1", address.port());
    let delivered = deliver(&connector, &url).await.unwrap();
    assert_eq!(
        delivered,
        EndpointResponse {
            status: 204,
            retry_after: None
        }
    );
    assert_eq!(names.left(), 2, "the name was resolved more than once");
    assert!(is_untouched(&other, elsewhere).await);
    // The request keeps the name.
    let request = request.await.unwrap();
    assert!(
        request.starts_with("POST /hook?a=1 HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains(&format!("host: shop.example:{}\r\n", address.port())),
        "{request}"
    );
    assert!(request.contains("webhook-id: msg_1\r\n"), "{request}");
}

#[tokio::test]
async fn a_name_with_one_forbidden_address_is_refused_before_any_connection() {
    let (listener, address) = listen().await;
    for second in [
        "10.0.0.1:80",
        "[::ffff:10.0.0.1]:80",
        "[64:ff9b::a00:1]:80",
        "[fe80::1]:80",
    ] {
        let names = vec![vec![address, second.parse().unwrap()]];
        let connector = connector("127.0.0.1", names);
        let error = deliver(&connector, "http://shop.example/")
            .await
            .unwrap_err();
        assert_eq!(error.class(), "address", "{second}");
    }
    // Without permission, this machine is forbidden, over TLS and by a literal address too.
    let connector = connector("", vec![vec![address]]);
    for url in [
        format!("https://shop.example:{}/", address.port()),
        format!("http://shop.example:{}/", address.port()),
        format!("https://127.0.0.1:{}/", address.port()),
        format!("https://localhost:{}/", address.port()),
    ] {
        let error = deliver(&connector, &url).await.unwrap_err();
        assert_eq!(error.class(), "address", "{url}");
    }
    assert!(is_untouched(&listener, address).await);
}

#[tokio::test]
async fn plain_http_is_sent_only_into_permitted_networks() {
    let names = vec![vec!["93.184.215.14:80".parse().unwrap()]];
    let connector = connector("10.0.0.0/8", names);
    let error = deliver(&connector, "http://shop.example/")
        .await
        .unwrap_err();
    assert_eq!(error.class(), "address");
    assert!(error.to_string().contains("plain HTTP"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (listener, address) = listen().await;
    let (other, _) = listen().await;
    let elsewhere = other.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let response = format!("HTTP/1.1 307 Moved\r\nLocation: http://{elsewhere}/\r\n\r\n");
        stream.write_all(response.as_bytes()).await.unwrap();
    });
    let connector = connector("127.0.0.1", vec![vec![]]);
    let delivered = deliver(&connector, &format!("http://{address}/"))
        .await
        .unwrap();
    assert_eq!(delivered.status, 307);
    assert!(is_untouched(&other, elsewhere).await);
}

#[tokio::test]
async fn of_an_endless_body_only_the_beginning_is_read() {
    let (listener, address) = listen().await;
    let (sender, sent) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n";
        stream.write_all(head).await.unwrap();
        let mut bytes: u64 = 0;
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {
            bytes += 4096;
        }
        let _ = sender.send(bytes);
    });
    let connector = connector("127.0.0.1", vec![vec![]]);
    let delivered = deliver(&connector, &format!("http://{address}/"))
        .await
        .unwrap();
    assert_eq!(delivered.status, 200);
    // What fits into the buffers of both sockets is sent, too.
    let sent = timeout(SOON, sent).await.unwrap().unwrap();
    assert!(sent < 64 << 20, "{sent}");
}

#[tokio::test]
async fn each_failure_of_a_receiver_has_its_class() {
    // Endless header fields, a response that is not HTTP, and an early end.
    let long: &'static str = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(64 << 10)).leak();
    for response in [
        long,
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\nContent-",
        "",
    ] {
        let (listener, address) = listen().await;
        let _request = respond(listener, response);
        let connector = connector("127.0.0.1", vec![vec![]]);
        let error = deliver(&connector, &format!("http://{address}/"))
            .await
            .unwrap_err();
        assert_eq!(
            error.class(),
            "protocol",
            "{:?}",
            &response[..response.len().min(30)]
        );
    }
    let (listener, address) = listen().await;
    drop(listener);
    let connector = connector("127.0.0.1", vec![vec![]]);
    let error = deliver(&connector, &format!("http://{address}/"))
        .await
        .unwrap_err();
    assert_eq!(error.class(), "connect");
    let error = deliver(&connector, "https://shop.example/")
        .await
        .unwrap_err();
    assert_eq!(error.class(), "dns");
}

#[tokio::test]
async fn a_receiver_that_hangs_in_tls_or_in_its_response_is_left_after_the_limit() {
    for scheme in ["http", "https"] {
        let (listener, address) = listen().await;
        let roots = Some(roots_of(&Certificates::new()));
        let limit = Duration::from_millis(300);
        let connector = connector_with("127.0.0.1", Scripted::new(vec![vec![]]), roots, limit);
        let hang = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut all = Vec::new();
            // Ends when the service closes the connection.
            let _ = stream.read_to_end(&mut all).await;
        };
        let url = format!("{scheme}://{address}/");
        let (delivered, ()) = tokio::join!(deliver(&connector, &url), async {
            timeout(SOON, hang).await.unwrap();
        });
        assert_eq!(delivered.unwrap_err().class(), "timeout", "{scheme}");
    }
}

#[tokio::test]
async fn over_tls_the_certificate_must_be_valid_for_the_name_of_the_url() {
    let certificates = Certificates::new();
    let attempt = async |name: &str, roots, is_tls: bool| {
        let (listener, address) = listen().await;
        let acceptor = acceptor_with(&certificates);
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            if !is_tls {
                let _ = stream.write_all(NO_CONTENT.as_bytes()).await;
                return None;
            }
            let mut stream = acceptor.accept(stream).await.ok()?;
            let name = stream.get_ref().1.server_name().map(str::to_owned);
            assert_eq!(name.as_deref(), Some("localhost"));
            read_request(&mut stream).await;
            stream.write_all(NO_CONTENT.as_bytes()).await.ok()
        });
        let names = Scripted::new(vec![vec![address]]);
        let connector = connector_with("127.0.0.1", names, roots, SOON);
        deliver(&connector, &format!("https://{name}:{}/", address.port())).await
    };
    let roots = || Some(roots_of(&certificates));
    assert_eq!(
        attempt("localhost", roots(), true).await.unwrap().status,
        204
    );
    // Another name, another root, no root, and no TLS.
    for (name, roots, is_tls) in [
        ("shop.example", roots(), true),
        ("localhost", Some(roots_of(&Certificates::new())), true),
        ("localhost", None, true),
        ("localhost", roots(), false),
    ] {
        let error = attempt(name, roots, is_tls).await.unwrap_err();
        assert_eq!(error.class(), "tls", "{name} {is_tls}");
    }
}
