//! The limits on connections, and which connection is replaced at the limit.

use petstore::server::Limits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use super::harness::{Server, Setup, soon};

#[tokio::test]
async fn a_connection_above_the_limit_gets_503() {
    let server = Server::start_with(Setup {
        limits: Limits { max_connections: 1, ..Setup::default().limits },
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
        assert!(response.contains("X-Content-Type-Options: nosniff\r\n"), "{response}");
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
        limits: Limits { max_connections: 3, ..Setup::default().limits },
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
async fn one_address_cannot_use_all_connections() {
    let server = Server::start_with(Setup {
        limits: Limits { max_connections_per_address: 1, ..Setup::default().limits },
        ..Setup::default()
    })
    .await;
    let mut first = server.connect().await;
    first.write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut response = [0; 12];
    soon(first.read_exact(&mut response)).await.unwrap();
    let response = server.raw("").await;
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    assert!(response.contains("X-Request-Id: "), "{response}");
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{response}");
    // There is a slot for another address.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(server.address).await.unwrap();
    other.write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut response = [0; 12];
    soon(other.read_exact(&mut response)).await.unwrap();
    assert_eq!(&response, b"HTTP/1.1 401");
}
