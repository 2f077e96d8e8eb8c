//! `kill -9` under 64 staff clients: each acknowledged change took effect once, and each order
//! agrees with its animal.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::join_all;
use hyper::{Request, StatusCode, header};
use jiff::Timestamp;
use petstore_domain::{Clock, SystemClock};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde::de::DeserializeOwned;
use serde_json::json;
use tempfile::TempDir;
use tokio::{sync::watch, task::JoinSet};

use super::{
    FOR_ONE_OF_PROCESSES,
    asks::{Ask, Known},
    history::{Animal, Operation},
    ledger::{self, Ledger, There},
    number, postgres_cluster, program, runtime,
    service::{Process, Response, Service, processes},
    sqlite_url,
    store_area::{Command, Order, Shown, StorePet},
    workload::content,
};

/// The default number of kills, and the most changes that are acknowledged between two.
const KILLS: u64 = 50;
const CHANGES: usize = 150;
const CLIENTS: usize = 64;

/// Commands meet at the animals up to this id.
const CHANGED: i64 = 200;

/// A request that succeeded, and its response.
type Told = (Request<Bytes>, Response);

/// The services, and what their clients share.
struct Place {
    services: Vec<Service>,
    authorization: String,
    now: Timestamp,
    known: Mutex<Known>,
    /// Since the last kill.
    told: Mutex<Vec<Told>>,
    acknowledged: watch::Sender<usize>,
    is_over: AtomicBool,
}

impl Place {
    /// The response to a request, which is sent until there is one, by any of the services.
    async fn insist(&self, request: &Request<Bytes>, random: &mut StdRng) -> Response {
        loop {
            let service = self.services.choose(random).unwrap();
            let response = service.send(request.clone()).await;
            let is_told = |response: &Response| {
                let is_in_progress = response.status == StatusCode::CONFLICT
                    && response.body.windows(11).any(|text| text == b"in_progress");
                !is_in_progress && response.status != StatusCode::SERVICE_UNAVAILABLE
            };
            if let Some(response) = response.filter(is_told) {
                return response;
            }
        }
    }

    /// A client, which begins no more requests after the kill.
    async fn work(self: Arc<Self>, name: String, mut random: StdRng) {
        let mut number = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            number += 1;
            let name = format!("{name}.{number}");
            if random.random_bool(0.1) {
                self.create(name, &mut random).await;
                continue;
            }
            let ask = Ask::any(&mut random, CHANGED);
            let command = {
                let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                ask.command(&known, name.clone(), self.now)
            };
            let Some(mut command) = command.filter(Command::is_write) else {
                continue;
            };
            // The ledger counts each success as a change.
            if let Command::PatchPet { patch, .. } = &mut command {
                patch.name = Some(name.clone());
            }
            let request = command.request(&self.authorization, Some(&name));
            let response = self.insist(&request, &mut random).await;
            let outcome = command.outcome(&response);
            let operation = Operation::Store {
                command,
                key: None,
                outcome,
            };
            self.known
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .see(&operation);
            if response.status.is_success() {
                self.acknowledge((request, response));
            }
        }
    }

    async fn create(&self, name: String, random: &mut StdRng) {
        let request = Request::post("/v1/pets")
            .header(header::AUTHORIZATION, &self.authorization)
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", &name)
            .body(Bytes::from(
                json!({ "name": name, "categoryId": 1 }).to_string(),
            ));
        let request = request.unwrap();
        let response = self.insist(&request, random).await;
        assert_eq!(response.status, StatusCode::CREATED, "{response:?}");
        self.acknowledge((request, response));
    }

    fn acknowledge(&self, told: Told) {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(told);
        self.acknowledged
            .send_modify(|acknowledged| *acknowledged += 1);
    }

    async fn read(&self, target: &str) -> Response {
        let request = Request::get(target).header(header::AUTHORIZATION, &self.authorization);
        self.services[0]
            .send(request.body(Bytes::new()).unwrap())
            .await
            .unwrap()
    }

    /// Walks from a page to the last one, which it notes.
    async fn walk<T: DeserializeOwned>(&self, page: &mut String) -> Vec<T> {
        let mut all = Vec::new();
        loop {
            let response = self.read(page).await;
            all.append(&mut content(&response, StatusCode::OK));
            let Some(next) = response.next() else {
                return all;
            };
            *page = next;
        }
    }
}

