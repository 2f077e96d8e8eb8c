//! Limits on sizes, media types and times, and the request id.

use std::{sync::Arc, time::Duration};

use petstore_domain::{NewPet, PetName, PetStatus};
use petstore_testing::harness::{Server, Setup, soon};
use petstore_web::server::Limits;
use reqwest::Method;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time,
};

/// A valid body of this length.
fn body_of(length: usize) -> String {
    let frame = r#"{"name": "", "categoryId": 1}"#;
    format!(
        r#"{{"name": "{}", "categoryId": 1}}"#,
        "n".repeat(length - frame.len())
    )
}

#[tokio::test]
async fn a_body_may_have_64_kib_and_one_byte_more_is_413() {
    let server = Server::start().await;
    assert_eq!(server.post(body_of(65_536)).await.status, 201);
    server
        .post(body_of(65_537))
        .await
        .expect_error(413, "payload_too_large");
    // Large enough that the client is still sending when the response arrives.
    server
        .post(vec![b' '; 8 << 20])
        .await
        .expect_error(413, "payload_too_large");
}

#[tokio::test]
async fn a_client_that_sends_everything_before_it_reads_gets_the_response() {
    let server = Server::start().await;
    for (key, status) in [(server.bearer(), 413), ("Bearer wrong".to_owned(), 401)] {
        let head = format!(
            "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: {key}\r\n\
             content-type: application/json\r\ncontent-length: 2000000\r\n\r\n"
        );
        let response = server.raw(head + &" ".repeat(900_000)).await;
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{response}"
        );
    }
}

#[tokio::test]
async fn a_chunked_body_has_the_same_limit() {
    let server = Server::start().await;
    let request = |length: usize| {
        format!(
            "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\nconnection: close\r\n\
             content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n\
             {length:x}\r\n{}\r\n0\r\n\r\n",
            server.bearer(),
            body_of(length)
        )
    };
    assert!(
        server
            .raw(request(65_536))
            .await
            .starts_with("HTTP/1.1 201 ")
    );
    assert!(
        server
            .raw(request(65_537))
            .await
            .starts_with("HTTP/1.1 413 ")
    );
}

#[tokio::test]
async fn every_response_has_nosniff() {
    let server = Server::start().await;
    // hyper itself responds to the last three.
    let end = "host: x\r\nconnection: close\r\n\r\n";
    let requests = [
        (308, format!("GET /docs HTTP/1.1\r\n{end}")),
        (404, format!("GET /nothing HTTP/1.1\r\n{end}")),
        (401, format!("GET /v1/pets HTTP/1.1\r\n{end}")),
        (400, format!("GET /v1/pets HTTP/1.1\r\nhost : x\r\n{end}")),
        (400, format!("GET /v1/pets HTTP/1.1\n{end}")),
        (
            431,
            format!(
                "GET /v1/pets HTTP/1.1\r\na: {}\r\n{end}",
                "a".repeat(70_000)
            ),
        ),
    ];
    for (status, request) in requests {
        let response = server.raw(request).await;
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{response}"
        );
        let says = response
            .to_lowercase()
            .contains("\r\nx-content-type-options: nosniff\r\n");
        assert!(says, "{response}");
    }
}

#[tokio::test]
async fn a_content_type_other_than_json_is_415() {
    let server = Server::start().await;
    let bearer = server.bearer();
    let body = r#"{"name": "", "categoryId": 1}"#;
    for media_type in [
        "text/plain",
        "application/xml",
        "application/jsonp",
        "json",
        "",
    ] {
        let headers = [("authorization", &*bearer), ("content-type", media_type)];
        let reply = server.send(Method::POST, "/v1/pets", &headers, body).await;
        reply.expect_error(415, "unsupported_media_type");
    }
    let headers = [("authorization", &*bearer)];
    let reply = server.send(Method::POST, "/v1/pets", &headers, body).await;
    reply.expect_error(415, "unsupported_media_type");
    for other in [("content-type", "text/plain"), ("content-encoding", "gzip")] {
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            other,
        ];
        let reply = server.send(Method::POST, "/v1/pets", &headers, body).await;
        reply.expect_error(415, "unsupported_media_type");
    }
    for media_type in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON ;a=b",
    ] {
        let headers = [("authorization", &*bearer), ("content-type", media_type)];
        let reply = server.send(Method::POST, "/v1/pets", &headers, body).await;
        assert_eq!(reply.status, 201, "{media_type}");
    }
}

