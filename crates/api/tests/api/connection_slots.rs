//! The limits on connections, and which connection is replaced at the limit.

use petstore_testing::harness::{Server, Setup, soon};
use petstore_web::server::Limits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

#[tokio::test]
async fn a_connection_above_the_limit_gets_503() {
    let server = Server::start_with(Setup {
        limits: Limits {
            max_connections: 1,
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await;
    let mut first = server.connect().await;
    ask(&mut first, &server.bearer(), b"HTTP/1.1 200").await;
    // Also a connection that sends its request before the response.
    for request in ["", "GET /v1/pets HTTP/1.1\r\nhost: x\r\n\r\n"] {
        let response = server.raw(request).await;
        assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
        assert!(response.contains("Retry-After: 1\r\n"), "{response}");
        assert!(
            response.contains("X-Content-Type-Options: nosniff\r\n"),
            "{response}"
        );
        assert!(response.contains(r#""code":"unavailable""#), "{response}");
    }
}

/// Requests animals with this `Authorization`, and reads the beginning of the response.
async fn ask(stream: &mut TcpStream, authorization: &str, begins: &[u8; 12]) {
    let head =
        format!("GET /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: {authorization}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = [0; 12];
    soon(stream.read_exact(&mut response)).await.unwrap();
    assert_eq!(&response, begins);
    // The rest of the response.
    let mut rest = [0; 4096];
    assert_ne!(soon(stream.read(&mut rest)).await.unwrap(), 0);
}

#[tokio::test]
async fn when_all_slots_are_in_use_the_oldest_connection_without_a_valid_key_is_replaced() {
    let server = Server::start_with(Setup {
        limits: Limits {
            max_connections: 3,
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await;
    let bearer = server.bearer();
    let mut with_key = server.connect().await;
    ask(&mut with_key, &bearer, b"HTTP/1.1 200").await;
    let silent = server.connect().await;
    let mut rejected = server.connect().await;
    ask(&mut rejected, "Bearer wrong", b"HTTP/1.1 401").await;
    let mut newcomers = Vec::new();
    for mut oldest in [silent, rejected] {
        let mut newcomer = server.connect().await;
        ask(&mut newcomer, &bearer, b"HTTP/1.1 200").await;
        let mut response = Vec::new();
        let _ = soon(oldest.read_to_end(&mut response)).await;
        assert!(response.is_empty());
        newcomers.push(newcomer);
    }
    // Connections that have carried a valid key keep their slots.
    assert!(server.raw("").await.starts_with("HTTP/1.1 503 "));
    for connection in newcomers.iter_mut().chain([&mut with_key]) {
        ask(connection, &bearer, b"HTTP/1.1 200").await;
    }
}

#[tokio::test]
async fn a_response_in_progress_is_aborted_only_if_no_connection_is_idle() {
    let server = Server::start_with(Setup {
        limits: Limits {
            max_connections: 2,
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await;
    // A file of a photo that does not fit into the buffers of the system.
    let name = format!("{:032x}-large.jpg", 1);
    std::fs::create_dir(server.photos.path().join("00")).unwrap();
    std::fs::write(
        server.photos.path().join("00").join(&name),
        vec![7; 4 << 20],
    )
    .unwrap();
    let mut reader = server.connect().await;
    let head = format!("GET /photos/{name} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    reader.write_all(head.as_bytes()).await.unwrap();
    soon(reader.read_exact(&mut [0; 12])).await.unwrap();
    let mut idle = server.connect().await;
    ask(&mut idle, "Bearer wrong", b"HTTP/1.1 401").await;
    let mut newcomer = server.connect().await;
    ask(&mut newcomer, &server.bearer(), b"HTTP/1.1 200").await;
    let mut rest = Vec::new();
    let _ = soon(idle.read_to_end(&mut rest)).await;
    assert!(rest.is_empty());
    soon(reader.read_to_end(&mut rest)).await.unwrap();
    assert!(rest.len() > 4 << 20, "{}", rest.len());
}

#[tokio::test]
async fn a_trusted_proxy_and_a_local_program_may_use_all_connections() {
    for is_proxy in [true, false] {
        let proxies = is_proxy.then(|| "127.0.0.0/8".parse().unwrap());
        let limits = Limits {
            max_connections: 3,
            max_connections_per_address: 1,
            trusted_proxies: proxies.into_iter().collect(),
            exempts_loopback: !is_proxy,
            ..Setup::default().limits
        };
        let server = Server::start_with(Setup {
            limits,
            ..Setup::default()
        })
        .await;
        let mut open = Vec::new();
        for _ in 0..3 {
            let mut connection = server.connect().await;
            ask(&mut connection, &server.bearer(), b"HTTP/1.1 200").await;
            open.push(connection);
        }
        assert!(server.raw("").await.contains("Too many connections. Retry"));
    }
}

#[tokio::test]
async fn one_address_cannot_use_all_connections() {
    let server = Server::start_with(Setup {
        limits: Limits {
            max_connections_per_address: 1,
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await;
    let mut first = server.connect().await;
    first
        .write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut response = [0; 12];
    soon(first.read_exact(&mut response)).await.unwrap();
    let response = server.raw("").await;
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    assert!(response.contains("X-Request-Id: "), "{response}");
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains(&format!("Content-Length: {}\r\n", body.len())),
        "{response}"
    );
    // There is a slot for another address.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(server.address).await.unwrap();
    other
        .write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut response = [0; 12];
    soon(other.read_exact(&mut response)).await.unwrap();
    assert_eq!(&response, b"HTTP/1.1 401");
}
