//! Requests that each operation rejects for the same reason, such as a missing key, and those with
//! an invalid body.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use petstore_domain::Scope;
use petstore_store::{Store as AnyStore, StoreError};
use petstore_testing::{
    contract,
    harness::{Server, soon},
    pictures,
};
use reqwest::Method;
use serde_json::json;

use super::{
    super::{Setup, Store},
    Book, Request, closing,
    document::{Operation, REQUEST_ID, examples, operations},
};
use crate::errors::failing;

/// The first note on the first animal: what is in the place of the parameters.
const NOTE: &str = "1/notes/1";

/// The keys of clients.
struct Clients {
    administrator: String,
    writer: String,
    reader: String,
    /// Of the contract only.
    contract_reader: String,
    /// Has reached its rate limit.
    hasty: String,
    /// A photo of the first animal: what is in the place of the parameters.
    photo: &'static str,
}

/// A request that is valid, except for one reason.
struct Spoiled {
    key: String,
    id: &'static str,
    query: &'static str,
    fields: Vec<(&'static str, String)>,
    body: String,
}

impl Spoiled {
    fn set(&mut self, field: &'static str, value: &str) {
        self.unset(field);
        self.fields.push((field, value.to_owned()));
    }

    fn unset(&mut self, field: &str) {
        self.fields.retain(|(name, _)| *name != field);
    }
}

pub(super) async fn provoke(book: &mut Book) {
    let mut store = Store::open().await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    for name in ["Luna", "Frank"] {
        store.add(name, "available").await;
    }
    store.reserve(1).await;
    let note = json!({ "text": "Afraid of men" });
    store.send("POST /pets/1/notes", &[], &note).await;
    let new = [("if-none-match", "*"), ("idempotency-key", "used")];
    store
        .send("PUT /categories/1", &new, json!({ "label": "Dogs" }))
        .await;
    let clients = clients(&store).await;
    for (operation, status, name) in all_errors() {
        let example = format!("{} {status} {name}", operation.id);
        let mut request = valid(&operation, &clients);
        if spoil(&mut request, &operation, status, &name, &clients) {
            send(book, &store.server, &example, &request).await;
        }
    }
    in_progress(book, &store, &clients).await;
    broken_heads_and_late_bodies(book).await;
    expired_cursor(book, &store).await;
    outages(book).await;
    too_many_fields(book).await;
    photos(book).await;
    too_many_notes(book).await;
}

async fn clients(store: &Store) -> Clients {
    let server = &store.server;
    let limit = Some("600/min".parse().unwrap());
    let (hasty, _) = server.new_limited_key(Scope::StoreWrite, None, limit).await;
    // Each command counts as a request.
    let commands = json!(vec![
        json!({ "command": "completeOrder", "orderId": 99 });
        100
    ]);
    let bearer = format!("Bearer {hasty}");
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
    ];
    for number in 0..6 {
        let retry_key = format!("hasty-{number}");
        let headers = [&headers[..], &[("idempotency-key", &retry_key)]].concat();
        let batch = server.send(
            Method::POST,
            "/v1/store/batch",
            &headers,
            commands.to_string(),
        );
        batch.await.expect_error(404, "not_found");
    }
    let photo = store.add_photo(1, &pictures::png(2, 2)).await.json();
    let photo = format!("1/photos/{}", photo["id"].as_str().unwrap());
    Clients {
        administrator: store.key.clone(),
        writer: server.new_key(Scope::StoreWrite, None).await.0,
        reader: server.new_key(Scope::StoreRead, None).await.0,
        contract_reader: server.new_key(Scope::Read, None).await.0,
        hasty,
        photo: String::leak(photo),
    }
}

/// The examples of all errors.
fn all_errors() -> impl Iterator<Item = (Operation, &'static str, String)> {
    operations().flat_map(|operation| {
        let responses = operation.value["responses"].as_object().unwrap().iter();
        let errors = responses.filter(|(status, _)| status.starts_with(['4', '5']));
        errors.flat_map(move |(status, response)| {
            let names = examples(response).into_iter().map(|(name, _)| name);
            names.map(move |name| (operation, status.as_str(), name))
        })
    })
}

