//! What clients of the store area do in a history.

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::{Mutex, PoisonError},
};

use hyper::StatusCode;
use jiff::SignedDuration;
use petstore_domain::{
    PetId,
    store_area::{self as domain, FieldValue, Resource},
};
use petstore_formats::json;

use super::{
    asks::Ask,
    history::{Event, Moment, Operation},
    messages::{batch_outcome, batch_request, in_hours, label_outcome, label_request, text},
    service::Service,
    store_area::{Command, Content, Filter, Order, Outcome, Shown, StorePet},
    workload::{Client, content, within},
};

/// A client with a key repeats one request in so many as if the response had been lost.
const LOST: usize = 3;

impl Client {
    pub(super) async fn ask(&self, number: usize, ask: Ask, turns: Option<usize>, has_key: bool) {
        let command = match ask {
            Ask::Pets(filter, limit) => return self.walk_pets(filter, limit).await,
            Ask::Orders(status, pet_id, limit) => {
                return self.walk_orders(status, pet_id, limit).await;
            }
            Ask::Revert(id) => match self.revert_of(id).await {
                Some(command) => command,
                None => return,
            },
            ask => {
                let known = self
                    .record
                    .known
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let name = format!("{}.{number}", self.name);
                ask.command(&known, name, self.place.now).unwrap()
            }
        };
        if let Command::ReadPet { .. } | Command::ReadOrder { .. } = command {
            return self.read_one(command).await;
        }
        let needs_key = matches!(command, Command::Place { .. });
        let key = (has_key || needs_key).then(|| format!("{}.{number}", self.name));
        let mut is_told = self
            .send(&self.service, &command, key.as_deref(), turns)
            .await;
        is_told &= !number.is_multiple_of(LOST);
        while has_key && !is_told {
            is_told = self.send(&self.other, &command, key.as_deref(), None).await;
        }
    }

    /// A revert of one of the newest changes of an animal that stands alone in the log and is about no order.
    async fn revert_of(&self, id: i64) -> Option<Command> {
        let store = &self.place.store;
        let newest = store.history(PetId::new(id)?, i64::MAX, 3).await.ok()?;
        for entry in newest {
            let change = json::read_change(&entry)?;
            let (Some(Resource::Pet(before)), Some(Resource::Pet(after))) =
                (&change.before, &change.after)
            else {
                continue;
            };
            if store.changes_of_act(entry.seq).await.ok()?.len() == 1 {
                return Some(Command::Revert {
                    seq: entry.seq,
                    id,
                    version: after.version,
                    before: content_of(before),
                    after: content_of(after),
                });
            }
        }
        None
    }

    /// Sends those requests that can be commands of one batch.
    pub(super) async fn batch(
        &self,
        number: usize,
        asks: Vec<Ask>,
        turns: Option<usize>,
        is_repeated: bool,
    ) {
        let name = format!("{}.{number}", self.name);
        let commands = {
            let known = self
                .record
                .known
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let asks = asks.into_iter();
            asks.filter_map(|ask| ask.command(&known, name.clone(), self.place.now))
                .collect()
        };
        let commands = Command::batch_of(commands);
        if commands.is_empty() {
            return;
        }
        let mut is_told = self
            .send_batch(&self.service, &commands, &name, turns)
            .await;
        is_told &= !number.is_multiple_of(LOST);
        while is_repeated && !is_told {
            is_told = self.send_batch(&self.other, &commands, &name, None).await;
        }
    }

    async fn send_batch(
        &self,
        service: &Service,
        commands: &[Command],
        key: &str,
        turns: Option<usize>,
    ) -> bool {
        let request = batch_request(commands, &self.key, key);
        let called = self.record.now();
        let sending = pin!(service.send(request));
        let response = within(turns, sending).await.flatten();
        let outcome = response.and_then(|response| batch_outcome(commands, &response));
        let is_told = outcome.is_some();
        let returned = if is_told {
            self.record.now()
        } else {
            Moment::MAX
        };
        let (commands, key) = (commands.to_vec(), key.to_owned());
        self.record.add(
            called,
            returned,
            Operation::Batch {
                commands,
                key,
                outcome,
            },
        );
        is_told
    }

    /// Puts or deletes the version of the category that somebody saw last.
    pub(super) async fn label(&self, number: usize, puts: bool) {
        let id = 1;
        let version = {
            let known = self
                .record
                .known
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            known.category(id).max(i64::from(!puts))
        };
        let label = puts.then(|| format!("{}.{number}", self.name));
        let request = label_request(id, version, label.as_deref(), &self.key);
        let called = self.record.now();
        let response = self.service.send(request).await;
        let outcome = response.map(|response| label_outcome(&response));
        let returned = if outcome.is_some() {
            self.record.now()
        } else {
            Moment::MAX
        };
        self.record.add(
            called,
            returned,
            Operation::Label {
                id,
                version,
                label,
                outcome,
            },
        );
    }

    pub(super) async fn categories(&self) {
        let read = self.read("/v1/store/categories?limit=100").await;
        let Some((called, response, returned)) = read else {
            return;
        };
        let page = content(&response, StatusCode::OK);
        self.record
            .add(called, returned, Operation::Categories { page });
    }

    async fn read_one(&self, command: Command) {
        let target = match command {
            Command::ReadPet { id } => format!("/v1/store/pets/{id}"),
            Command::ReadOrder { id } => format!("/v1/store/orders/{id}"),
            _ => unreachable!("a write"),
        };
        let Some((called, response, returned)) = self.read(&target).await else {
            return;
        };
        let outcome = command.outcome(&response);
        self.record.add(
            called,
            returned,
            Operation::Store {
                command,
                key: None,
                outcome,
            },
        );
    }

