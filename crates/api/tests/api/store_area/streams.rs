//! `GET /v1/store/changes`, as Server-Sent Events.

use std::time::Duration;

use petstore_domain::{NewPet, PetName, PetStatus, Scope};
use petstore_testing::{
    contract,
    harness::{Setup, soon},
    reply::what,
};
use petstore_web::server::Limits;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
};

use super::{Store, changes::change};

/// A stream that a client reads.
pub(super) struct Events {
    response: Response,
    unread: String,
}

/// A block of a stream.
#[derive(Debug, Default)]
struct Event {
    id: Option<String>,
    data: Option<Value>,
    comment: Option<String>,
}

impl Events {
    /// The next block; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let mut event = Event::default();
                for line in block.split('\n') {
                    match line.split_once(": ").unwrap() {
                        ("", comment) => event.comment = Some(comment.to_owned()),
                        ("id", id) => event.id = Some(id.to_owned()),
                        ("data", data) => event.data = Some(serde_json::from_str(data).unwrap()),
                        _ => panic!("an event has another line: {line}"),
                    }
                }
                self.unread = rest.to_owned();
                return Some(event);
            }
            let piece = soon(self.response.chunk()).await.unwrap()?;
            self.unread.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// The next change, and its id.
    pub(super) async fn change(&mut self) -> (Value, String) {
        let event = self.next().await.unwrap();
        let change = event.data.unwrap();
        contract::check_change(&change);
        (change, event.id.unwrap())
    }
}

impl Store {
    /// Begins to receive a response, whose head is compared with the document.
    async fn open_stream(&self, target: &str, headers: &[(&str, &str)]) -> Events {
        let url = format!("http://{}/v1/store{target}", self.server.address);
        let mut request = self
            .server
            .client
            .get(url)
            .header("accept", "text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        let path = response.url().path();
        contract::check_head(&Method::GET, path, response.status(), response.headers());
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events {
            response,
            unread: String::new(),
        }
    }

    pub(super) async fn stream(&self, target: &str, headers: &[(&str, &str)]) -> Events {
        let bearer = format!("Bearer {}", self.key);
        self.open_stream(target, &[&[("authorization", &*bearer)], headers].concat())
            .await
    }

    /// Adds so many animals with names of 60,000 bytes.
    async fn add_long(&self, count: usize) {
        for _ in 0..count {
            let name = PetName::new("a".repeat(60_000)).unwrap();
            let new = NewPet {
                name,
                category_id: 1,
                status: PetStatus::Available,
                is_listed: true,
            };
            let server = &self.server;
            server
                .store
                .create_pet(new, server.act(), |_| unreachable!())
                .await
                .unwrap();
        }
    }

    /// How many streams the service ended for this cause.
    fn ended(&self, cause: &str) -> u64 {
        let name = format!("\npetstore_feed_streams_ended_total{{cause=\"{cause}\"}} ");
        let metrics = self.server.api.metrics();
        metrics
            .split_once(&name)
            .unwrap()
            .1
            .lines()
            .next()
            .unwrap()
            .parse()
            .unwrap()
    }
}

#[tokio::test]
async fn a_stream_has_each_change_as_an_event_and_continues_after_the_last_one() {
    let store = Store::open().await;
    let pet = store.add("Rex\n", "available").await;
    let subject = format!("pet:{pet}");
    // The changes before, from the store, and then those that come.
    let mut events = store.stream("/changes?after=start", &[]).await;
    let (added, first) = events.change().await;
    assert_eq!(what(&added), change(1, "pet.added", &subject, 1));
    store.withdraw(pet, 1).await.ok();
    let (withdrawn, _) = events.change().await;
    assert_eq!(withdrawn, store.get("/changes?after=start").await.json()[1]);
    // The id takes precedence.
    let after = [("last-event-id", &*first)];
    let mut events = store.stream("/changes?after=start", &after).await;
    assert_eq!(events.change().await.0, withdrawn);
    let mut events = store.stream(&format!("/changes?after={first}"), &[]).await;
    assert_eq!(events.change().await.0, withdrawn);
}

#[tokio::test]
async fn a_stream_from_now_on_begins_with_an_id_to_continue_at() {
    let store = Store::open().await;
    store.add("before", "available").await;
    let beginning = store.stream("/changes", &[]).await.next().await.unwrap();
    assert!(beginning.data.is_none());
    store.add("after", "available").await;
    let id = beginning.id.unwrap();
    let mut events = store.stream("/changes", &[("last-event-id", &id)]).await;
    assert_eq!(events.change().await.0["after"]["name"], "after");
}

#[tokio::test]
async fn a_stream_of_one_type_leaves_out_the_others() {
    let store = Store::open().await;
    let (a, b) = (
        store.add("a", "available").await,
        store.add("b", "available").await,
    );
    store.withdraw(a, 1).await.ok();
    let mut events = store
        .stream("/changes?after=start&type=pet.withdrawn", &[])
        .await;
    assert_eq!(what(&events.change().await.0).0, 3);
    store.add("c", "available").await;
    store.withdraw(b, 1).await.ok();
    assert_eq!(what(&events.change().await.0).0, 5);
}

#[tokio::test]
async fn a_stream_has_changes_of_a_later_release_unless_it_is_of_one_type() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    // From what all streams share, and from the store.
    for (number, after) in [(2, ""), (4, "?after=start")] {
        let mut all = store.stream(&format!("/changes{after}"), &[]).await;
        let of_one = store.stream("/changes?type=pet.withdrawn", &[]);
        let mut of_one = of_one.await;
        if after.is_empty() {
            all.next().await.unwrap();
            of_one.next().await.unwrap();
        }
        store.server.log_of_later_release(pet).await;
        let mut types = Vec::new();
        while types.last().is_none_or(|&(seq, _)| seq < number) {
            let (seq, kind, ..) = what(&all.change().await.0);
            types.push((seq, kind));
        }
        assert_eq!(types.pop().unwrap(), (number, "photo.added".to_owned()));
        let other = store.add("Max", "available").await;
        assert_eq!(
            what(&all.change().await.0),
            change(number + 1, "pet.added", &format!("pet:{other}"), 1)
        );
    }
}