fn valid(operation: &Operation, clients: &Clients) -> Spoiled {
    let mut request = Spoiled {
        key: clients.administrator.clone(),
        id: match operation.id {
            id if id.ends_with("Field") => "breed",
            "getPhoto" | "patchPhoto" | "deletePhoto" => clients.photo,
            "getNote" | "patchNote" | "deleteNote" => NOTE,
            _ => "1",
        },
        query: "",
        fields: Vec::new(),
        body: match operation.id {
            "addPhoto" | "putLogo" => "@picture".to_owned(),
            _ => operation
                .request_examples()
                .first()
                .map_or("", |name| name)
                .to_owned(),
        },
    };
    if operation.has("If-Match") {
        request.set("if-match", "\"1\"");
    }
    if needs_idempotency_key(operation) {
        request.set("idempotency-key", "new");
    }
    request
}

fn needs_idempotency_key(operation: &Operation) -> bool {
    ["placeOrder", "runBatch"].contains(&operation.id)
}

/// Makes a request one to which the response is this error. Returns false if the error has its own
/// place in the story or below.
fn spoil(
    request: &mut Spoiled,
    operation: &Operation,
    status: &str,
    name: &str,
    clients: &Clients,
) -> bool {
    let is_feed = operation.id == "followChanges";
    match (status, name) {
        ("401", "missing_api_key") => request.key.clear(),
        ("401", "invalid_api_key") => "pets_live_x".clone_into(&mut request.key),
        ("403", "another_author") => return false,
        ("403", _) => {
            let lesser = match operation.value["x-scope"].as_str().unwrap() {
                "store:read" => &clients.contract_reader,
                "store:write" => &clients.reader,
                _ => &clients.writer,
            };
            request.key.clone_from(lesser);
        }
        ("429", _) => request.key.clone_from(&clients.hasty),
        ("431", _) => request.set("x-long", &"x".repeat(17_000)),
        ("413", _) if operation.id == "addPhoto" => request.body = "@".repeat((16 << 20) + 2),
        ("413", _) if operation.id == "putLogo" => request.body = "@".repeat((2 << 20) + 2),
        ("413", _) => request.body = json!({ "note": "x".repeat(70_000) }).to_string(),
        ("415", _) => request.set("content-type", "text/plain"),
        ("422", _) => request.set("idempotency-key", "used"),
        ("428", _) if operation.id != "runBatch" => request.unset("if-match"),
        // A category that does not exist is created.
        ("404", _) if operation.id == "putCategory" => request.id = "dogs",
        ("404", _) if operation.id.ends_with("Field") => request.id = "99",
        ("404", _) if request.id == NOTE => request.id = "1/notes/99",
        ("404", _) if request.id == clients.photo => {
            request.id = "1/photos/0123456789abcdef0123456789abcdef";
        }
        ("404", _) if !needs_idempotency_key(operation) => request.id = "99",
        ("400", "unknown_parameter") if is_feed => request.query = "cursor=AAAA",
        ("400", "unknown_field") if operation.has("field") => request.query = "field.color=black",
        ("400", "unknown_parameter") if operation.has("limit") => request.query = "page=2",
        ("400", "unknown_parameter") => request.query = "fields=name",
        ("400", "invalid_parameter") if is_feed => request.query = "wait=90s",
        ("400", "invalid_parameter") if operation.has("limit") => request.query = "limit=500",
        ("400", "invalid_parameter") if operation.method == "DELETE" => {
            request.set("if-match", "7");
        }
        ("400", "invalid_parameter") => request.set("idempotency-key", "8e03978e, 40d5"),
        ("400", "invalid_cursor") if is_feed => request.query = "after=AAAA",
        ("400", "invalid_cursor") => request.query = "cursor=AAAA",
        ("400", "missing_idempotency_key") => request.unset("idempotency-key"),
        ("400", "invalid_image") => {
            request.body = "@truncated".to_owned();
        }
        ("400", "invalid_body") if !["runBatch", "addPhoto", "putLogo"].contains(&operation.id) => {
            invalid_body(operation).clone_into(&mut request.body);
        }
        ("400", "unknown_member") if operation.id != "runBatch" => {
            unknown_member(operation).clone_into(&mut request.body);
        }
        _ => return false,
    }
    true
}