    /// Sends a write, and returns whether the client got a response.
    async fn send(
        &self,
        service: &Service,
        command: &Command,
        key: Option<&str>,
        turns: Option<usize>,
    ) -> bool {
        let request = command.request(&self.key, key);
        let called = self.record.now();
        let sending = pin!(service.send(request));
        let response = within(turns, sending).await.flatten();
        let outcome = response.and_then(|response| command.outcome(&response));
        let is_told = outcome.is_some();
        let returned = if is_told {
            self.record.now()
        } else {
            Moment::MAX
        };
        let (command, key) = (command.clone(), key.map(str::to_owned));
        self.record.add(
            called,
            returned,
            Operation::Store {
                command,
                key,
                outcome,
            },
        );
        is_told
    }

    /// Reads all animals, orders and categories.
    pub(super) async fn walk_store(&self) {
        for withdrawn in [false, true] {
            self.walk_pets(
                Filter {
                    withdrawn,
                    ..Filter::default()
                },
                100,
            )
            .await;
        }
        self.walk_orders(None, None, 100).await;
        self.categories().await;
    }

    async fn walk_pets(&self, filter: Filter, limit: usize) {
        let Filter {
            status,
            name,
            withdrawn,
        } = filter;
        let status = status.map_or(String::new(), |status| format!("&status={status}"));
        let name = name.map_or(String::new(), |name| format!("&name={name}"));
        let mut next = Some(format!(
            "/v1/store/pets?limit={limit}&withdrawn={withdrawn}{status}{name}"
        ));
        let mut after = 0;
        while let Some(target) = next {
            let Some((called, response, returned)) = self.read(&target).await else {
                return;
            };
            next = response.next();
            let page: Vec<StorePet> = content(&response, StatusCode::OK);
            let last = page.last().map(|pet| pet.id);
            let more = next.is_some();
            let page = Operation::StorePets {
                filter,
                limit,
                after,
                page,
                more,
            };
            self.record.add(called, returned, page);
            assert!(
                !more || last.is_some(),
                "an empty page is followed by another: {target}"
            );
            after = last.unwrap_or(after);
        }
    }

    async fn walk_orders(&self, status: Option<&'static str>, pet_id: Option<i64>, limit: usize) {
        let of_status = status.map_or(String::new(), |status| format!("&status={status}"));
        let of_pet = pet_id.map_or(String::new(), |id| format!("&petId={id}"));
        let mut next = Some(format!("/v1/store/orders?limit={limit}{of_status}{of_pet}"));
        let mut after = 0;
        while let Some(target) = next {
            let Some((called, response, returned)) = self.read(&target).await else {
                return;
            };
            next = response.next();
            let page: Vec<Order> = content(&response, StatusCode::OK);
            let last = page.last().map(|order| order.id);
            let more = next.is_some();
            let page = Operation::Orders {
                status,
                pet_id,
                limit,
                after,
                page,
                more,
            };
            self.record.add(called, returned, page);
            assert!(
                !more || last.is_some(),
                "an empty page is followed by another: {target}"
            );
            after = last.unwrap_or(after);
        }
    }

    /// A sweep as of another process, whose clock is so many hours ahead.
    pub(super) async fn sweep(&self, hours: i64) {
        let called = self.record.now();
        // No two sweeps have the same time.
        let ahead = SignedDuration::from_millis(called.cast_signed());
        let at = in_hours(self.place.now, hours) + ahead;
        let confirmed = self.place.store.confirmed_time(at).await.unwrap();
        self.place
            .store
            .confirm_time(confirmed, at, None)
            .await
            .unwrap();
        self.place.app_at(at).expire_orders().await.unwrap();
        let returned = self.record.now();
        let mut sweeps = self
            .record
            .sweeps
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        sweeps.push((called, returned, text(at)));
    }
}

fn content_of(pet: &domain::StorePet) -> Content {
    let withdrawn = pet.withdrawal.as_ref();
    Content {
        name: pet.name.as_str().to_owned(),
        category_id: pet.category_id,
        status: pet.status.to_string(),
        withdrawn: withdrawn.map(|withdrawal| withdrawal.reason.to_string()),
        breed: pet.fields.get("breed").map(FieldValue::to_string),
    }
}

/// Adds what the sweeps did: an order that expired shows when.
pub(super) fn add_expiries(events: &mut Vec<Event>, sweeps: &Mutex<Vec<(Moment, Moment, String)>>) {
    let sweeps = sweeps.lock().unwrap_or_else(PoisonError::into_inner);
    let mut expired: BTreeSet<(i64, String)> = BTreeSet::new();
    for order in events.iter().flat_map(|event| event.operation.orders()) {
        if order.status == "expired" {
            expired.insert((order.id, order.closed_at.clone().unwrap()));
        }
    }
    for (id, at) in expired {
        let sweep = sweeps.iter().find(|(.., time)| *time == at);
        let &(called, returned, _) =
            sweep.unwrap_or_else(|| panic!("{id} expired without a sweep, at {at}"));
        let outcome = Some(Outcome {
            status: 200,
            code: String::new(),
            shown: Shown::Nothing,
        });
        let operation = Operation::Store {
            command: Command::Expire { id, at },
            key: None,
            outcome,
        };
        events.push(Event {
            called,
            returned,
            operation,
        });
    }
}
