//! What clients of the store area do in a history.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use hyper::{Method, Request, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    asks::{Age, Ask},
    history::{Event, Moment, Operation, Patch},
    service::{Response, Service},
    store_area::{Command, Filter, Order, Outcome, Shown, StorePet},
    workload::{Client, content, within},
};

/// A time as the service shows it.
fn text(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// An error of the store area.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rejection {
    code: String,
    #[serde(rename = "message")]
    _message: String,
    status: u16,
    current: Option<Value>,
}

impl Client {
    fn in_hours(&self, hours: i64) -> Timestamp {
        self.place.now + SignedDuration::from_hours(hours)
    }

    pub(super) async fn ask(&self, number: usize, ask: Ask, turns: Option<usize>, has_key: bool) {
        let command = match ask {
            Ask::Pets(filter, limit) => return self.walk_pets(filter, limit).await,
            Ask::Orders(status, pet_id, limit) => {
                return self.walk_orders(status, pet_id, limit).await;
            }
            ask => self.command(number, ask),
        };
        if let Command::ReadPet { .. } | Command::ReadOrder { .. } = command {
            return self.read_one(command).await;
        }
        let needs_key = matches!(command, Command::Place { .. });
        let key = (has_key || needs_key).then(|| format!("{}.{number}", self.name));
        let mut is_told = self.send(&self.service, &command, key.as_deref(), turns).await;
        while has_key && !is_told {
            is_told = self.send(&self.other, &command, key.as_deref(), None).await;
        }
    }

    fn command(&self, number: usize, ask: Ask) -> Command {
        let known = self.record.known.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |newest: i64, age: Age| age.map(|age| (newest - age).max(1));
        let of_pet = |id: i64, version| of(known.pet(id), version);
        let name = format!("{}.{number}", self.name);
        let order = |from_newest, status| known.order(from_newest, status).0;
        match ask {
            Ask::ReadPet(id) => Command::ReadPet { id },
            Ask::Rename(id, version) => {
                let patch = Patch { name: Some(name), ..Patch::default() };
                Command::PatchPet { id, version: of_pet(id, version), patch }
            }
            Ask::SetStatus(id, status, version) => {
                let patch = Patch { status: Some(status), ..Patch::default() };
                Command::PatchPet { id, version: of_pet(id, version), patch }
            }
            Ask::Withdraw(id, version) => {
                Command::Withdraw { id, version: of_pet(id, version), reason: "other" }
            }
            Ask::Restore(id, version) => {
                let id = known.withdrawn_pet(id);
                Command::Restore { id, version: of_pet(id, version) }
            }
            Ask::Reserve(pet_id, hours) => {
                let until = Some(text(self.in_hours(hours)));
                Command::Place { pet_id, note: name, until }
            }
            Ask::Sell(pet_id) => Command::Place { pet_id, note: name, until: None },
            Ask::ReadOrder(from_newest) => Command::ReadOrder { id: order(from_newest, "") },
            Ask::Refer(from_newest, version) => {
                let (id, newest) = known.order(from_newest, "");
                let version = of(newest, version);
                Command::PatchOrder { id, version, reference: Some(name), until: None }
            }
            Ask::Extend(from_newest, hours, version) => {
                let (id, newest) = known.order(from_newest, "reserved");
                let until = Some(text(self.in_hours(hours)));
                Command::PatchOrder { id, version: of(newest, version), reference: None, until }
            }
            Ask::Complete(from_newest) => Command::Complete { id: order(from_newest, "reserved") },
            Ask::Cancel(from_newest) => Command::Cancel { id: order(from_newest, "reserved") },
            Ask::Return(from_newest) => Command::Return { id: order(from_newest, "completed") },
            Ask::Pets(..) | Ask::Orders(..) => unreachable!("a walk"),
        }
    }

    async fn read_one(&self, command: Command) {
        let target = match command {
            Command::ReadPet { id } => format!("/v1/store/pets/{id}"),
            Command::ReadOrder { id } => format!("/v1/store/orders/{id}"),
            _ => unreachable!("a write"),
        };
        let Some((called, response, returned)) = self.read(&target).await else { return };
        let outcome = outcome(&command, &response);
        self.record.add(called, returned, Operation::Store { command, key: None, outcome });
    }

