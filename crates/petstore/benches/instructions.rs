//! Handles one kind of request repeatedly, for `scripts/instructions`, which counts the
//! instructions of one request.
//!
//! A request passes through the whole service except the sockets. Nothing depends on the machine's
//! clock or on randomness.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark stops at the first surprise"
)]

use std::{env, net::IpAddr, path::Path, sync::Arc};

use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::Full;
use hyper::{Request, StatusCode, header};
use jiff::Timestamp;
use petstore_app as app;
use petstore_domain::{
    Actor, ApiKey, Clock, Deployment, NewKey, NewPet, PetName, PetStatus, Scope, WriteContext,
};
use petstore_store::{Keys, OpenMode, Pets, StoreArea};
use petstore_store_sqlite::SqliteStore;
use petstore_testing::interface;
use petstore_web::edge;
use petstore_window::{self as window, Window, WindowSettings};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rusqlite::Connection;

/// As many as the requests that `scripts/instructions` makes, for it sells each animal once.
const ANIMALS: i64 = 1_500;

/// So many orders at once share a commit, as those of as many clients do.
const CLIENTS: usize = 64;

/// A clock that never moves.
struct Still(std::time::Instant);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn instant(&self) -> std::time::Instant {
        self.0
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn main() {
    let arguments: Vec<String> = env::args().collect();
    // `cargo bench` and `cargo test --benches` pass no name.
    let [_, name, count] = arguments.as_slice() else {
        return;
    };
    let count: u32 = count.parse().unwrap();

    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let store = Arc::new(SqliteStore::open(&path, OpenMode::CreateAndMigrate).unwrap());
    let mut random = StdRng::seed_from_u64(1);
    let key = ApiKey::generate(Deployment::Production, &mut random);
    let act = || WriteContext::new(Actor::Command, Timestamp::UNIX_EPOCH);
    let new = NewKey {
        digest: key.digest(),
        name: "benchmark".to_owned(),
        scope: Scope::StoreWrite,
        deployment: Deployment::Production,
        expires_at: None,
        rate_limit: None,
    };
    store.create_key(new, act()).await.unwrap();
    for category_id in 0..ANIMALS {
        let name = PetName::new("Frank".to_owned()).unwrap();
        let pet = NewPet {
            name,
            category_id,
            status: PetStatus::Available,
            is_listed: true,
        };
        store
            .create_pet(pet, act(), |_| unreachable!())
            .await
            .unwrap();
    }

    // So that sales change animals that the search has, as they usually do.
    while store.tend_search(0).await.unwrap() {}
    // Readers keep a transaction open while the log of SQLite is short.
    drop(store);
    let store = Arc::new(SqliteStore::open(&path, OpenMode::CreateAndMigrate).unwrap());

    #[expect(
        clippy::disallowed_methods,
        reason = "only the machine's clock creates an Instant"
    )]
    let clock = Arc::new(Still(std::time::Instant::now()));
    if name.starts_with("window-") {
        describe(&path);
    }
    let app = interface::app(
        Arc::clone(&store) as _,
        clock.clone(),
        &app::Settings::default(),
    );
    let edge = window::with_routes(interface::edge(clock.clone(), &edge::Settings::default()));
    let window = Window::new(
        app.reading.clone(),
        Arc::new(edge),
        WindowSettings::default(),
    );
    let api = interface::api(store, clock);
    let client = IpAddr::from([127, 0, 0, 1]).into();
    let send = async |asked: Asked, expected| {
        let is_public = !asked.path.starts_with("/v1/");
        let request = request(asked, key.reveal());
        let response = if is_public {
            window.handle(&client, request).await
        } else {
            api.handle(&client, request).await
        };
        assert_eq!(response.status(), expected);
    };
    let place = |pet: i64, random: &mut StdRng| Asked {
        idempotency_key: Some(format!("{:032x}", random.random::<u128>())),
        body: format!("{{\"petId\": {pet}}}").into(),
        ..post("/v1/store/orders".to_owned())
    };
    let first_page = || get("/v1/pets?status=available".to_owned());
    let page = api
        .handle(&client, request(first_page(), key.reveal()))
        .await;
    let next = next_page(page.headers()[header::LINK].to_str().unwrap());
    if name == "complete" {
        for pet in 1..=ANIMALS {
            send(place(pet, &mut random), StatusCode::CREATED).await;
        }
    }

    let expected = match name.as_str() {
        "create" | "place" => StatusCode::CREATED,
        "key-check" => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    };
    let mut at_once = Vec::new();
    for at in 0..i64::from(count) {
        let asked = match name.as_str() {
            "list-first-page" => first_page(),
            "list-next-page" => get(next.clone()),
            "get" => get(format!("/v1/pets/{}", at % ANIMALS + 1)),
            // A valid key, at a path without an operation.
            "key-check" => get("/v1/".to_owned()),
            "create" => Asked {
                body: r#"{"name": "Frank", "categoryId": 1, "status": "available"}"#.into(),
                ..post("/v1/pets".to_owned())
            },
            "place" => place(at + 1, &mut random),
            "window-list" => get("/".to_owned()),
            "window-animal" => get(format!("/animals/{}", at % ANIMALS + 1)),
            "complete" => post(format!("/v1/store/orders/{}/complete", at + 1)),
            other => panic!("no benchmark is called {other}"),
        };
        if !matches!(name.as_str(), "place" | "complete") {
            send(asked, expected).await;
            continue;
        }
        at_once.push(send(asked, expected));
        if at_once.len() == CLIENTS {
            join_all(at_once.drain(..)).await;
        }
    }
    join_all(at_once).await;
}

/// Gives each animal values of eight fields, and three photos.
fn describe(database: &Path) {
    let photo = |at| format!(r#"{{"id":"{at:032x}","width":1920,"height":1440,"addedAt":0}}"#);
    let photos = format!("[{},{},{}]", photo(1), photo(2), photo(3));
    let fields = r#"{"species":"Dog","breed":"Beagle mix","sex":"Female","born":"1965-05-03",
        "colour":"brown and white","size":"Medium","price":"120.00",
        "description":"Likes children, other animals and long walks. Sleeps in the car."}"#;
    let connection = Connection::open(database).unwrap();
    connection
        .execute(
            "UPDATE pets SET fields = json(?1), photos = ?2",
            [fields, &photos],
        )
        .unwrap();
}

/// What a request asks for.
#[derive(Default)]
struct Asked {
    method: &'static str,
    path: String,
    idempotency_key: Option<String>,
    body: Bytes,
}

fn get(path: String) -> Asked {
    Asked {
        method: "GET",
        path,
        ..Asked::default()
    }
}

fn post(path: String) -> Asked {
    Asked {
        method: "POST",
        path,
        ..Asked::default()
    }
}

fn request(
    Asked {
        method,
        path,
        idempotency_key,
        body,
    }: Asked,
    key: &str,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "127.0.0.1:8080")
        .header(header::AUTHORIZATION, format!("Bearer {key}"))
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(key) = idempotency_key {
        request = request.header("Idempotency-Key", key);
    }
    request.body(Full::new(body)).unwrap()
}

/// The target of a `Link`.
fn next_page(link: &str) -> String {
    link.split(['<', '>']).nth(1).unwrap().to_owned()
}
