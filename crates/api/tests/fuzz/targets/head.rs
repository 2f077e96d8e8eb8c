//! Arbitrary bytes on a connection. `{key}` in the input is replaced by the valid key.

use std::{net::SocketAddr, sync::LazyLock, time::Duration};

use petstore_domain::Networks;
use petstore_web::server::{self, Limits};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::service::{SERVICE, expect_error};

static ADDRESS: LazyLock<SocketAddr> = LazyLock::new(|| {
    let limits = Limits {
        max_connections: 1000,
        max_connections_per_address: 1000,
        trusted_proxies: Networks::default(),
        exempts_loopback: false,
        client_timeout: Duration::from_mins(1),
        connection_age: Duration::from_hours(1),
        shutdown_timeout: Duration::from_mins(1),
    };
    let listener = SERVICE
        .runtime
        .block_on(TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let address = listener.local_addr().unwrap();
    let api = SERVICE.api.clone();
    SERVICE.runtime.spawn(async move {
        let forever = Box::pin(std::future::pending());
        server::serve(listener, None, api.clone_as_handler(), &limits, forever).await;
    });
    address
});

/// A client that closes its side gets its responses, so this timeout is generous.
const SOON: Duration = Duration::from_secs(20);

pub(super) fn run(input: &[u8]) {
    let input = with_key(input);
    let exchange = exchange(*ADDRESS, &input);
    let result = SERVICE
        .runtime
        .block_on(async { timeout(SOON, exchange).await });
    let responses = result.unwrap_or_else(|_| panic!("no response and not closed"));
    if !input.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
        expect_responses(&input, &responses);
    }
}

fn with_key(input: &[u8]) -> Vec<u8> {
    let mut with_key = Vec::with_capacity(input.len() + SERVICE.key.len());
    let mut rest = input;
    while let Some((&first, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(b"{key}") {
            with_key.extend_from_slice(SERVICE.key.as_bytes());
            rest = after;
        } else {
            with_key.push(first);
            rest = after;
        }
    }
    with_key
}

/// Sends the bytes, closes its side, and reads until the server closes.
async fn exchange(address: SocketAddr, input: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let mut responses = Vec::new();
    let sending = async {
        // The server may close before it has read everything.
        let _ = writer.write_all(input).await;
        let _ = writer.shutdown().await;
    };
    let _ = tokio::join!(sending, reader.read_to_end(&mut responses));
    responses
}

/// Fails unless these are complete responses without an internal error, and no more than the input
/// can contain requests.
pub(crate) fn expect_responses(input: &[u8], responses: &[u8]) {
    let mut left = responses;
    let mut count = 0;
    let mut last = false;
    while !left.is_empty() {
        let length = left.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let (head, rest) = left.split_at(length.expect("the head of a response") + 4);
        let head = std::str::from_utf8(head).unwrap();
        let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5));
        let status: u16 = status
            .and_then(|status| status.parse().ok())
            .expect("a status line");
        left = rest;
        if status == 100 {
            continue;
        }
        assert!(!last, "a response after the last one: {head}");
        assert!(status < 500, "{head}");
        count += 1;
        last = field(head, "Connection") == Some("close");
        // A response to HEAD has a length, but no body.
        let bare = left.is_empty() || left.starts_with(b"HTTP/1.");
        let length = field(head, "Content-Length").map_or(0, |length| length.parse().unwrap());
        if bare || length == 0 {
            continue;
        }
        let (body, rest) = left.split_at_checked(length).expect("a whole body");
        left = rest;
        if status >= 400 {
            let body: Value = serde_json::from_slice(body).unwrap();
            expect_error(status, &body);
        }
    }
    // Each complete request has an empty line at the end of its head.
    let ends = |bytes: &&[u8]| bytes.starts_with(b"\n\n") || bytes.starts_with(b"\n\r\n");
    let requests = (0..input.len()).map(|at| &input[at..]).filter(ends).count() + 1;
    assert!(
        count <= requests,
        "{count} responses to {requests} requests"
    );
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] = b"GET /docs HTTP/1.1\r\nhost: x\r\n\r\n";
    const RESPONSE: &str = "HTTP/1.1 308 Permanent Redirect\r\nContent-Length: 0\r\n\r\n";

    fn expect(responses: &str) {
        expect_responses(REQUEST, responses.as_bytes());
    }

    #[test]
    fn a_response_to_a_request_passes() {
        expect("");
        expect(RESPONSE);
        // The second response may belong to an incomplete request.
        expect(&format!(
            "HTTP/1.1 100 Continue\r\n\r\n{RESPONSE}HTTP/1.1 400 Bad Request\r\n\r\n"
        ));
    }

    #[test]
    #[should_panic(expected = "3 responses to 2 requests")]
    fn more_responses_than_requests_fail() {
        expect(&RESPONSE.repeat(3));
    }

    #[test]
    #[should_panic(expected = "a response after the last one")]
    fn a_response_after_the_last_one_fails() {
        let last = RESPONSE.replace("Content-Length", "Connection: close\r\nContent-Length");
        expect(&(last + RESPONSE));
    }

    #[test]
    #[should_panic(expected = "500 Internal")]
    fn a_fault_of_the_service_fails() {
        expect("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
    }

    #[test]
    #[should_panic(expected = "a whole body")]
    fn half_a_response_fails() {
        expect("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[]");
    }

    #[test]
    #[should_panic(expected = "left: 2")]
    fn an_error_of_another_form_fails() {
        expect(
            "HTTP/1.1 404 Not Found\r\nContent-Length: 26\r\n\r\n{\"code\": \"x\",\"message\": 1}",
        );
    }
}
