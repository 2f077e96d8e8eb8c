//! Shutdown: requests in flight get their responses, and nothing delays the end.

use std::{sync::Arc, time::Duration};

use petstore_testing::harness::{Server, Setup, soon};
use petstore_web::server::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn stopping_within(shutdown_timeout: Duration) -> Server {
    Server::start_with(Setup {
        limits: Limits {
            shutdown_timeout,
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await
}

#[tokio::test]
async fn a_request_in_flight_gets_its_response_before_the_server_exits() {
    let mut server = stopping_within(Duration::from_mins(1)).await;
    let mut stream = server.connect().await;
    let body = r#"{"name": "last", "categoryId": 1}"#;
    let head = format!(
        "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\nexpect: 100-continue\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.bearer(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The service asks for the body, so the request is in flight now.
    let mut interim = [0; 25];
    soon(stream.read_exact(&mut interim)).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");

    let ended = server.stop();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut response = String::new();
    soon(stream.read_to_string(&mut response)).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    soon(ended).await.unwrap();
}

#[tokio::test]
async fn idle_and_silent_connections_do_not_delay_the_shutdown() {
    let mut server = stopping_within(Duration::from_mins(1)).await;
    let silent = server.connect().await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /docs HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut response = [0; 12];
    soon(idle.read_exact(&mut response)).await.unwrap();
    // Long before the deadline of a minute.
    soon(server.stop()).await.unwrap();
    drop((silent, idle));
}

#[tokio::test]
async fn a_stuck_request_is_aborted_at_the_deadline() {
    let mut server = stopping_within(Duration::from_millis(200)).await;
    let mut stream = server.connect().await;
    let head = format!(
        "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        server.bearer()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    soon(server.stop()).await.unwrap();
    let mut response = Vec::new();
    let _ = soon(stream.read_to_end(&mut response)).await;
    assert!(response.is_empty());
}

#[tokio::test]
async fn after_shutdown_no_task_is_left() {
    let mut server = stopping_within(Duration::from_mins(1)).await;
    server.get("/docs").await;
    soon(server.stop()).await.unwrap();
    assert!(
        tokio::net::TcpStream::connect(server.address)
            .await
            .is_err()
    );
    // The test has the only handles left, so no task of the server has one.
    assert_eq!(Arc::strong_count(&server.api), 1);
}
