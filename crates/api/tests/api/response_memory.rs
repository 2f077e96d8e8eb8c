//! HTTP/2 clients that send requests and accept no response data.

use bytes::Bytes;
use futures_util::future::join_all;
use h2::{Reason, RecvStream, client};
use hyper::Request;
use petstore_domain::PetId;
use petstore_testing::harness::{Server, Setup, soon};

/// Sends this many concurrent requests over a connection with a closed window. Returns the status
/// of each, 0 for a stream that was rejected, and a guard that keeps the responses waiting.
async fn ask_without_reading(
    server: &Server,
    count: usize,
    method: &str,
    body: &str,
) -> (Vec<u16>, Vec<RecvStream>) {
    let mut builder = client::Builder::new();
    builder.initial_window_size(0);
    let (requests, connection) = builder.handshake(server.connect().await).await.unwrap();
    tokio::spawn(connection);
    let mut requests = requests.ready().await.unwrap();
    let asked = (0..count).map(|_| {
        let request = Request::builder()
            .method(method)
            .uri("http://x/v1/pets")
            .header("authorization", server.bearer())
            .header("content-type", "application/json");
        let request = request.body(()).unwrap();
        let (response, mut sending) = requests.send_request(request, body.is_empty()).unwrap();
        if !body.is_empty() {
            sending
                .send_data(Bytes::from(body.to_owned()), true)
                .unwrap();
        }
        response
    });
    let (mut statuses, mut waiting) = (Vec::new(), Vec::new());
    for response in soon(join_all(asked.collect::<Vec<_>>())).await {
        match response {
            Ok(response) => {
                statuses.push(response.status().as_u16());
                waiting.push(response.into_body());
            }
            Err(error) => {
                assert_eq!(error.reason(), Some(Reason::REFUSED_STREAM), "{error}");
                statuses.push(0);
            }
        }
    }
    (statuses, waiting)
}

fn how_many(of: u16, statuses: &[u16]) -> usize {
    statuses.iter().filter(|status| **status == of).count()
}

#[tokio::test]
async fn unread_responses_to_creates_stay_within_response_memory() {
    let response_memory = 1 << 20;
    let server: Server = Server::start_with(Setup {
        response_memory,
        ..Setup::default()
    })
    .await;
    let name = "n".repeat(60_000);
    let body = format!(r#"{{"name": "{name}", "categoryId": 1}}"#);
    let (mut statuses, mut waiting) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let (more, wait) = ask_without_reading(&server, 16, "POST", &body).await;
        statuses.extend(more);
        waiting.extend(wait);
    }
    // There is memory for 17 of the 64.
    let added = how_many(201, &statuses);
    assert!(
        (1..=response_memory / name.len()).contains(&added),
        "{added}"
    );
    // A rejected create adds nothing.
    assert_eq!(
        how_many(503, &statuses) + how_many(0, &statuses),
        64 - added
    );
    let id = |id: usize| PetId::new(id.try_into().unwrap()).unwrap();
    assert!(server.store.get_pet(id(added)).await.unwrap().is_some());
    assert!(server.store.get_pet(id(added + 1)).await.unwrap().is_none());
    // When the connections close, there is memory again.
    drop(waiting);
    soon(async {
        while server.post(body.clone()).await.status != 201 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn without_memory_a_connection_gets_one_request_through_at_a_time() {
    // Less than one request needs.
    let response_memory = 16 << 10;
    let server: Server = Server::start_with(Setup {
        response_memory,
        ..Setup::default()
    })
    .await;
    let (first, _waiting) = ask_without_reading(&server, 4, "GET", "").await;
    assert_eq!(first.len(), 4);
    let mut kept = Vec::new();
    for _ in 0..3 {
        let (one, waiting) = ask_without_reading(&server, 1, "GET", "").await;
        kept.extend(waiting);
        assert_eq!(how_many(0, &one), 0, "an honest client gets 503: {one:?}");
    }
    let (statuses, _waiting) = ask_without_reading(&server, 30, "GET", "").await;
    assert_eq!(how_many(0, &statuses), 29, "{statuses:?}");
}