#[tokio::test]
async fn a_stream_has_no_limit_and_no_time_to_wait_and_needs_a_valid_id() {
    let store = Store::open().await;
    let accept = ("accept", "text/event-stream");
    for query in ["limit=1", "wait=1s"] {
        let reply = store
            .send(&format!("GET /changes?{query}"), &[accept], "")
            .await;
        reply.expect_message(400, "invalid_parameter", "only for pages");
    }
    let invalid = [accept, ("last-event-id", "start")];
    let reply = store.send("GET /changes", &invalid, "").await;
    reply.expect_message(
        400,
        "invalid_cursor",
        "Last-Event-ID must be taken unchanged",
    );
    let both = ("accept", "application/json, text/event-stream");
    assert_eq!(
        store.send("GET /changes", &[both], "").await.ok(),
        json!([])
    );
    let head = store.send("HEAD /changes", &[], "").await;
    assert_eq!(
        (head.status.as_u16(), head.header("content-length")),
        (200, Some("2"))
    );
}

#[tokio::test]
async fn a_stream_ends_with_its_key() {
    let store = Store::open().await;
    let (key, id) = store.server.new_key(Scope::StoreRead, None).await;
    let (expiring, _) = store
        .server
        .new_key(Scope::StoreRead, Some(Duration::from_mins(1)))
        .await;
    let mut kept = store.stream("/changes?after=start", &[]).await;
    let open = async |key: &str| {
        let bearer = format!("Bearer {key}");
        store
            .open_stream("/changes?after=start", &[("authorization", &*bearer)])
            .await
    };
    let (mut revoked, mut expired) = (open(&key).await, open(&expiring).await);
    store.followers(3).await;
    store
        .server
        .store
        .revoke_key(id, store.server.act())
        .await
        .unwrap();
    store.server.clock.advance(Duration::from_secs(1));
    assert!(revoked.next().await.is_none());
    store.server.clock.advance(Duration::from_mins(1));
    assert!(expired.next().await.is_none());
    store.followers(1).await;
    store.add("Rex", "available").await;
    kept.change().await;
}

#[tokio::test]
async fn streams_end_at_once_when_the_service_shuts_down() {
    let mut store = Store::open().await;
    let mut events = store.stream("/changes?after=start", &[]).await;
    let url = format!(
        "http://{}/v1/store/changes?after=start",
        store.server.address
    );
    let client = Client::builder().http2_prior_knowledge().build().unwrap();
    let request = client
        .get(url)
        .bearer_auth(&store.key)
        .header("accept", "text/event-stream");
    let response = request.send().await.unwrap();
    let mut over_http_2 = Events {
        response,
        unread: String::new(),
    };
    store.add("Rex", "available").await;
    assert_eq!(events.change().await, over_http_2.change().await);
    let stopped = store.server.stop();
    assert!(events.next().await.is_none());
    assert!(over_http_2.next().await.is_none());
    drop((events, over_http_2, client));
    soon(stopped).await.unwrap();
}

/// A server that looks often at the progress of its connections.
async fn impatient() -> Store {
    let client_timeout = Duration::from_secs(1);
    let limits = Limits {
        client_timeout,
        ..Setup::default().limits
    };
    Store::open_with(Setup {
        limits,
        ..Setup::default()
    })
    .await
}