    /// Sends a write, and returns whether the client got a response.
    async fn send(
        &self,
        service: &Service,
        command: &Command,
        key: Option<&str>,
        turns: Option<usize>,
    ) -> bool {
        let request = self.request(command, key);
        let called = self.record.now();
        let sending = pin!(service.send(request));
        let response = within(turns, sending).await.flatten();
        let outcome = response.and_then(|response| outcome(command, &response));
        let is_told = outcome.is_some();
        let returned = if is_told { self.record.now() } else { Moment::MAX };
        let (command, key) = (command.clone(), key.map(str::to_owned));
        self.record.add(called, returned, Operation::Store { command, key, outcome });
        is_told
    }

    fn request(&self, command: &Command, key: Option<&str>) -> Request<Bytes> {
        let pet = |id: &i64, what: &str| format!("/v1/store/pets/{id}{what}");
        let order = |id: &i64, what: &str| format!("/v1/store/orders/{id}{what}");
        let (target, body) = match command {
            Command::PatchPet { id, patch: Patch { name, category_id, status }, .. } => {
                let body = json!({ "name": name, "categoryId": category_id, "status": status });
                (pet(id, ""), body)
            }
            Command::Withdraw { id, reason, .. } => {
                (pet(id, "/withdraw"), json!({ "reason": reason }))
            }
            Command::Restore { id, .. } => (pet(id, "/restore"), json!({})),
            Command::Place { pet_id, note, until } => {
                let status = if until.is_some() { "reserved" } else { "completed" };
                let body =
                    json!({ "petId": pet_id, "note": note, "status": status, "expiresAt": until });
                ("/v1/store/orders".to_owned(), body)
            }
            Command::PatchOrder { id, reference, until, .. } => {
                (order(id, ""), json!({ "reference": reference, "expiresAt": until }))
            }
            Command::Complete { id } => (order(id, "/complete"), json!({})),
            Command::Cancel { id } => (order(id, "/cancel"), json!({})),
            Command::Return { id } => (order(id, "/return"), json!({})),
            other => unreachable!("{other:?} is no write of a client"),
        };
        let is_patch = matches!(command, Command::PatchPet { .. } | Command::PatchOrder { .. });
        let mut request = Request::builder()
            .method(if is_patch { Method::PATCH } else { Method::POST })
            .uri(target)
            .header(header::AUTHORIZATION, &self.key)
            .header(header::CONTENT_TYPE, "application/json");
        if let Command::PatchPet { version, .. }
        | Command::PatchOrder { version, .. }
        | Command::Withdraw { version, .. }
        | Command::Restore { version, .. } = command
        {
            let tag = version.map_or("*".to_owned(), |version| format!("\"{version}\""));
            request = request.header(header::IF_MATCH, tag);
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let Value::Object(mut body) = body else { unreachable!() };
        body.retain(|_, value| !value.is_null());
        request.body(Bytes::from(Value::Object(body).to_string())).unwrap()
    }

    /// Reads all animals and orders.
    pub(super) async fn walk_store(&self) {
        for withdrawn in [false, true] {
            self.walk_pets(Filter { withdrawn, ..Filter::default() }, 100).await;
        }
        self.walk_orders(None, None, 100).await;
    }

    async fn walk_pets(&self, filter: Filter, limit: usize) {
        let Filter { status, name, withdrawn } = filter;
        let status = status.map_or(String::new(), |status| format!("&status={status}"));
        let name = name.map_or(String::new(), |name| format!("&name={name}"));
        let mut next =
            Some(format!("/v1/store/pets?limit={limit}&withdrawn={withdrawn}{status}{name}"));
        let mut after = None;
        while let Some(target) = next {
            let Some((called, response, returned)) = self.read(&target).await else { return };
            next = response.next();
            let page: Vec<StorePet> = content(&response, StatusCode::OK);
            let last = page.last().map(|pet| (pet.name.clone(), pet.id));
            let more = next.is_some();
            let page = Operation::StorePets { filter, limit, after, page, more };
            self.record.add(called, returned, page);
            assert!(!more || last.is_some(), "an empty page is followed by another: {target}");
            after = last;
        }
    }

    async fn walk_orders(&self, status: Option<&'static str>, pet_id: Option<i64>, limit: usize) {
        let of_status = status.map_or(String::new(), |status| format!("&status={status}"));
        let of_pet = pet_id.map_or(String::new(), |id| format!("&petId={id}"));
        let mut next = Some(format!("/v1/store/orders?limit={limit}{of_status}{of_pet}"));
        let mut after = 0;
        while let Some(target) = next {
            let Some((called, response, returned)) = self.read(&target).await else { return };
            next = response.next();
            let page: Vec<Order> = content(&response, StatusCode::OK);
            let last = page.last().map(|order| order.id);
            let more = next.is_some();
            let page = Operation::Orders { status, pet_id, limit, after, page, more };
            self.record.add(called, returned, page);
            assert!(!more || last.is_some(), "an empty page is followed by another: {target}");
            after = last.unwrap_or(after);
        }
    }

    /// A sweep as of another process, whose clock is so many hours ahead.
    pub(super) async fn sweep(&self, hours: i64) {
        let called = self.record.now();
        // No two sweeps have the same time.
        let ahead = SignedDuration::from_millis(called.cast_signed());
        let at = self.in_hours(hours) + ahead;
        self.place.app_at(at).expire_orders().await.unwrap();
        let returned = self.record.now();
        let mut sweeps = self.record.sweeps.lock().unwrap_or_else(PoisonError::into_inner);
        sweeps.push((called, returned, text(at)));
    }
}

/// What a response means; `None` if the same request is still in progress elsewhere.
fn outcome(command: &Command, response: &Response) -> Option<Outcome> {
    let is_of_pet = matches!(
        command,
        Command::ReadPet { .. }
            | Command::PatchPet { .. }
            | Command::Withdraw { .. }
            | Command::Restore { .. }
    );
    let shown = |body: Value, is_pet: bool| {
        if is_pet {
            Shown::Pet(Box::new(serde_json::from_value(body).unwrap()))
        } else {
            Shown::Order(Box::new(serde_json::from_value(body).unwrap()))
        }
    };
    let status = response.status.as_u16();
    if status < 300 {
        let shown = shown(content(response, response.status), is_of_pet);
        let (version, id) = match &shown {
            Shown::Pet(pet) => (pet.version, pet.id),
            Shown::Order(order) => (order.version, order.id),
            Shown::Nothing => unreachable!(),
        };
        assert_eq!(response.tag(), format!("\"{version}\""), "{response:?}");
        let location = (status == 201).then(|| format!("/v1/store/orders/{id}"));
        assert_eq!(response.location(), location.as_deref(), "{response:?}");
        return Some(Outcome { status, code: String::new(), shown });
    }
    let rejection: Rejection = content(response, response.status);
    assert_eq!(rejection.status, status);
    match rejection.code.as_str() {
        "idempotency_in_progress" => return None,
        "not_found" | "precondition_failed" | "invalid_transition" | "open_order" => {}
        other => panic!("{other} for {command:?}"),
    }
    let is_pet = is_of_pet || matches!(command, Command::Place { .. });
    let shown = rejection.current.map_or(Shown::Nothing, |current| shown(current, is_pet));
    Some(Outcome { status, code: rejection.code, shown })
}

/// Adds what the sweeps did: an order that expired shows when.
pub(super) fn add_expiries(events: &mut Vec<Event>, sweeps: &Mutex<Vec<(Moment, Moment, String)>>) {
    let sweeps = sweeps.lock().unwrap_or_else(PoisonError::into_inner);
    let mut expired: BTreeMap<i64, String> = BTreeMap::new();
    for order in events.iter().flat_map(|event| event.operation.orders()) {
        if order.status == "expired" {
            expired.insert(order.id, order.closed_at.clone().unwrap());
        }
    }
    for (id, at) in expired {
        let sweep = sweeps.iter().find(|(.., time)| *time == at);
        let &(called, returned, _) =
            sweep.unwrap_or_else(|| panic!("{id} expired without a sweep, at {at}"));
        let outcome = Some(Outcome { status: 200, code: String::new(), shown: Shown::Nothing });
        let operation =
            Operation::Store { command: Command::Expire { id, at }, key: None, outcome };
        events.push(Event { called, returned, operation });
    }
}
