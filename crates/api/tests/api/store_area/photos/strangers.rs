//! The files of photos while strangers, who have no key, read nothing of them.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use h2::{RecvStream, client};
use hyper::{HeaderMap, Request};
use petstore_photos::Bucket;
use petstore_testing::{
    harness::soon,
    photo_storage::{FakeBucket, Mood},
    pictures,
};
use petstore_web::server::Limits;
use reqwest::Method;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use super::{Setup, Store};

const LARGE: usize = 3 << 20;

/// A store with this response memory, and the paths of a large photo and of one of 60 kB.
async fn with_large_photo(response_memory: usize, limits: Limits) -> (Store, i64, [String; 2]) {
    let store = Store::open_with(Setup {
        limits,
        response_memory,
        ..Setup::default()
    })
    .await;
    let id = store.add("Luna", "available").await;
    let photo = store.new_photo(id).await;
    let photo = photo.rsplit_once('/').unwrap().1.to_owned();
    let paths = [("large", LARGE), ("medium", 60_000)].map(|(size, length)| {
        let name = format!("{photo}-{size}.jpg");
        let file = store.server.photos.path().join(&name[..2]).join(&name);
        std::fs::write(file, content(length)).unwrap();
        format!("/photos/{name}")
    });
    (store, id, paths)
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 1000).to_le_bytes()[0]).collect()
}

/// Limits for many clients that share an address.
fn shared_address() -> Limits {
    Limits {
        exempts_loopback: true,
        ..Setup::default().limits
    }
}

/// Limits for clients behind a proxy that names them.
fn behind_a_proxy() -> Limits {
    let trusted_proxies = ["127.0.0.0/8".parse().unwrap()].into_iter().collect();
    Limits {
        trusted_proxies,
        ..Setup::default().limits
    }
}