impl From<StorePet> for ledger::Pet {
    fn from(pet: StorePet) -> Self {
        let StorePet {
            id,
            version,
            order_id: order,
            ..
        } = pet;
        let text = format!("{}, {}, {}", pet.name, pet.category_id, pet.status);
        Self {
            id,
            version,
            order,
            text,
        }
    }
}

impl From<Animal> for ledger::Pet {
    /// A new animal.
    fn from(
        Animal {
            id,
            name,
            category_id,
            status,
        }: Animal,
    ) -> Self {
        Self {
            id,
            version: 1,
            order: None,
            text: format!("{name}, {category_id}, {status}"),
        }
    }
}

impl From<Order> for ledger::Order {
    fn from(order: Order) -> Self {
        let text = format!("{order:?}");
        Self {
            id: order.id,
            version: order.version,
            pet: order.pet_id,
            status: order.status,
            text,
        }
    }
}

/// What a response showed.
fn shown((request, response): &Told) -> Shown {
    let path = request.uri().path();
    if path.starts_with("/v1/store/orders") {
        Shown::Order(Box::new(content(response, response.status)))
    } else if path.starts_with("/v1/store/pets") {
        Shown::Pet(Box::new(content(response, response.status)))
    } else {
        Shown::Nothing
    }
}

/// What is known after the kills so far.
#[derive(Default)]
struct Books {
    ledger: Ledger,
    there: There,
    told: Vec<Told>,
    last_pages: Option<[String; 2]>,
}

fn first_pages() -> [String; 2] {
    ["/v1/store/pets?limit=100", "/v1/store/orders?limit=100"].map(str::to_owned)
}

fn see_pets(there: &mut There, pets: impl IntoIterator<Item = StorePet>) {
    there
        .pets
        .extend(pets.into_iter().map(|pet| (pet.id, pet.into())));
}

fn see_orders(there: &mut There, orders: impl IntoIterator<Item = Order>) {
    there
        .orders
        .extend(orders.into_iter().map(|order| (order.id, order.into())));
}

impl Books {
    /// Compares what clients were told since the last kill with what is there now. Nothing is in
    /// progress.
    async fn compare(&mut self, place: &Place) {
        let told = std::mem::take(&mut *place.told.lock().unwrap_or_else(PoisonError::into_inner));
        is_replayed(place, &told).await;
        let [pets, orders] = self.last_pages.get_or_insert_with(first_pages);
        see_pets(&mut self.there, place.walk(pets).await);
        see_orders(&mut self.there, place.walk(orders).await);
        // What those pages do not show, or do not show any more.
        let mut touched = BTreeSet::new();
        for told in &told {
            match shown(told) {
                Shown::Order(order) => {
                    touched.insert(format!("/v1/store/orders/{}", order.id));
                    touched.insert(format!("/v1/store/pets/{}", order.pet_id));
                    self.ledger.add_order(&(*order).into());
                }
                Shown::Pet(pet) => {
                    touched.insert(format!("/v1/store/pets/{}", pet.id));
                    self.ledger.add_pet(&(*pet).into());
                }
                Shown::Nothing => {
                    self.ledger
                        .add_pet(&content::<Animal>(&told.1, StatusCode::CREATED).into());
                }
            }
        }
        for target in touched {
            let response = place.read(&target).await;
            if target.starts_with("/v1/store/orders") {
                see_orders(&mut self.there, [content(&response, StatusCode::OK)]);
            } else {
                see_pets(&mut self.there, [content(&response, StatusCode::OK)]);
            }
        }
        self.ledger.compare(&self.there, |_| 0);
        self.told.extend(told);
    }

    /// The same for everything, by walks from the beginning.
    async fn compare_all(&self, place: &Place) {
        is_replayed(place, &self.told).await;
        let mut there = There::default();
        let [mut pets, mut orders] = first_pages();
        see_pets(&mut there, place.walk(&mut pets).await);
        let mut of_contract = "/v1/pets?limit=100".to_owned();
        let listed = place.walk::<Animal>(&mut of_contract).await;
        let listed: Vec<i64> = listed.iter().map(|animal| animal.id).collect();
        assert!(there.pets.keys().eq(&listed), "the contract lists others");
        see_pets(
            &mut there,
            place
                .walk(&mut "/v1/store/pets?withdrawn=true&limit=100".to_owned())
                .await,
        );
        see_orders(&mut there, place.walk(&mut orders).await);
        assert!(there == self.there, "the walks differ");
    }
}