fn invalid_body(operation: &Operation) -> &'static str {
    match operation.id {
        "addStorePet" => r#"{"name": "Mia", "categoryId": 2, "fields": {"sex": "f"}}"#,
        "patchPet" => r#"{"name": null}"#,
        "patchPhoto" => r#"{"alt": ""}"#,
        "addNote" | "patchNote" => r#"{"text": ""}"#,
        "patchProfile" => r#"{"colour": "green"}"#,
        "orderPhotos" => "[7]",
        "withdrawPet" => r#"{"reason": "sold"}"#,
        "placeOrder" => r#"{"petId": 2, "expiresAt": "2026-11-01T00:00:00Z"}"#,
        "patchOrder" | "reopenOrder" => r#"{"expiresAt": null}"#,
        "completeOrder" => r#"{"price": "-20"}"#,
        "cancelOrder" | "returnOrder" => r#"{"reason": 7}"#,
        "putCategory" => r#"{"label": ""}"#,
        "putField" => r#"{"label": "Temper", "kind": "choice"}"#,
        "addWebhook" | "patchWebhook" => r#"{"url": "https://10.0.0.7/hooks/petstore"}"#,
        "enableWebhook" => r#"{"from": "start"}"#,
        _ => "[]",
    }
}

fn unknown_member(operation: &Operation) -> &'static str {
    match operation.id {
        "addStorePet" | "patchPet" => r#"{"categoryID": 1}"#,
        "withdrawPet" => r#"{"comment": ""}"#,
        "patchPhoto" => r#"{"urls": null}"#,
        "patchProfile" => r#"{"logo": null}"#,
        "placeOrder" => r#"{"petID": 1}"#,
        "patchOrder" => r#"{"status": "completed"}"#,
        "putCategory" => r#"{"name": "Dogs"}"#,
        "putField" => r#"{"name": "temper"}"#,
        "addWebhook" | "patchWebhook" => r#"{"event": "pet.changed"}"#,
        "enableWebhook" => r#"{"after": "start"}"#,
        _ => r#"{"note": ""}"#,
    }
}

async fn send(book: &mut Book, server: &Server, example: &str, spoiled: &Spoiled) {
    let fields: Vec<(&str, &str)> = spoiled
        .fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let Spoiled {
        key,
        id,
        query,
        body,
        ..
    } = spoiled;
    book.show(
        server,
        example,
        Request {
            key,
            id,
            query,
            fields: &fields,
            body,
        },
    )
    .await;
}

/// Retries while the first request with the same idempotency key waits for the database.
async fn in_progress(book: &mut Book, store: &Store, clients: &Clients) {
    let headers = [("idempotency-key", "busy")];
    let held = store.server.hold_writes().await;
    let place = || store.send("POST /orders", &headers, json!({ "petId": 2 }));
    let (first, second) = (pin!(place()), pin!(place()));
    let (Either::Left((_, waiting)) | Either::Right((_, waiting))) =
        soon(select(first, second)).await;
    for (operation, status, name) in all_errors() {
        if name == "idempotency_in_progress" {
            let mut request = valid(&operation, clients);
            request.set("idempotency-key", "busy");
            if matches!(operation.id, "addPhoto" | "putLogo") {
                // Does not take longer than the first request may.
                request.body = "@small".to_owned();
            }
            let example = format!("{} {status} {name}", operation.id);
            send(book, &store.server, &example, &request).await;
        }
    }
    drop(held);
    assert_eq!(soon(waiting).await.status, 201);
}

/// Sends what no HTTP client sends, and compares the response, after which the connection ends.
async fn show_raw(
    book: &mut Book,
    store: &Store,
    example: &str,
    operation: &Operation,
    rest: &str,
) {
    let id = match operation.path {
        path if path.ends_with("{photoId}") => "1/photos/0123456789abcdef0123456789abcdef",
        path if path.ends_with("{noteId}") => NOTE,
        _ => "1",
    };
    let (method, target, key) = (operation.method, operation.target(id), &store.key);
    let fields = format!("authorization: Bearer {key}\r\nx-request-id: {REQUEST_ID}\r\n");
    let request = format!("{method} {target} HTTP/1.1\r\nhost: x\r\n{fields}{rest}");
    let reply = closing(&store.server.raw(request).await);
    let method: Method = method.parse().unwrap();
    contract::check(&method, &target, reply.status, &reply.headers, &reply.body);
    book.compare(example, &reply);
}

