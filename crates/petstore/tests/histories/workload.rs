//! What the clients of a history do, drawn from a seed, and the recording of
//! it. The same seed gives the same requests; how they interleave is up to the
//! machine.

use std::{
    collections::HashMap,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use hyper::{Request, StatusCode, header};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    asks::{Ask, Known},
    clerk,
    history::{Animal, Event, Moment, Operation},
    service::{Place, Response, Service},
};

const STATUSES: [&str; 3] = ["available", "pending", "sold"];

/// Few of them, so that clients meet at the pages that the service keeps.
const LIMITS: [usize; 4] = [1, 3, 10, 100];

/// The most clients of a history, and the most steps of each.
const CLIENTS: usize = 8;
const STEPS: usize = 16;

/// Commands of the store area meet at the animals up to this id.
const CHANGED: i64 = 4;

/// What a client does next.
#[derive(Debug)]
enum Step {
    Create(&'static str),
    /// A create whose client leaves after so many turns.
    Abandon(&'static str, usize),
    /// The same, but the client sends it again, elsewhere, until it gets a response.
    Insist(&'static str, usize),
    Get(i64),
    FirstPage(Option<&'static str>, usize),
    Walk(Option<&'static str>, usize),
    /// The log of a SQLite file is written to the file, so that the log begins again;
    /// and what waits for the search is merged.
    Upkeep,
    /// A request to the store area, whose client leaves after so many turns, if at
    /// all. If it has a key, the client then sends it again until it gets a response.
    Ask(Ask, Option<usize>, bool),
    /// Several requests as one batch, likewise.
    Batch(Vec<Ask>, Option<usize>, bool),
    /// Makes or changes the label of the category for which all compete, or deletes it.
    Label(bool),
    Categories,
    /// A sweep by a clock that is so many hours ahead.
    Sweep(i64),
    /// The process is killed, and started again.
    Restart,
}

impl Step {
    fn any(random: &mut impl Rng, ids: i64) -> Self {
        let status = STATUSES[random.random_range(0..STATUSES.len())];
        let filter = random.random_bool(0.5).then_some(status);
        let limit = LIMITS[random.random_range(0..LIMITS.len())];
        let turns = random.random_range(0..6);
        if random.random_bool(0.5) {
            let ask = Ask::any(random, CHANGED);
            let leaves = random.random_bool(0.15).then_some(turns);
            let has_key = random.random_bool(0.5);
            if random.random_bool(0.2) {
                let asks = (0..random.random_range(1..=6)).map(|_| Ask::any(random, CHANGED));
                return Self::Batch(asks.collect(), leaves, has_key);
            }
            return Self::Ask(ask, leaves, has_key);
        }
        if random.random_bool(0.2) {
            return match random.random_range(0..5) {
                0 => Self::Categories,
                action => Self::Label(action > 1),
            };
        }
        match random.random_range(0..24) {
            0..7 => Self::Create(status),
            7 => Self::Abandon(status, turns / 2),
            8 => Self::Insist(status, turns),
            9..12 => Self::Get(random.random_range(1..=ids)),
            12..17 => Self::FirstPage(filter, limit),
            17..20 => Self::Walk(filter, limit),
            20..22 => Self::Sweep(random.random_range(0..72)),
            _ => Self::Upkeep,
        }
    }
}

/// Takes the events of a history down.
#[derive(Default)]
pub(super) struct Record {
    moment: AtomicU64,
    events: Mutex<Vec<Event>>,
    /// Every response with a tag that any client got, by its target.
    tagged: Mutex<HashMap<String, Vec<Response>>>,
    /// What somebody saw of the store area.
    pub(super) known: Mutex<Known>,
    /// The sweeps: when they began and ended, and what their clock showed.
    pub(super) sweeps: Mutex<Vec<(Moment, Moment, String)>>,
}

impl Record {
    pub(super) fn now(&self) -> Moment {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }

    pub(super) fn add(&self, called: Moment, returned: Moment, operation: Operation) {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .see(&operation);
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(Event {
            called,
            returned,
            operation,
        });
    }

    /// The tags of all responses from `target` so far, as a client sends them.
    fn known(&self, target: &str) -> String {
        let tagged = self.tagged.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tagged.get(target).map_or(&[][..], Vec::as_slice);
        known
            .iter()
            .map(Response::tag)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// What `response` stands for: the earlier one with the same tag, if it is a
    /// 304. Fails if one tag stands for two responses.
    fn resolve(&self, target: &str, response: Response) -> Response {
        let mut tagged = self.tagged.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tagged.entry(target.to_owned()).or_default();
        let same = known.iter().find(|known| known.tag() == response.tag());
        match (response.status, same) {
            (StatusCode::NOT_MODIFIED, Some(same)) => same.clone(),
            (StatusCode::OK, Some(same)) => {
                assert!(
                    (&same.body, same.next()) == (&response.body, response.next()),
                    "one tag for two responses from {target}: {same:?} and {response:?}"
                );
                response
            }
            (StatusCode::OK, None) => {
                known.push(response.clone());
                response
            }
            (StatusCode::NOT_MODIFIED, None) => panic!("304 with an unknown tag: {response:?}"),
            _ => response,
        }
    }
}

/// A client of one of the services.
pub(super) struct Client {
    pub(super) name: String,
    pub(super) service: Service,
    /// Where it repeats a request without a response.
    pub(super) other: Service,
    pub(super) key: String,
    pub(super) record: Arc<Record>,
    pub(super) place: Arc<Place>,
}

impl Client {
    /// Asks for `target`, every second time on the condition that the response
    /// has changed. Returns the moments of the call and the return, too; `None` if
    /// the process was killed meanwhile.
    pub(super) async fn read(&self, target: &str) -> Option<(Moment, Response, Moment)> {
        let mut request = Request::get(target).header(header::AUTHORIZATION, &self.key);
        let called = self.record.now();
        if called.is_multiple_of(2) {
            request = request.header(header::IF_NONE_MATCH, self.record.known(target));
        }
        let response = self
            .service
            .send(request.body(Bytes::new()).unwrap())
            .await?;
        let returned = self.record.now();
        Some((called, self.record.resolve(target, response), returned))
    }

    async fn upkeep(&self) {
        while self.place.store.tend_search(0).await.unwrap() {}
        let Some(file) = &self.place.file else { return };
        let other = Connection::open(file).unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        // Does less, or nothing, while the file is in use.
        let _ = other.execute_batch("PRAGMA wal_checkpoint(RESTART)");
    }

    async fn run(&self, steps: Vec<Step>) {
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Create(status) => {
                    self.create(&self.service, number, status, None).await;
                }
                Step::Abandon(status, turns) => {
                    self.create(&self.service, number, status, Some(turns))
                        .await;
                }
                Step::Insist(status, turns) => {
                    self.create(&self.service, number, status, Some(turns))
                        .await;
                    while !self.create(&self.other, number, status, None).await {}
                }
                Step::Get(id) => self.get(id).await,
                Step::FirstPage(status, limit) => {
                    self.page(first_page(status, limit), status, limit, 0).await;
                }
                Step::Walk(status, limit) => self.walk(status, limit).await,
                Step::Upkeep => self.upkeep().await,
                Step::Ask(ask, turns, has_key) => self.ask(number, ask, turns, has_key).await,
                Step::Batch(asks, turns, is_repeated) => {
                    self.batch(number, asks, turns, is_repeated).await;
                }
                Step::Label(puts) => self.label(number, puts).await,
                Step::Categories => self.categories().await,
                Step::Sweep(hours) => self.sweep(hours).await,
                Step::Restart => self.service.restart().await,
            }
        }
    }

    /// Creates an animal, and returns whether it was told so; or goes away
    /// after so many turns, if that is sooner.
    async fn create(
        &self,
        service: &Service,
        number: usize,
        status: &'static str,
        turns: Option<usize>,
    ) -> bool {
        let name = format!("{}.{number}", self.name);
        let category_id = i64::try_from(number).unwrap();
        let body = json!({ "name": name, "categoryId": category_id, "status": status });
        let request = Request::post("/v1/pets")
            .header(header::AUTHORIZATION, &self.key)
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", &name)
            .body(Bytes::from(body.to_string()));
        let called = self.record.now();
        let creating = pin!(service.send(request.unwrap()));
        let response = within(turns, creating).await.flatten();
        // One that is still in progress elsewhere has told the client nothing.
        let told = response.filter(|response| response.status != StatusCode::CONFLICT);
        let (response, returned) = match told {
            Some(response) => {
                let returned = self.record.now();
                (Some(content(&response, StatusCode::CREATED)), returned)
            }
            None => (None, Moment::MAX),
        };
        let told = response.is_some();
        let operation = Operation::Create {
            name,
            category_id,
            status,
            response,
        };
        self.record.add(called, returned, operation);
        told
    }

    async fn get(&self, id: i64) {
        let Some((called, response, returned)) = self.read(&format!("/v1/pets/{id}")).await else {
            return;
        };
        let found = match response.status {
            StatusCode::NOT_FOUND => None,
            _ => Some(content(&response, StatusCode::OK)),
        };
        self.record
            .add(called, returned, Operation::Get { id, found });
    }

    async fn walk(&self, status: Option<&'static str>, limit: usize) {
        let mut next = Some((first_page(status, limit), 0));
        // Each page but the last has an animal, and each step of a client adds one at most.
        for _ in 0..=CLIENTS * (STEPS + 1) {
            let Some((target, after)) = next else { return };
            next = self.page(target, status, limit, after).await;
        }
        panic!("a walk with status {status:?} and limit {limit} does not end: {next:?} is next");
    }

    /// Reads a page, and returns where the next one is and after which id.
    async fn page(
        &self,
        target: String,
        status: Option<&'static str>,
        limit: usize,
        after: i64,
    ) -> Option<(String, i64)> {
        let (called, response, returned) = self.read(&target).await?;
        let next = response.next();
        let page: Vec<Animal> = content(&response, StatusCode::OK);
        let last = page.last().map_or(after, |animal| animal.id);
        let more = next.is_some();
        self.record.add(
            called,
            returned,
            Operation::List {
                status,
                limit,
                after,
                page,
                more,
            },
        );
        next.map(|next| (next, last))
    }
}

/// What a future gives within so many turns, or ever.
pub(super) async fn within<T>(
    turns: Option<usize>,
    mut future: Pin<&mut impl Future<Output = T>>,
) -> Option<T> {
    let Some(turns) = turns else {
        return Some(future.await);
    };
    for _ in 0..turns {
        if let Poll::Ready(ready) = futures_util::poll!(future.as_mut()) {
            return Some(ready);
        }
        tokio::task::yield_now().await;
    }
    None
}

fn first_page(status: Option<&str>, limit: usize) -> String {
    let filter = status.map_or(String::new(), |status| format!("&status={status}"));
    format!("/v1/pets?limit={limit}{filter}")
}

pub(super) fn content<T: DeserializeOwned>(response: &Response, expected: StatusCode) -> T {
    assert_eq!(
        response.status,
        expected,
        "{}",
        String::from_utf8_lossy(&response.body)
    );
    serde_json::from_slice(&response.body).unwrap()
}

/// Clients that work on the services of a place at once, as `seed` says; and what
/// they saw.
pub(crate) async fn history(seed: u64, place: Place) -> Vec<Event> {
    let mut random = StdRng::seed_from_u64(seed);
    let record = Arc::new(Record::default());
    let place = Arc::new(place);
    let services = &place.services;
    let client = |number: usize| Client {
        name: number.to_string(),
        service: services[number % services.len()].clone(),
        other: services[(number + 1) % services.len()].clone(),
        key: format!("Bearer {}", place.key),
        record: Arc::clone(&record),
        place: Arc::clone(&place),
    };
    let first = Client {
        name: "first".to_owned(),
        ..client(0)
    };
    for number in 0..usize::try_from(CHANGED).unwrap() {
        first
            .create(&first.service, number, STATUSES[0], None)
            .await;
    }
    let clients = random.random_range(2..=CLIENTS);
    let mut running = JoinSet::new();
    for number in 0..clients {
        let count = random.random_range(STEPS / 2..=STEPS);
        let ids = i64::try_from(clients * count / 2).unwrap();
        let mut steps: Vec<Step> = (0..count).map(|_| Step::any(&mut random, ids)).collect();
        if number == 0 {
            steps.insert(count / 2, Step::Restart);
        }
        let client = client(number);
        running.spawn(async move { client.run(steps).await });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    // Afterwards everybody sees the same.
    for number in 0..services.len() {
        for status in [
            None,
            Some(STATUSES[0]),
            Some(STATUSES[1]),
            Some(STATUSES[2]),
        ] {
            client(number).walk(status, 10).await;
        }
        client(number).walk_store().await;
    }
    let mut events = record.events.lock().unwrap_or_else(PoisonError::into_inner);
    let mut events = std::mem::take(&mut *events);
    clerk::add_expiries(&mut events, &record.sweeps);
    events
}