#[tokio::test]
async fn a_head_above_16_kib_or_64_fields_is_431() {
    let server = Server::start().await;
    let bearer = server.bearer();
    let large = "x".repeat(16 << 10);
    let headers = [("authorization", &*bearer), ("x-large", &*large)];
    let reply = server.send(Method::GET, "/v1/pets", &headers, "").await;
    reply.expect_error(431, "payload_too_large");
    let target = format!("/v1/pets?x={large}");
    server
        .get(&target)
        .await
        .expect_error(431, "payload_too_large");
    for (length, status) in [(16 << 10, "200"), ((16 << 10) + 1, "431")] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "GET /v1/pets HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: {bearer}\r\nx: \r\n"
        );
        let filler = "x".repeat(length - head.len());
        let head = head.replace("x: \r\n", &format!("x: {filler}\r\n\r\n"));
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        assert!(
            reply.starts_with(&format!("HTTP/1.1 {status} ")),
            "{length}: {reply}"
        );
    }

    let names: Vec<String> = (0..80).map(|at| format!("x-{at}")).collect();
    let mut headers = vec![("authorization", &*bearer)];
    headers.extend(names.iter().map(|name| (&**name, "1")));
    let reply = server.send(Method::GET, "/v1/pets", &headers, "").await;
    reply.expect_error(431, "payload_too_large");
    let reply = server
        .send(Method::GET, "/v1/pets", &headers[..50], "")
        .await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn every_response_has_a_request_id_and_a_valid_one_is_used() {
    let server = Server::start().await;
    let first = server.get("/v1/pets").await;
    let second = server.get("/v1/nothing").await;
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    let bearer = server.bearer();
    let (longest, too_long) = ("a".repeat(128), "a".repeat(129));
    for (given, kept) in [
        ("a", true),
        ("order-17.a:b_c", true),
        (&longest, true),
        (&too_long, false),
        ("", false),
        ("a b", false),
        ("a\"b", false),
        ("<x>", false),
        ("é", false),
    ] {
        let headers = [("authorization", &*bearer), ("x-request-id", given)];
        let reply = server.send(Method::GET, "/v1/pets", &headers, "").await;
        assert_eq!(reply.header("x-request-id") == Some(given), kept, "{given}");
    }
}

#[tokio::test]
async fn http_2_is_spoken_with_prior_knowledge() {
    let server = Server::start().await;
    let client = reqwest::Client::builder()
        .no_proxy()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let url = format!("http://{}/v1/pets", server.address);
    let reply = client
        .get(&url)
        .bearer_auth(&server.key)
        .send()
        .await
        .unwrap();
    assert_eq!(reply.version(), reqwest::Version::HTTP_2);
    assert_eq!(reply.status(), 200);
    let large = vec![b' '; 1 << 20];
    let request = client.post(&url).bearer_auth(&server.key).body(large);
    let reply = request
        .header("content-type", "application/json")
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), 413);
}

async fn impatient() -> Server {
    Server::start_with(Setup {
        limits: Limits {
            client_timeout: Duration::from_millis(500),
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await
}

#[tokio::test]
async fn a_client_that_does_not_finish_its_head_is_disconnected() {
    let server = impatient().await;
    for beginning in [
        "",
        "G",
        "PRI * HTTP/2.0\r\n",
        "GET /v1/pets HTTP/1.1\r\nhost: x\r\nx-more: ",
    ] {
        let mut stream = server.connect().await;
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        // Completes when the server closes the connection.
        let _ = soon(stream.read_to_end(&mut response)).await;
        assert!(response.is_empty(), "{beginning}");
    }
}

#[tokio::test]
async fn a_connection_that_stays_idle_after_a_response_is_closed() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    stream
        .write_all(b"GET /docs HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut response = String::new();
    soon(stream.read_to_string(&mut response)).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 308 "), "{response}");
}

#[tokio::test]
async fn a_client_that_reads_no_responses_is_disconnected() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    let file = server
        .send(Method::GET, "/docs/swagger-ui-bundle.js", &[], "")
        .await;
    // More than the buffers of both sides.
    let requests = 20;
    let request = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n";
    stream
        .write_all(request.repeat(requests).as_bytes())
        .await
        .unwrap();
    // The server aborts at the first response that it cannot send. The client starts to read after
    // that.
    soon(async {
        while Arc::strong_count(&server.api) > 3 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let mut responses = Vec::new();
    let _ = soon(stream.read_to_end(&mut responses)).await;
    assert!(responses.len() < requests * file.body.len());
}

#[tokio::test]
async fn an_http_2_connection_without_requests_is_closed() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    // The preface and an empty SETTINGS frame, followed by nothing, which is valid.
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .await
        .unwrap();
    stream
        .write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0])
        .await
        .unwrap();
    let mut frames = Vec::new();
    let _ = soon(stream.read_to_end(&mut frames)).await;
    assert!(!frames.is_empty());
}

#[tokio::test]
async fn a_response_before_the_end_of_the_body_announces_connection_close() {
    let server = Server::start().await;
    let head = format!(
        "POST /v1/nothing HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\ncontent-length: 2\r\n\r\n",
        server.bearer()
    );
    let response = server.raw(head).await;
    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
    assert!(response.contains("Connection: close\r\n"), "{response}");
    let whole = server.get("/v1/nothing").await;
    assert_eq!(whole.header("connection"), None);
}

#[tokio::test]
async fn a_client_that_closed_its_side_still_gets_a_response() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream
        .write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    stream.shutdown().await.unwrap();
    let mut response = String::new();
    soon(stream.read_to_string(&mut response)).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
}

