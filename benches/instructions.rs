//! Handles one kind of request repeatedly, for `scripts/instructions`, which counts the
//! instructions of one request.
//!
//! A request passes through the whole service except the sockets. Nothing depends on the machine's
//! clock or on randomness.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark stops at the first surprise")]

use std::{env, net::IpAddr, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode, header};
use jiff::Timestamp;
use petstore::{
    domain::{
        Actor, ApiKey, Clock, Deployment, NewKey, NewPet, PetName, PetStatus, Scope, WriteContext,
    },
    store::{Keys, OpenMode, Pets, sqlite::SqliteStore},
};
use rand::{SeedableRng, rngs::StdRng};

#[path = "../tests/shared/interface.rs"]
mod interface;

const ANIMALS: i64 = 1_000;

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
async fn main() {
    let arguments: Vec<String> = env::args().collect();
    // `cargo bench` and `cargo test --benches` pass no name.
    let [_, name, count] = arguments.as_slice() else { return };
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
        scope: Scope::Write,
        deployment: Deployment::Production,
        expires_at: None,
        rate_limit: None,
    };
    store.create_key(new, act()).await.unwrap();
    for category_id in 0..ANIMALS {
        let name = PetName::new("Frank".to_owned()).unwrap();
        let pet = NewPet { name, category_id, status: PetStatus::Available };
        store.create_pet(pet, act(), |_| unreachable!()).await.unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "only the machine's clock creates an Instant")]
    let clock = Arc::new(Still(std::time::Instant::now()));
    let api = interface::api(store, clock);
    let client = IpAddr::from([127, 0, 0, 1]).into();
    let get = |path: String| ("GET", path, "");
    let first_page = || get("/v1/pets?status=available".to_owned());
    let page = api.handle(&client, request(first_page(), key.reveal())).await;
    let next = next_page(page.headers()[header::LINK].to_str().unwrap());

    for at in 0..i64::from(count) {
        let (asked, expected) = match name.as_str() {
            "list-first-page" => (first_page(), StatusCode::OK),
            "list-next-page" => (get(next.clone()), StatusCode::OK),
            "get" => (get(format!("/v1/pets/{}", at % ANIMALS + 1)), StatusCode::OK),
            "create" => {
                let body = r#"{"name": "Frank", "categoryId": 1, "status": "available"}"#;
                (("POST", "/v1/pets".to_owned(), body), StatusCode::CREATED)
            }
            // A valid key, at a path without an operation.
            "key-check" => (get("/v1/".to_owned()), StatusCode::NOT_FOUND),
            other => panic!("no benchmark is called {other}"),
        };
        let response = api.handle(&client, request(asked, key.reveal())).await;
        assert_eq!(response.status(), expected);
    }
}

fn request(
    (method, path, body): (&'static str, String, &'static str),
    key: &str,
) -> Request<Full<Bytes>> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "127.0.0.1:8080")
        .header(header::AUTHORIZATION, format!("Bearer {key}"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::from(body))
        .unwrap()
}

/// The target of a `Link`.
fn next_page(link: &str) -> String {
    link.split(['<', '>']).nth(1).unwrap().to_owned()
}