async fn broken_heads_and_late_bodies(book: &mut Book) {
    let setup = Setup {
        body_timeout: Duration::from_millis(50),
        ..Setup::default()
    };
    let mut store = Store::open_with(setup).await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    let broken_picture = "idempotency-key: broken\r\ncontent-type: image/png\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    let late_picture =
        "idempotency-key: late\r\ncontent-type: image/png\r\ncontent-length: 9\r\n\r\n{";
    let late = "idempotency-key: late\r\ncontent-type: application/json\r\n\
                content-length: 9\r\n\r\n{";
    for (operation, status, name) in all_errors() {
        let example = format!("{} {status} {name}", operation.id);
        let is_picture = matches!(operation.id, "addPhoto" | "putLogo");
        let rest = match (status, name.as_str()) {
            ("400", "invalid_request") => "host: y\r\n\r\n",
            ("408", _) if is_picture => late_picture,
            ("408", _) => late,
            ("400", "invalid_body") if is_picture => broken_picture,
            _ => continue,
        };
        show_raw(book, &store, &example, &operation, rest).await;
    }
}

async fn expired_cursor(book: &mut Book, store: &Store) {
    let other = Store::open().await;
    let foreign = other.get("/changes").await.following("next");
    let query = foreign.split_once('?').unwrap().1;
    let request = Request {
        key: &store.key,
        query,
        ..Request::default()
    };
    book.show(&store.server, "followChanges 410 cursor_expired", request)
        .await;
}

async fn too_many_fields(book: &mut Book) {
    let mut store = Store::open().await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    let fields = [("if-none-match", "*")];
    for number in 9..50 {
        let field = json!({ "label": format!("Another {number}"), "kind": "text" });
        store
            .send(&format!("PUT /fields/another{number}"), &fields, &field)
            .await;
    }
    let key = &store.key;
    let request = Request {
        key,
        id: "temper",
        fields: &fields,
        body: "create",
        ..Request::default()
    };
    book.show(&store.server, "putField 409 too_many_fields", request)
        .await;
}

/// An animal that has as many notes as it can have.
async fn too_many_notes(book: &mut Book) {
    let store = Store::open().await;
    store.add("Luna", "available").await;
    for number in 0..500 {
        let note = json!({ "text": number.to_string() });
        let added = store.send("POST /pets/1/notes", &[], note).await;
        assert_eq!(added.status, 201);
    }
    let request = Request {
        key: &store.key,
        id: "1",
        body: "behaviour",
        ..Request::default()
    };
    book.show(&store.server, "addNote 409 too_many_notes", request)
        .await;
}

/// A service without photos, and an animal that has as many as it can have.
async fn photos(book: &mut Book) {
    let off = Store::open_with(Setup {
        photos: Box::new(|_| None),
        ..Setup::default()
    })
    .await;
    let full = Store::open().await;
    full.add("Luna", "available").await;
    for _ in 0..20 {
        assert_eq!(full.add_photo(1, &pictures::png(2, 2)).await.status, 201);
    }
    for (store, example) in [(&off, "501 photos_off"), (&full, "409 too_many_photos")] {
        let request = Request {
            key: &store.key,
            id: "1",
            body: "@picture",
            ..Request::default()
        };
        book.show(&store.server, &format!("addPhoto {example}"), request)
            .await;
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the disk is on fire")]
struct Fire;

/// Places an order while the store fails.
async fn outages(book: &mut Book) {
    let overloaded = |store| -> Arc<dyn AnyStore> { failing(store, |_| StoreError::Overloaded) };
    let unknown = |store| -> Arc<dyn AnyStore> {
        failing(store, |_| StoreError::OutcomeUnknown(Arc::new(Fire)))
    };
    let internal =
        |store| -> Arc<dyn AnyStore> { failing(store, |_| StoreError::Internal(Arc::new(Fire))) };
    for (name, wrap) in [
        ("503 unavailable", overloaded as fn(_) -> _),
        ("503 outcome_unknown", unknown as fn(_) -> _),
        ("500 internal", internal as fn(_) -> _),
    ] {
        let store = Store::open_with(Setup {
            wrap,
            ..Setup::default()
        })
        .await;
        let fields = [("idempotency-key", "new")];
        let request = Request {
            key: &store.key,
            fields: &fields,
            body: "reserve",
            ..Request::default()
        };
        let example = format!("placeOrder {name}");
        let reply = book.show(&store.server, &example, request).await;
        book.outages.push(reply.json());
    }
}