#[tokio::test]
async fn a_busy_connection_that_is_too_old_ends_with_a_response_that_announces_it() {
    let server = Server::start_with(Setup {
        limits: Limits {
            // The connection is never idle for so long, even on a machine that is busy.
            client_timeout: Duration::from_secs(1),
            connection_age: Duration::from_millis(300),
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await;
    let mut stream = server.connect().await;
    let mut responses = Vec::new();
    soon(async {
        while !String::from_utf8_lossy(&responses).contains("Connection: close\r\n") {
            stream
                .write_all(b"GET /docs HTTP/1.1\r\nhost: x\r\n\r\n")
                .await
                .unwrap();
            assert_ne!(stream.read_buf(&mut responses).await.unwrap(), 0);
        }
        // The rest of this response can come later.
        stream.read_to_end(&mut responses).await.unwrap();
    })
    .await;
    let responses = String::from_utf8(responses).unwrap();
    let (_, rest) = responses.split_once("Connection: close\r\n").unwrap();
    assert!(
        rest.ends_with("\r\n\r\n") && !rest.contains("HTTP/1.1"),
        "{rest}"
    );
}

#[tokio::test]
async fn a_request_that_would_wait_forever_is_503() {
    let server = Server::start_with(Setup {
        request_timeout: Duration::from_millis(200),
        ..Setup::default()
    })
    .await;
    // The store waits five seconds for the lock, which the test holds.
    let lock = server.hold_writes().await;
    let body = r#"{"name": "", "categoryId": 1}"#;
    let reply = server.post(body).await;
    reply.expect_error(503, "unavailable");
    assert!(
        reply.json()["message"]
            .as_str()
            .unwrap()
            .contains("may or may not have been made")
    );
    drop(lock);
    soon(async { while server.post(body).await.status != 201 {} }).await;
}

/// A connection with a small receive buffer.
async fn connect_with_small_buffer(server: &Server) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    socket.connect(server.address).await.unwrap()
}

/// Requests a hundred animals, and reads nothing.
async fn ask_for_large_page(server: &Server, stream: &mut TcpStream) {
    let head = format!(
        "GET /v1/pets?limit=100 HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\n\r\n",
        server.bearer()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
}

/// Adds a hundred animals with names of 64 KiB.
async fn fill_with_large_names(server: &Server) {
    let name = "n".repeat(64 << 10);
    for _ in 0..100 {
        let name = PetName::new(name.clone()).unwrap();
        let new = NewPet {
            name,
            category_id: 1,
            status: PetStatus::Available,
            is_listed: true,
        };
        server
            .store
            .create_pet(new, server.act(), |_| unreachable!())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_client_that_reads_slowly_but_steadily_gets_the_whole_response() {
    let server = Server::start_with(Setup {
        limits: Limits {
            client_timeout: Duration::from_secs(1),
            ..Setup::default().limits
        },
        ..Setup::default()
    })
    .await;
    fill_with_large_names(&server).await;
    let mut stream = connect_with_small_buffer(&server).await;
    ask_for_large_page(&server, &mut stream).await;
    // Three seconds in total, which is three checks of the connection.
    let mut pace = time::interval(Duration::from_millis(30));
    let mut response = Vec::new();
    let mut piece = vec![0; 64 << 10];
    soon(async {
        loop {
            pace.tick().await;
            match stream.read(&mut piece).await.unwrap() {
                0 => break,
                read => response.extend_from_slice(&piece[..read]),
            }
        }
    })
    .await;
    assert!(
        response.len() > 100 << 16 && response.ends_with(b"}]"),
        "{}",
        response.len()
    );
}

#[tokio::test]
async fn unread_large_responses_leave_room_for_small_ones() {
    let server = Server::start_with(Setup {
        response_memory: 16 << 20,
        ..Setup::default()
    })
    .await;
    fill_with_large_names(&server).await;
    server.fill([PetStatus::Sold]).await;
    let mut stuck = connect_with_small_buffer(&server).await;
    ask_for_large_page(&server, &mut stuck).await;
    let mut response = [0; 12];
    soon(stuck.read_exact(&mut response)).await.unwrap();
    assert_eq!(&response, b"HTTP/1.1 200");
    server
        .get("/v1/pets?limit=100")
        .await
        .expect_error(503, "unavailable");
    assert_eq!(
        server
            .get("/v1/pets?status=sold&limit=100")
            .await
            .ids()
            .len(),
        1
    );
    assert_eq!(server.get("/v1/pets/1").await.status, 200);
    // The response of a closed connection is dropped.
    drop(stuck);
    soon(async { while server.get("/v1/pets?limit=100").await.status != 200 {} }).await;
}
