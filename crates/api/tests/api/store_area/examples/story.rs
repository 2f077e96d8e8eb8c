//! The story of Luna, Frank and the others: what each operation does, and the states in which it is
//! rejected.

mod notes;

use petstore_databases as databases;
use petstore_domain::{
    Clock, NewPet, PetName, PetStatus, Scope,
    store_area::{Attempt, FieldValues, WebhookId},
};
use petstore_store::{OpenMode, bulk::IdSource};
use petstore_testing::{pictures, reply::Reply};
use reqwest::Method;
use serde_json::json;
use tokio::task;

use super::{
    super::{Setup, Store},
    Book, Request, operations,
};

/// A store in which the story happens.
struct Shop<'a> {
    store: Store,
    book: &'a mut Book,
    /// The number of the last idempotency key.
    sent: u32,
}

pub(super) async fn tell(book: &mut Book) {
    let setup = Setup {
        now: "2026-11-20T08:15:00Z",
        ..Setup::default()
    };
    let mut store = Store::open_with(setup).await;
    store.key = store
        .server
        .new_named_key("till", Scope::StoreAdmin, None, None)
        .await
        .0;
    for (name, category, status) in [
        ("Luna", 2, "available"),
        ("Frank", 1, "available"),
        ("Francoise", 2, "available"),
        ("Max", 1, "sold"),
    ] {
        let body = json!({ "name": name, "categoryId": category, "status": status }).to_string();
        let bearer = format!("Bearer {}", store.key);
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
        ];
        store
            .server
            .send(Method::POST, "/v1/pets", &headers, body)
            .await;
    }
    let mut shop = Shop {
        store,
        book,
        sent: 0,
    };
    shop.at("2026-11-22T10:00:00Z");
    shop.categories().await;
    shop.profile().await;
    shop.fields().await;
    shop.corrections().await;
    shop.reservation().await;
    shop.patches_of_an_order().await;
    shop.ends_of_orders().await;
    shop.withdrawal().await;
    shop.act("runBatch 200 results", "", "commands").await;
    shop.import().await;
    shop.values().await;
    shop.rejected_commands().await;
    shop.deletion().await;
    shop.act("reopenOrder 200 reopened", "1", "until").await;
    shop.photos().await;
    shop.reverts().await;
    shop.at("2026-12-02T09:00:00Z");
    shop.webhooks().await;
    shop.notes().await;
    shop.parameters().await;
    shop.not_modified().await;
    shop.act("deleteWebhook 204 empty", "1", "").await;
}

