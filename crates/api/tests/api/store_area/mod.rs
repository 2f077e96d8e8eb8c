//! The store area, over the interface. One file for each kind of operation, and one for each topic.

mod audit;
mod batch;
mod categories;
mod changes;
mod checks;
mod contacts;
mod examples;
mod expiry;
mod field_search;
mod fields;
mod inventory;
mod listed;
mod logo;
mod notes;
mod nul;
mod orders;
mod patch_pet;
mod pets;
mod photos;
mod prices;
mod profile;
mod reopen;
mod retries;
mod reverts;
mod scopes;
mod streams;
mod unique_values;
mod values;
mod webhooks;
mod withdraw;
mod wrong_clock;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use petstore_domain::Scope;
use petstore_testing::{
    harness::{Server, Setup},
    reply::Reply,
};
use reqwest::Method;
use serde_json::{Value, json};

/// A server, and a program of the store with a key that may change everything.
struct Store {
    server: Server,
    key: String,
    retries: AtomicU32,
}

impl Store {
    async fn open() -> Self {
        Self::open_with(Setup::default()).await
    }

    async fn open_with(setup: Setup) -> Self {
        let server = Server::start_with(setup).await;
        let (key, _) = server.new_key(Scope::StoreWrite, None).await;
        Self {
            server,
            key,
            retries: AtomicU32::new(0),
        }
    }

    /// Sends a request. `path` is relative to `/v1/store`, and `body` is JSON or empty.
    async fn send(&self, call: &str, headers: &[(&str, &str)], body: impl ToString) -> Reply {
        let (method, path) = call.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let body = body.to_string();
        let bearer = format!("Bearer {}", self.key);
        let mut all = vec![("authorization", &*bearer)];
        if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
            all.push(("content-type", "application/json"));
        }
        all.extend(headers);
        self.server
            .send(method, &format!("/v1/store{path}"), &all, body)
            .await
    }

    async fn get(&self, path: &str) -> Reply {
        self.send(&format!("GET {path}"), &[], "").await
    }

    /// The same request as a contract client's.
    async fn contract(&self, path: &str) -> Reply {
        self.server
            .get_with_key(&format!("/v1{path}"), &self.key)
            .await
    }

    /// Sends a change of this version.
    async fn change(&self, call: &str, version: i64, body: impl ToString) -> Reply {
        self.send(call, &[("if-match", &format!("\"{version}\""))], body)
            .await
    }

    /// A new idempotency key.
    fn retry_key(&self) -> String {
        format!("\"retry-{}\"", self.retries.fetch_add(1, Relaxed))
    }

    async fn place(&self, order: Value) -> Reply {
        self.send(
            "POST /orders",
            &[("idempotency-key", &self.retry_key())],
            order,
        )
        .await
    }

    async fn batch(&self, commands: Value) -> Reply {
        self.send(
            "POST /batch",
            &[("idempotency-key", &self.retry_key())],
            commands,
        )
        .await
    }

    /// Adds an animal, and returns its id.
    async fn add(&self, name: &str, status: &str) -> i64 {
        let animal = json!({ "name": name, "categoryId": 1, "status": status });
        let bearer = format!("Bearer {}", self.key);
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
        ];
        let reply = self
            .server
            .send(Method::POST, "/v1/pets", &headers, animal.to_string())
            .await;
        assert_eq!(reply.status, 201, "{}", reply.json());
        reply.json()["id"].as_i64().unwrap()
    }

    /// Reserves an animal, and returns the order's id.
    async fn reserve(&self, pet: i64) -> i64 {
        created(&self.place(json!({ "petId": pet })).await)
    }

    /// Sells an animal, and returns the order's id.
    async fn sell(&self, pet: i64) -> i64 {
        created(
            &self
                .place(json!({ "petId": pet, "status": "completed" }))
                .await,
        )
    }

    /// Withdraws an animal of this version.
    async fn withdraw(&self, pet: i64, version: i64) -> Reply {
        let body = json!({ "reason": "died" });
        self.change(&format!("POST /pets/{pet}/withdraw"), version, body)
            .await
    }

    async fn pet(&self, id: i64) -> Value {
        self.get(&format!("/pets/{id}")).await.ok()
    }

    async fn order(&self, id: i64) -> Value {
        self.get(&format!("/orders/{id}")).await.ok()
    }

    /// The status and version of an animal.
    async fn state(&self, pet: i64) -> (String, i64) {
        let pet = self.pet(pet).await;
        (
            pet["status"].as_str().unwrap().to_owned(),
            pet["version"].as_i64().unwrap(),
        )
    }

    /// The ids of a list, from all its pages.
    async fn walk(&self, path: &str) -> Vec<i64> {
        let mut ids = Vec::new();
        let mut page = self.get(path).await;
        loop {
            ids.extend(page.ids());
            let Some(next) = page.next() else {
                return ids;
            };
            page = self.get(next.strip_prefix("/v1/store").unwrap()).await;
        }
    }
}

/// The id in a 201.
#[track_caller]
fn created(reply: &Reply) -> i64 {
    assert_eq!(reply.status, 201, "{}", reply.json());
    reply.json()["id"].as_i64().unwrap()
}