/// Requests these paths over one HTTP/2 connection with a closed window. Returns those that are sent.
async fn ask_over_http_2(store: &Store, paths: &[String; 2]) -> Vec<RecvStream> {
    let mut builder = client::Builder::new();
    builder.initial_window_size(0);
    let stream = store.server.connect().await;
    let (requests, connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
    tokio::spawn(connection);
    let mut requests = requests.ready().await.unwrap();
    let asked = paths.iter().cycle().take(8).map(|path| {
        let request = Request::builder()
            .uri(format!("http://x{path}"))
            .body(())
            .unwrap();
        requests.send_request(request, true).unwrap().0
    });
    let responses = soon(join_all(asked.collect::<Vec<_>>())).await;
    let sent = responses
        .into_iter()
        .flatten()
        .filter(|response| response.status() == 200);
    sent.map(hyper::Response::into_body).collect()
}

/// Requests a path over HTTP/1.1 as this client, and reads only the status of the response.
async fn ask_over_http_1(store: &Store, path: &str, client: &str) -> (TcpStream, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let mut stream = socket.connect(store.server.address).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: {client}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    soon(stream.read_exact(&mut status)).await.unwrap();
    (
        stream,
        std::str::from_utf8(&status[9..]).unwrap().parse().unwrap(),
    )
}

/// What needs memory of clients with a key.
async fn everything_works_with_a_key(store: &Store, pet: i64) {
    assert_eq!(
        store.add_photo(pet, &pictures::png(400, 300)).await.status,
        201
    );
    assert_eq!(store.place(json!({"petId": pet})).await.status, 201);
    let name = "n".repeat(60_000);
    let reply = store
        .server
        .post(json!({"name": name, "categoryId": 1}).to_string())
        .await;
    assert_eq!(reply.status, 201);
    store.add("Mia", "available").await;
    for path in ["/pets?limit=100", "/orders", "/changes"] {
        assert_eq!(store.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn strangers_who_read_nothing_over_http_2_take_no_memory_from_keys() {
    let (store, id, paths) = with_large_photo(16 << 20, shared_address()).await;
    let mut unread = Vec::new();
    loop {
        let more = ask_over_http_2(&store, &paths).await;
        if more.is_empty() {
            break;
        }
        unread.extend(more);
    }
    // Strangers that share an address have 2 MiB.
    assert!((8..=48).contains(&unread.len()), "{}", unread.len());
    everything_works_with_a_key(&store, id).await;
    drop(unread);
    soon(async { while ask_over_http_2(&store, &paths).await.is_empty() {} }).await;
}

#[tokio::test]
async fn strangers_who_read_nothing_over_http_1_take_no_memory_from_keys() {
    let (store, id, [large, _]) = with_large_photo(16 << 20, shared_address()).await;
    let mut unread = Vec::new();
    loop {
        let (stream, status) = ask_over_http_1(&store, &large, "").await;
        if status == 503 {
            break;
        }
        assert_eq!(status, 200);
        unread.push(stream);
    }
    assert_eq!(unread.len(), 16, "each has 128 KiB of 2 MiB");
    everything_works_with_a_key(&store, id).await;
    drop(unread);
    soon(async { while ask_over_http_1(&store, &large, "").await.1 != 200 {} }).await;
}

#[tokio::test]
async fn an_address_behind_a_proxy_has_a_share_of_the_memory_of_strangers() {
    let (store, _, [large, _]) = with_large_photo(16 << 20, behind_a_proxy()).await;
    let mut unread = Vec::new();
    for client in ["192.0.2.1", "192.0.2.2"] {
        for expected in [200, 200, 200, 200, 503] {
            let (stream, status) = ask_over_http_1(&store, &large, client).await;
            assert_eq!(status, expected, "{client}");
            unread.push(stream);
        }
    }
}

#[tokio::test]
async fn fields_that_contradict_each_other_give_their_clients_the_share_of_one_address() {
    let (store, _, [large, _]) = with_large_photo(16 << 20, behind_a_proxy()).await;
    let mut unread = Vec::new();
    for (number, expected) in (1..).zip([200, 200, 200, 200, 503]) {
        let fields = format!("192.0.2.{number}\r\nforwarded: x");
        let (stream, status) = ask_over_http_1(&store, &large, &fields).await;
        assert_eq!(status, expected, "{number}");
        unread.push(stream);
    }
    assert_eq!(ask_over_http_1(&store, &large, "192.0.2.1").await.1, 200);
}

#[tokio::test]
async fn many_addresses_that_read_nothing_leave_an_address_that_holds_nothing_its_response() {
    let (store, _, [large, medium]) = with_large_photo(16 << 20, behind_a_proxy()).await;
    let mut unread = Vec::new();
    for number in 1..=20 {
        for _ in 0..3 {
            let client = format!("198.51.100.{number}");
            unread.push(ask_over_http_1(&store, &large, &client).await);
        }
    }
    let sent = unread.iter().filter(|(_, status)| *status == 200).count();
    assert_eq!(
        sent, 30,
        "16 have 2 MiB, and one of each of the last 14 addresses is in the reserve"
    );
    // Also a large photo.
    for photo in [&medium, &large] {
        assert_eq!(ask_over_http_1(&store, photo, "192.0.2.1").await.1, 200);
    }
}

#[tokio::test]
async fn a_large_photo_is_sent_in_pieces() {
    // Strangers have 512 KiB.
    let (store, _, [large, _]) = with_large_photo(2 << 20, Setup::default().limits).await;
    let get = store.server.send(Method::GET, &large, &[], "").await;
    assert!((get.status, &get.body) == (reqwest::StatusCode::OK, &content(LARGE)));
    let head = store.server.send(Method::HEAD, &large, &[], "").await;
    for reply in [get, head] {
        assert_eq!(reply.header("content-length"), Some(&*LARGE.to_string()));
    }
    let any = [("if-none-match", "*")];
    let reply = store.server.send(Method::GET, &large, &any, "").await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (304, 0));
}

#[tokio::test]
async fn a_photo_of_a_bucket_is_sent_in_pieces_and_a_client_that_has_it_causes_no_read() {
    let bucket = FakeBucket::start().await;
    let limit = Duration::from_mins(1);
    let place = Bucket::new(&FakeBucket::url(), bucket.variables(), limit).unwrap();
    let photos = Box::new(|_: &_| Some(place.into()));
    let setup = Setup {
        photos,
        response_memory: 2 << 20,
        ..Setup::default()
    };
    let store = Store::open_with(setup).await;
    let id = store.add("Luna", "available").await;
    let photo = store.new_photo(id).await;
    let name = format!("{}-large.jpg", photo.rsplit_once('/').unwrap().1);
    bucket.put(&format!("{}/{name}", &name[..2]), content(LARGE).into());
    let ask = async |fields: &[(&str, &str)]| -> (u16, HeaderMap, Vec<u8>) {
        let reply = store
            .server
            .send(Method::GET, &format!("/photos/{name}"), fields, "")
            .await;
        (reply.status.as_u16(), reply.headers, reply.body)
    };
    let (status, headers, body) = ask(&[]).await;
    assert!(status == 200 && body == content(LARGE));
    bucket.is(Mood::Fails);
    let tag = headers["etag"].to_str().unwrap();
    assert_eq!(ask(&[("if-none-match", tag)]).await.0, 304);
    for other in ["*", "\"other\""] {
        assert_eq!(ask(&[("if-none-match", other)]).await.0, 503, "{other}");
    }
}