/// Each request gets its first response again.
async fn is_replayed(place: &Place, told: &[Told]) {
    for some in told.chunks(CLIENTS) {
        let replays = some
            .iter()
            .map(|(request, _)| place.services[0].send(request.clone()));
        for ((request, first), again) in some.iter().zip(join_all(replays).await) {
            let again = again.unwrap();
            let parts = |response: &Response| {
                let Response { status, body, .. } = response.clone();
                (
                    status,
                    response.tag().to_owned(),
                    response.location().map(str::to_owned),
                    body,
                )
            };
            assert_eq!(parts(first), parts(&again), "{request:?}");
        }
    }
}

/// Kills one of the processes on a database again and again.
async fn kills(directory: &Path, url: &str, processes_: usize, kills: u64, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let (processes, key) = processes(directory, url, processes_);
    // Now and then, a request that is sent while the process dies waits forever in the client,
    // without a connection.
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_mins(1));
    let client = client.build().unwrap();
    let there = |process: &Arc<Process>| Service::There(client.clone(), Arc::clone(process));
    let place = Arc::new(Place {
        services: processes.iter().map(there).collect(),
        authorization: format!("Bearer {key}"),
        now: SystemClock.now(),
        known: Mutex::default(),
        told: Mutex::default(),
        acknowledged: watch::Sender::default(),
        is_over: AtomicBool::new(true),
    });
    for number in 0..CHANGED {
        place.create(format!("first.{number}"), &mut random).await;
    }
    let mut books = Books::default();
    books.compare(&place).await;
    for kill in 0..kills {
        place.is_over.store(false, Ordering::SeqCst);
        place.acknowledged.send_replace(0);
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let random = StdRng::seed_from_u64(random.random());
            clients.spawn(Arc::clone(&place).work(format!("{kill}.{client}"), random));
        }
        let after = random.random_range(0..CHANGES);
        place
            .acknowledged
            .subscribe()
            .wait_for(|count| *count >= after)
            .await
            .unwrap();
        let killed = Arc::clone(processes.choose(&mut random).unwrap());
        let place_ = Arc::clone(&place);
        let restart = move || {
            killed.kill();
            place_.is_over.store(true, Ordering::SeqCst);
            killed.start();
        };
        tokio::task::spawn_blocking(restart).await.unwrap();
        while let Some(done) = clients.join_next().await {
            done.unwrap();
        }
        books.compare(&place).await;
        program::run(directory, &["check", "--database", url]).expect_success();
    }
    books.compare_all(&place).await;
    eprintln!(
        "{kills} kills, KILLS_SEED={seed}: {} requests acknowledged, which made {} changes: none \
         lost, none made twice, {} animals and {} orders agree",
        books.told.len(),
        books.ledger.changes(),
        books.there.pets.len(),
        books.there.orders.len(),
    );
}

/// `KILLS` sets the number of kills, `KILLS_SEED` the moments.
fn wanted() -> (u64, u64) {
    let seed = number("KILLS_SEED").unwrap_or(20_261_121);
    eprintln!("KILLS_SEED={seed}");
    (number("KILLS").unwrap_or(KILLS), seed)
}

#[test]
fn after_kill_9_under_64_clients_every_acknowledged_change_took_effect_once() {
    let (count, seed) = wanted();
    let directory = TempDir::new().unwrap();
    let url = sqlite_url(directory.path());
    runtime().block_on(kills(directory.path(), &url, 1, count, seed));
}

/// Clients repeat their requests at the other process, too.
#[test]
fn after_kill_9_of_one_of_two_processes_over_postgres_every_acknowledged_change_took_effect_once() {
    let (count, seed) = wanted();
    let directory = TempDir::new().unwrap();
    runtime().block_on(async {
        let url = postgres_cluster::fresh_url().await;
        kills(
            directory.path(),
            &url,
            2,
            count.div_ceil(FOR_ONE_OF_PROCESSES),
            seed,
        )
        .await;
    });
}