#[tokio::test]
async fn a_stream_without_changes_stays_open_and_gets_comments() {
    let store = impatient().await;
    let mut events = store.stream("/changes?after=start", &[]).await;
    let comment = events.next().await.unwrap();
    assert_eq!(
        (comment.comment.as_deref(), comment.id),
        (Some("no change"), None)
    );
    store.add("Rex", "available").await;
    events.change().await;
}

#[tokio::test]
async fn a_stream_that_falls_behind_what_all_streams_share_goes_on_from_the_store() {
    let store = Store::open().await;
    let (mut slow, mut quick) = (
        store.stream("/changes", &[]).await,
        store.stream("/changes", &[]).await,
    );
    store.add("Rex", "available").await;
    for events in [&mut slow, &mut quick] {
        assert!(events.next().await.unwrap().data.is_none());
        assert_eq!(events.change().await.0["seq"], 1);
    }
    // More than is shared, and than the buffers of the system take.
    store.add_long(200).await;
    for events in [&mut quick, &mut slow] {
        for seq in 2..=201 {
            assert_eq!(events.change().await.0["seq"], seq);
        }
    }
}

#[tokio::test]
async fn streams_that_a_client_does_not_read_leave_memory_to_those_of_other_keys() {
    let store = Store::open_with(Setup {
        response_memory: 16 << 20,
        ..Setup::default()
    })
    .await;
    store.add_long(70).await;
    let mut unread = Vec::new();
    for _ in 0..64 {
        unread.push(store.stream("/changes?after=start", &[]).await);
    }
    store.followers(64).await;
    let (key, _) = store.server.new_key(Scope::StoreRead, None).await;
    let bearer = format!("Bearer {key}");
    let mut events = store
        .open_stream("/changes?after=start", &[("authorization", &*bearer)])
        .await;
    for seq in 1..=70 {
        assert_eq!(events.change().await.0["seq"], seq);
    }
    assert_eq!(store.ended("no_memory"), 0);
}

#[tokio::test]
async fn one_key_has_at_most_64_streams() {
    let store = Store::open().await;
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(store.stream("/changes", &[]).await);
    }
    let accept = [("accept", "text/event-stream")];
    let reply = soon(store.send("GET /changes", &accept, "")).await;
    reply.expect_message(
        429,
        "rate_limited",
        "At most 64 streams can be open at once",
    );
    assert_eq!(reply.header("retry-after"), Some("10"));
    // Pages are not streams, and other keys have their own.
    assert_eq!(store.get("/changes").await.status, 200);
    let (key, _) = store.server.new_key(Scope::StoreRead, None).await;
    let bearer = format!("Bearer {key}");
    store
        .open_stream("/changes", &[("authorization", &*bearer)])
        .await;
    open.clear();
    // The service notices a client that has gone when it sends something.
    soon(async {
        while !store
            .server
            .api
            .metrics()
            .contains("\npetstore_feed_followers 0\n")
        {
            store.add("Rex", "available").await;
        }
    })
    .await;
    store.stream("/changes", &[]).await;
}

#[tokio::test]
async fn a_stream_that_the_service_ends_is_counted_by_its_cause() {
    let store = Store::open_with(Setup {
        response_memory: 40 << 10,
        ..Setup::default()
    })
    .await;
    store.add_long(1).await;
    let mut events = store.stream("/changes?after=start", &[]).await;
    assert!(events.next().await.is_none());
    assert_eq!(
        (store.ended("no_memory"), store.ended("invalid_key")),
        (1, 0)
    );
    let (key, id) = store.server.new_key(Scope::StoreRead, None).await;
    let bearer = format!("Bearer {key}");
    let mut events = store
        .open_stream("/changes", &[("authorization", &*bearer)])
        .await;
    events.next().await.unwrap();
    store
        .server
        .store
        .revoke_key(id, store.server.act())
        .await
        .unwrap();
    store.server.clock.advance(Duration::from_secs(1));
    assert!(events.next().await.is_none());
    assert_eq!(
        (store.ended("no_memory"), store.ended("invalid_key")),
        (1, 1)
    );
}

#[tokio::test]
async fn a_stream_whose_client_does_not_read_is_cut() {
    let store = impatient().await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let mut client = socket.connect(store.server.address).await.unwrap();
    let head = format!(
        "GET /v1/store/changes?after=start HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         accept: text/event-stream\r\n\r\n",
        store.key
    );
    client.write_all(head.as_bytes()).await.unwrap();
    store.followers(1).await;
    // More than the buffers of the system take.
    for _ in 0..40 {
        store.add(&"a".repeat(60_000), "available").await;
    }
    store.followers(0).await;
    let mut rest = Vec::new();
    assert!(
        soon(client.read_to_end(&mut rest)).await.is_err(),
        "the connection was not reset"
    );
}