impl Shop<'_> {
    fn at(&self, time: &str) {
        self.store.server.clock.set(time.parse().unwrap());
    }

    /// Sends a request with the key of the story, and with a new idempotency key if the operation
    /// requires one.
    async fn show(&mut self, example: &str, request: Request<'_>) -> Reply {
        self.sent += 1;
        let retry_key = format!("\"8e03978e-{}\"", self.sent);
        let mut fields = request.fields.to_vec();
        if example.starts_with("placeOrder") || example.starts_with("runBatch") {
            fields.push(("idempotency-key", &retry_key));
        }
        let key = if request.key.is_empty() {
            &self.store.key
        } else {
            request.key
        };
        let request = Request {
            key,
            fields: &fields,
            ..request
        };
        self.book.show(&self.store.server, example, request).await
    }

    /// The same for a change of a version.
    async fn change(&mut self, example: &str, id: &str, version: u32, body: &str) {
        let tag = format!("\"{version}\"");
        let request = Request {
            id,
            fields: &[("if-match", &tag)],
            body,
            ..Request::default()
        };
        self.show(example, request).await;
    }

    /// The same for an operation that needs no version.
    async fn act(&mut self, example: &str, id: &str, body: &str) {
        self.show(
            example,
            Request {
                id,
                body,
                ..Request::default()
            },
        )
        .await;
    }

    async fn read(&mut self, example: &str, id: &str, query: &str) {
        self.show(
            example,
            Request {
                id,
                query,
                ..Request::default()
            },
        )
        .await;
    }

    async fn categories(&mut self) {
        let new = [("if-none-match", "*")];
        let create = Request {
            id: "1",
            fields: &new,
            body: "create",
            ..Request::default()
        };
        self.show("putCategory 201 created", create).await;
        self.show("putCategory 412 precondition_failed_to_create", create)
            .await;
        self.change("putCategory 200 renamed", "1", 1, "rename")
            .await;
        self.change("putCategory 412 precondition_failed", "1", 1, "rename")
            .await;
        self.change(
            "putCategory 412 precondition_failed_without_category",
            "3",
            1,
            "rename",
        )
        .await;
        let twin = Request {
            id: "2",
            fields: &new,
            body: r#"{"label": "DOGS"}"#,
            ..Request::default()
        };
        self.show("putCategory 409 duplicate_value", twin).await;
        self.change("deleteCategory 412 precondition_failed", "1", 1, "")
            .await;
        self.store
            .send("PUT /categories/2", &new, json!({ "label": "Cats" }))
            .await;
        self.read("listCategories 200 all", "", "").await;
    }

    /// A category is renamed by mistake. The requests of the story have one id, so a change at another time is another act.
    async fn reverts(&mut self) {
        let label = async |shop: &Self, condition, label: &str| {
            shop.store
                .send("PUT /categories/9", &[condition], json!({ "label": label }))
                .await
        };
        self.at("2026-12-02T08:00:00Z");
        label(self, ("if-none-match", "*"), "Birds").await;
        self.at("2026-12-02T08:00:01Z");
        label(self, ("if-match", "\"1\""), "Parrots").await;
        let changes = self
            .store
            .get("/changes?after=start&limit=100&type=category.changed")
            .await;
        let seq = changes.ok().as_array().unwrap().last().unwrap()["seq"].to_string();
        self.at("2026-12-02T08:00:02Z");
        self.act("revertChange 200 renamed", &seq, "").await;
        self.act("revertChange 409 invalid_transition", &seq, "")
            .await;
        self.store.change("DELETE /categories/9", 3, "").await;
    }

    async fn profile(&mut self) {
        self.change("patchProfile 200 entered", "", 1, "shelter")
            .await;
        self.read("getProfile 200 shelter", "", "").await;
        self.change("patchProfile 412 precondition_failed", "", 1, "hours")
            .await;
        self.change("putLogo 412 precondition_failed", "", 1, "@picture")
            .await;
        self.change("deleteLogo 412 precondition_failed", "", 1, "")
            .await;
        self.change("patchProfile 200 changed", "", 2, "hours")
            .await;
        self.act("putLogo 200 set", "", "@picture").await;
        self.act("deleteLogo 200 removed", "", "").await;
    }

    async fn fields(&mut self) {
        let new = [("if-none-match", "*")];
        let create = Request {
            id: "temper",
            fields: &new,
            body: "create",
            ..Request::default()
        };
        self.show("putField 201 created", create).await;
        self.show("putField 412 precondition_failed_to_create", create)
            .await;
        self.change("putField 200 published", "temper", 1, "publish")
            .await;
        self.change("putField 412 precondition_failed", "temper", 1, "publish")
            .await;
        let twin = Request {
            id: "mood",
            fields: &new,
            body: r#"{"label": "TEMPER", "kind": "text"}"#,
            ..Request::default()
        };
        self.show("putField 409 duplicate_value", twin).await;
        let absent = "putField 412 precondition_failed_without_field";
        self.change(absent, "absent", 1, "publish").await;
        self.change("deleteField 412 precondition_failed", "temper", 1, "")
            .await;
        for unused in ["born", "colour", "size", "description"] {
            self.change("deleteField 204 empty", unused, 1, "").await;
        }
        self.read("listFields 200 all", "", "").await;
    }

    async fn corrections(&mut self) {
        self.change("patchPet 200 renamed", "3", 1, "name").await;
        self.change("patchPet 200 offered", "4", 1, "status").await;
        self.change("patchPet 412 precondition_failed", "3", 1, "name")
            .await;
        self.change("withdrawPet 412 precondition_failed", "3", 1, "transfer")
            .await;
        self.change("restorePet 412 precondition_failed", "3", 1, "nothing")
            .await;
        self.change("restorePet 409 invalid_transition", "3", 2, "nothing")
            .await;
    }

    async fn reservation(&mut self) {
        let cursor = self.store.get("/changes").await.following("next");
        self.act("placeOrder 201 reserved", "", "reserve").await;
        let after = cursor.split_once('?').unwrap().1;
        self.read(
            "followChanges 200 reservation",
            "",
            &format!("{after}&wait=30s"),
        )
        .await;
        self.act("placeOrder 201 sold", "", "sell").await;
        self.read("getStorePet 200 reserved", "1", "").await;
        self.read("getOrder 200 reserved", "1", "").await;
        self.read("listOrders 200 all", "", "").await;
        self.read("listStorePets 200 byName", "", "name=fra").await;
        self.read(
            "listStorePets 200 firstPage",
            "",
            "status=available&limit=1",
        )
        .await;
        self.change(
            "patchPet 409 open_order",
            "1",
            2,
            r#"{"status": "available"}"#,
        )
        .await;
        self.change("withdrawPet 409 open_order", "1", 2, "transfer")
            .await;
    }

    async fn patches_of_an_order(&mut self) {
        self.change("patchOrder 200 extended", "1", 1, "extend")
            .await;
        self.change("patchOrder 200 withoutNote", "1", 2, "note")
            .await;
        for (operation, body) in [
            ("patchOrder", "note"),
            ("completeOrder", "discount"),
            ("cancelOrder", "reason"),
            ("returnOrder", "reason"),
            ("reopenOrder", "until"),
        ] {
            let example = format!("{operation} 412 precondition_failed");
            self.change(&example, "1", 1, body).await;
        }
        self.act("reopenOrder 409 invalid_transition", "1", "until")
            .await;
    }

    async fn ends_of_orders(&mut self) {
        self.at("2026-11-24T09:00:00Z");
        self.store
            .place(json!({ "petId": 2, "reference": "2026-0819" }))
            .await;
        self.act("cancelOrder 200 cancelled", "3", "reason").await;
        self.act("completeOrder 409 invalid_transition", "3", "discount")
            .await;
        self.act("returnOrder 409 invalid_transition", "3", "reason")
            .await;
        self.at("2026-11-27T15:30:00Z");
        self.act("completeOrder 200 completed", "1", "discount")
            .await;
        self.act("cancelOrder 409 invalid_transition", "1", "reason")
            .await;
        let later = r#"{"expiresAt": "2026-12-20T10:00:00Z"}"#;
        self.change("patchOrder 409 invalid_transition", "1", 4, later)
            .await;
        self.at("2026-12-01T11:00:00Z");
        self.act("returnOrder 200 returned", "1", "reason").await;
    }

    async fn withdrawal(&mut self) {
        self.change("withdrawPet 200 withdrawn", "3", 2, "transfer")
            .await;
        self.read("getStorePet 200 withdrawn", "3", "").await;
        self.change("patchPet 409 invalid_transition", "3", 3, "name")
            .await;
        self.change("withdrawPet 409 invalid_transition", "3", 3, "transfer")
            .await;
        // Of a client with a rate limit, whose responses have more fields.
        let limit = Some("600/min".parse().unwrap());
        let (key, _) = self
            .store
            .server
            .new_limited_key(Scope::StoreRead, None, limit)
            .await;
        self.show(
            "getInventory 200 counts",
            Request {
                key: &key,
                ..Request::default()
            },
        )
        .await;
        self.change("restorePet 200 restored", "3", 3, "nothing")
            .await;
    }

    async fn values(&mut self) {
        self.act("addStorePet 201 added", "", "mia").await;
        let tiger = json!({ "name": "Tiger", "categoryId": 2, "fields": { "species": "Cat", "sex": "Male" } });
        self.store.send("POST /pets", &[], tiger).await;
        self.change("patchPet 200 described", "10", 1, "fields")
            .await;
        let chip = r#"{"fields": {"microchip": "276098106234567"}}"#;
        self.store.withdraw(9, 1).await;
        self.store.change("PATCH /pets/10", 2, chip).await;
        self.change("restorePet 409 duplicate_value", "9", 2, "nothing")
            .await;
        self.change("patchPet 409 duplicate_value", "4", 3, chip)
            .await;
        self.change("deleteField 409 field_in_use", "microchip", 1, "")
            .await;
        let number = r#"{"label": "Microchip", "kind": "integer", "position": 90}"#;
        self.change("putField 409 field_in_use", "microchip", 1, number)
            .await;
        let color = r#"{"fields": {"color": "black"}}"#;
        self.change("patchPet 400 unknown_field", "4", 3, color)
            .await;
    }

    /// Commands that fail come after all others, because they take ids over PostgreSQL.
    async fn rejected_commands(&mut self) {
        self.act("placeOrder 409 invalid_transition", "", r#"{"petId": 2}"#)
            .await;
        self.act("placeOrder 404 not_found", "", r#"{"petId": 99}"#)
            .await;
        let patch =
            json!({ "command": "patchPet", "petId": 2, "ifMatch": 5, "status": "available" });
        let with = |member: &str, value: i64| {
            let mut patch = patch.clone();
            patch[member] = value.into();
            patch
        };
        let mut without_version = patch.clone();
        without_version.as_object_mut().unwrap().remove("ifMatch");
        let add = json!({ "command": "addPet", "name": "Bella", "categoryId": 1 });
        let with_fields = |fields: serde_json::Value| json!({ "command": "addPet", "name": "Bella", "categoryId": 1, "fields": fields });
        let color = with_fields(json!({ "color": "black" }));
        let chip = with_fields(json!({ "microchip": "276098106234567" }));
        for (example, body) in [
            ("400 unknown_field", &color),
            ("409 duplicate_value", &chip),
        ] {
            let mut body = body.clone();
            body.as_object_mut().unwrap().remove("command");
            self.act(&format!("addStorePet {example}"), "", &body.to_string())
                .await;
        }
        for (example, commands) in [
            ("404 not_found", json!([add, with("petId", 99)])),
            (
                "409 invalid_transition",
                json!([{ "command": "placeOrder", "petId": 4 }]),
            ),
            ("409 open_order", json!([add, patch])),
            ("412 precondition_failed", json!([with("ifMatch", 1)])),
            ("428 precondition_required", json!([without_version])),
            (
                "400 invalid_body",
                json!([add, { "command": "placeOrder" }]),
            ),
            ("400 unknown_field", json!([color])),
            ("409 duplicate_value", json!([chip])),
            (
                "400 unknown_member",
                json!([{ "command": "cancelOrder", "orderId": 4, "note": "" }]),
            ),
        ] {
            self.act(&format!("runBatch {example}"), "", &commands.to_string())
                .await;
        }
        let long = self.store.add(&"x".repeat(60_000), "available").await;
        let commands: Vec<_> = (1..=20)
            .map(|at| {
                json!({ "command": "patchPet", "petId": long, "ifMatch": at, "categoryId": at + 1 })
            })
            .collect();
        self.act(
            "runBatch 400 batch_too_long",
            "",
            &json!(commands).to_string(),
        )
        .await;
    }

    async fn deletion(&mut self) {
        self.at("2026-12-01T11:05:00Z");
        let new = [("if-none-match", "*")];
        self.store
            .send("PUT /categories/3", &new, json!({ "label": "Goats" }))
            .await;
        let cursor = self.store.get("/changes").await.following("next");
        self.change("deleteCategory 204 empty", "3", 1, "").await;
        // A stream has no limit.
        let after = cursor
            .split(['?', '&'])
            .find(|piece| piece.starts_with("after="))
            .unwrap();
        let mut events = self.store.stream(&format!("/changes?{after}"), &[]).await;
        let (change, id) = events.change().await;
        self.book
            .compare_event("followChanges 200 deletion", &id, &change);
        self.read(
            "listAudit 200 change",
            "",
            "subject=category:3&type=category.deleted",
        )
        .await;
        self.read("listAudit 200 act", "", "type=key.created&subject=key:3")
            .await;
    }

    async fn photos(&mut self) {
        let add = Request {
            id: "10",
            body: "@picture",
            ..Request::default()
        };
        let added = self.show("addPhoto 201 added", add).await.json();
        let photo = format!("10/photos/{}", added["id"].as_str().unwrap());
        self.read("getPhoto 200 portrait", &photo, "").await;
        self.store.add_photo(10, &pictures::png(4, 3)).await;
        self.change("patchPhoto 412 precondition_failed", &photo, 3, "portrait")
            .await;
        self.change("deletePhoto 412 precondition_failed", &photo, 3, "")
            .await;
        self.change("orderPhotos 412 precondition_failed", "10", 3, "swapped")
            .await;
        self.change("patchPhoto 200 portrait", &photo, 5, "portrait")
            .await;
        self.not_modified_photo(&photo).await;
        self.store.withdraw(10, 6).await;
        self.show("addPhoto 409 invalid_transition", add).await;
        self.change("patchPhoto 409 invalid_transition", &photo, 7, "portrait")
            .await;
        self.change("deletePhoto 409 invalid_transition", &photo, 7, "")
            .await;
        self.change("orderPhotos 409 invalid_transition", "10", 7, "swapped")
            .await;
        self.store.change("POST /pets/10/restore", 7, "{}").await;
        self.change("orderPhotos 200 swapped", "10", 8, "swapped")
            .await;
        self.change("deletePhoto 204 empty", &photo, 9, "").await;
    }

    async fn webhooks(&mut self) {
        self.act("addWebhook 201 added", "", "shop").await;
        self.read("listWebhooks 200 all", "", "").await;
        self.at("2026-12-02T12:00:00Z");
        self.act("patchWebhook 200 disabled", "1", "disable").await;
        self.read("getWebhook 200 disabled", "1", "").await;
        for (operation, body) in [
            ("patchWebhook", "all"),
            ("deleteWebhook", ""),
            ("rotateWebhookSecret", "nothing"),
            ("testWebhook", "nothing"),
            ("enableWebhook", "resume"),
        ] {
            let example = format!("{operation} 412 precondition_failed");
            self.change(&example, "1", 1, body).await;
        }
        self.at("2026-12-02T13:00:00Z");
        self.act("enableWebhook 200 enabled", "1", "resume").await;
        self.act("rotateWebhookSecret 200 rotated", "1", "nothing")
            .await;
        self.act("patchWebhook 200 allTypes", "1", "all").await;
        self.act("testWebhook 202 waiting", "1", "nothing").await;
        for (at, status, duration_ms, error) in [
            ("2026-12-02T13:00:15.400Z", None, 15_000, Some("timeout")),
            ("2026-12-02T13:00:36.100Z", Some(204), 38, None),
        ] {
            let (message_id, at) = (
                "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W".to_owned(),
                at.parse().unwrap(),
            );
            let error = error.map(str::to_owned);
            let attempt = Attempt {
                message_id,
                at,
                status,
                duration_ms,
                error,
            };
            self.store
                .server
                .store
                .add_attempt(WebhookId(1), attempt)
                .await
                .unwrap();
        }
        self.read("listWebhookAttempts 200 attempts", "1", "").await;
    }

    /// Sends the examples of the query parameters.
    async fn parameters(&mut self) {
        // The story has defined others.
        let born = json!({ "label": "Born", "kind": "date" });
        let new = [("if-none-match", "*")];
        assert_eq!(
            self.store.send("PUT /fields/born", &new, born).await.status,
            201
        );
        for operation in operations() {
            let query: Vec<String> = operation.query_examples().collect();
            if !query.is_empty() {
                let (key, query) = (&self.store.key, &query.join("&"));
                let request = Request {
                    key,
                    id: "1",
                    query,
                    ..Request::default()
                };
                self.book
                    .send(&self.store.server, operation.id, request)
                    .await
                    .ok();
            }
        }
    }

    /// Reads everything a second time, with the tag of the first response.
    async fn not_modified(&mut self) {
        for operation in operations() {
            if operation.value["responses"].get("304").is_none() || operation.id == "getPhoto" {
                continue;
            }
            // Without a next page.
            let query = if operation.has("limit") {
                "limit=100"
            } else {
                ""
            };
            let id = if operation.id == "getNote" {
                "1/notes/1"
            } else {
                "1"
            };
            let first = Request {
                key: &self.store.key,
                id,
                query,
                ..Request::default()
            };
            let first = self
                .book
                .send(&self.store.server, operation.id, first)
                .await;
            let fields = [("if-none-match", first.header("etag").unwrap())];
            let example = format!("{} 304 empty", operation.id);
            let again = Request {
                id,
                query,
                fields: &fields,
                ..Request::default()
            };
            let again = self.show(&example, again).await;
            assert_eq!(again.header("etag"), first.header("etag"), "{example}");
        }
    }

    async fn not_modified_photo(&mut self, id: &str) {
        let fields = [("if-none-match", "\"6\"")];
        let request = Request {
            id,
            fields: &fields,
            ..Request::default()
        };
        self.show("getPhoto 304 empty", request).await;
    }

    /// An operator imports animals.
    async fn import(&mut self) {
        let cursor = self.store.get("/changes").await.following("next");
        let (url, now) = (
            self.store.server.database_url(),
            self.store.server.clock.now(),
        );
        let importing = task::spawn_blocking(move || {
            let mut load = databases::open_load(&url, OpenMode::AsIs).unwrap();
            load.begin(IdSource::Next, now).unwrap();
            for name in ["Bella", "Charlie", "Rosie"] {
                let name = PetName::new(name.to_owned()).unwrap();
                let pet = NewPet {
                    name,
                    category_id: 1,
                    status: PetStatus::Available,
                    is_listed: true,
                };
                load.add_pet(None, &pet, &FieldValues::NONE).unwrap();
            }
            load.log_import().unwrap();
            load.commit().unwrap();
        });
        importing.await.unwrap();
        let after = cursor.split_once('?').unwrap().1;
        self.read("followChanges 200 import", "", &format!("{after}&wait=30s"))
            .await;
    }
}
