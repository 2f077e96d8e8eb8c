//! SIGTERM under load: busy, idle and stuck clients (`HOSTILE_TERMS` rounds, 5 by default, seeded
//! by `HOSTILE_SEED`). Every response is complete and its animal exists; a request without a
//! response had no effect; the process exits in time, with success.

use std::collections::HashMap;

use petstore_domain::{Clock, SystemClock};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    task::JoinSet,
};

use super::{
    frames,
    program::{Service, client, directory, new_key},
    target::{count, eventually},
};

const WRITERS: usize = 16;
const DEADLINE: &str = "2s";

/// Creates animals one by one on one connection until the server closes it, and reports each
/// acknowledged one.
async fn write(
    address: String,
    key: String,
    names: String,
    acknowledged: mpsc::UnboundedSender<(i64, String)>,
) {
    let mut stream = TcpStream::connect(&address).await.unwrap();
    for number in 0.. {
        let name = format!("{names}, {number}");
        let body = json!({ "name": name, "categoryId": 1 }).to_string();
        let request = format!(
            "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        // The server may have closed the connection after the last response.
        if stream.write_all(request.as_bytes()).await.is_err() {
            return;
        }
        let Some((head, body)) = next_response(&mut stream).await else {
            return;
        };
        assert!(head.starts_with("HTTP/1.1 201 "), "{head}");
        let id = serde_json::from_slice::<Value>(&body).unwrap()["id"]
            .as_i64()
            .unwrap();
        acknowledged.send((id, name)).unwrap();
        if head.contains("Connection: close") {
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
            return;
        }
    }
}

/// The next complete response; `None` if the server closed before it began.
async fn next_response(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            assert!(
                bytes.is_empty(),
                "broken: {:?}",
                String::from_utf8_lossy(&bytes)
            );
            return None;
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8(bytes[..end + 2].to_vec()).unwrap();
        let (_, length) = head.split_once("Content-Length: ").unwrap();
        let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
        if bytes.len() == end + 4 + length {
            return Some((head, bytes[end + 4..].to_vec()));
        }
    }
}

/// Connections without progress: silent, idle, in the middle of a head, a body and a response, and
/// over HTTP/2.
async fn open_stuck_connections(address: &str, key: &str) -> Vec<TcpStream> {
    let bundle = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n".repeat(8);
    let body = format!(
        "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
    );
    let mut stuck = Vec::new();
    for said in [
        "",
        "GET /docs HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET /docs HTTP/1.1\r\nho",
        &body,
        &bundle,
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        for _ in 0..5 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(said.as_bytes()).await.unwrap();
            if said.starts_with("PRI") {
                stream
                    .write_all(&frames::frame(frames::SETTINGS, 0, 0, &[]))
                    .await
                    .unwrap();
            }
            stuck.push(stream);
        }
    }
    stuck
}

/// All animals in the catalogue, by a walk.
async fn catalogue(url: &str, key: &str) -> HashMap<i64, String> {
    let client = client();
    let origin = url.trim_end_matches("/v1");
    let mut target = Some("/v1/pets?limit=100".to_owned());
    let mut all = HashMap::new();
    while let Some(page) = target {
        let request = client.get(format!("{origin}{page}")).bearer_auth(key);
        let page = request.send().await.unwrap();
        target = page.headers().get("link").map(|link| {
            let link = link.to_str().unwrap().trim_start_matches('<');
            link.split_once('>').unwrap().0.to_owned()
        });
        for pet in page.json::<Vec<Value>>().await.unwrap() {
            let (id, name) = (pet["id"].as_i64().unwrap(), pet["name"].as_str().unwrap());
            assert_eq!(
                all.insert(id, name.to_owned()),
                None,
                "the walk does not go on: {id} twice"
            );
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn on_sigterm_every_response_is_complete_and_exactly_the_acknowledged_animals_exist() {
    let rounds = count("HOSTILE_TERMS", 5);
    let seed = count("HOSTILE_SEED", 20_261_121);
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed as u64);
    let here = directory();
    let key = new_key(here.path());
    let mut promised = HashMap::new();
    let mut longest = std::time::Duration::ZERO;
    for round in 0..rounds {
        let service = Service::start(here.path(), &["--shutdown-timeout", DEADLINE]);
        // Exactly the animals acknowledged in earlier rounds.
        assert_eq!(
            catalogue(&service.url, &key).await,
            promised,
            "before round {round}"
        );
        let address = service.url["http://".len()..]
            .trim_end_matches("/v1")
            .to_owned();
        let stuck = open_stuck_connections(&address, &key).await;
        let (acknowledged, mut heard) = mpsc::unbounded_channel();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let names = format!("round {round}, writer {writer}");
            writers.spawn(write(
                address.clone(),
                key.clone(),
                names,
                acknowledged.clone(),
            ));
        }
        drop(acknowledged);
        let until = promised.len() + random.random_range(1..1000);
        while promised.len() < until {
            let (id, name) = eventually(heard.recv()).await.unwrap();
            assert_eq!(promised.insert(id, name), None, "{id} was given twice");
        }
        service.signal("TERM");
        let began = SystemClock.instant();
        let ended = tokio::task::spawn_blocking(|| service.wait());
        let (status, log) = eventually(ended).await.unwrap();
        longest = longest.max(SystemClock.instant() - began);
        assert_eq!(status.code(), Some(0), "{log}");
        while let Some(done) = eventually(writers.join_next()).await {
            done.unwrap();
        }
        while let Some((id, name)) = heard.recv().await {
            assert_eq!(promised.insert(id, name), None, "{id} was given twice");
        }
        drop(stuck);
    }
    let service = Service::start(here.path(), &[]);
    assert_eq!(catalogue(&service.url, &key).await, promised);
    eprintln!(
        "{rounds} rounds, {} animals, the longest end took {longest:.1?}",
        promised.len()
    );
}
