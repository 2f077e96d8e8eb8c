//! What the clients of a history do, drawn from a seed, and the recording of
//! it. The same seed gives the same requests; how they interleave is up to the
//! machine.

use std::{
    net::IpAddr,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode};
use jiff::Timestamp;
use petstore::{
    domain::{ApiKey, ClientAddress, Clock, Deployment, NewKey, Scope, SystemClock},
    http::{App, Settings},
    store::Store,
};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use serde_json::json;
use tokio::task::JoinSet;

use super::history::{Animal, Event, Moment, Operation};

const STATUSES: [&str; 3] = ["available", "pending", "sold"];

/// Few of them, so that clients meet at the pages that the service keeps.
const LIMITS: [usize; 4] = [1, 3, 10, 100];

/// What a client does next.
#[derive(Debug)]
enum Step {
    Create(&'static str),
    /// A create whose client goes away after so many turns.
    Abandon(&'static str, usize),
    /// The same, but the client sends it again, elsewhere, until it is answered.
    Insist(&'static str, usize),
    Get(i64),
    FirstPage(Option<&'static str>, usize),
    Walk(Option<&'static str>, usize),
}

impl Step {
    fn any(random: &mut impl Rng, ids: i64) -> Self {
        let status = STATUSES[random.random_range(0..STATUSES.len())];
        let filter = random.random_bool(0.5).then_some(status);
        let limit = LIMITS[random.random_range(0..LIMITS.len())];
        match random.random_range(0..20) {
            0..7 => Self::Create(status),
            7 => Self::Abandon(status, random.random_range(0..3)),
            8 => Self::Insist(status, random.random_range(0..6)),
            9..12 => Self::Get(random.random_range(1..=ids)),
            12..17 => Self::FirstPage(filter, limit),
            _ => Self::Walk(filter, limit),
        }
    }
}

/// A date before the end of reading by id, whatever the machine's is.
struct BeforeTheEnd;

impl Clock for BeforeTheEnd {
    fn now(&self) -> Timestamp {
        "2026-12-01T12:00:00Z".parse().unwrap()
    }

    fn instant(&self) -> Instant {
        SystemClock.instant()
    }
}

/// Takes the events of a history down.
#[derive(Default)]
struct Record {
    moment: AtomicU64,
    events: Mutex<Vec<Event>>,
}

impl Record {
    fn now(&self) -> Moment {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }

    fn add(&self, called: Moment, returned: Moment, operation: Operation) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(Event { called, returned, operation });
    }
}

fn from_here() -> ClientAddress {
    IpAddr::from([127, 0, 0, 1]).into()
}

/// A client of one of the services.
struct Client {
    name: String,
    app: Arc<App>,
    /// Where it sends again what was not answered.
    other: Arc<App>,
    key: String,
    record: Arc<Record>,
}

impl Client {
    async fn send(&self, target: &str) -> Response<Full<Bytes>> {
        let request = Request::get(target).header("host", "x").header("authorization", &self.key);
        self.app.handle(from_here(), request.body(Full::default()).unwrap()).await
    }

    async fn run(&self, steps: Vec<Step>) {
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Create(status) => {
                    assert!(self.create(&self.app, number, status, None).await);
                }
                Step::Abandon(status, turns) => {
                    self.create(&self.app, number, status, Some(turns)).await;
                }
                Step::Insist(status, turns) => {
                    self.create(&self.app, number, status, Some(turns)).await;
                    while !self.create(&self.other, number, status, None).await {}
                }
                Step::Get(id) => self.get(id).await,
                Step::FirstPage(status, limit) => {
                    self.page(first_page(status, limit), status, limit, 0).await;
                }
                Step::Walk(status, limit) => self.walk(status, limit).await,
            }
        }
    }

    /// Creates an animal, and returns whether it was told so; or goes away
    /// after so many turns, if that is sooner.
    async fn create(
        &self,
        app: &App,
        number: usize,
        status: &'static str,
        turns: Option<usize>,
    ) -> bool {
        let name = format!("{}.{number}", self.name);
        let category_id = i64::try_from(number).unwrap();
        let body = json!({ "name": name, "categoryId": category_id, "status": status });
        let request = Request::post("/v1/pets")
            .header("host", "x")
            .header("authorization", &self.key)
            .header("content-type", "application/json")
            .header("idempotency-key", &name)
            .body(Full::from(body.to_string()));
        let called = self.record.now();
        let creating = pin!(app.handle(from_here(), request.unwrap()));
        let response = match turns {
            None => Some(creating.await),
            Some(turns) => within(turns, creating).await,
        };
        // One that is still in progress elsewhere has told the client nothing.
        let told = response.filter(|response| response.status() != StatusCode::CONFLICT);
        let (answered, returned) = match told {
            Some(response) => {
                let returned = self.record.now();
                (Some(read(response, StatusCode::CREATED).await), returned)
            }
            None => (None, Moment::MAX),
        };
        let told = answered.is_some();
        let operation = Operation::Create { name, category_id, status, answered };
        self.record.add(called, returned, operation);
        told
    }

    async fn get(&self, id: i64) {
        let called = self.record.now();
        let response = self.send(&format!("/v1/pets/{id}")).await;
        let returned = self.record.now();
        let found = match response.status() {
            StatusCode::NOT_FOUND => None,
            _ => Some(read(response, StatusCode::OK).await),
        };
        self.record.add(called, returned, Operation::Get { id, found });
    }

    async fn walk(&self, status: Option<&'static str>, limit: usize) {
        let mut next = Some((first_page(status, limit), 0));
        while let Some((target, after)) = next {
            next = self.page(target, status, limit, after).await;
        }
    }

    /// Reads a page, and returns where the next one is and after which id.
    async fn page(
        &self,
        target: String,
        status: Option<&'static str>,
        limit: usize,
        after: i64,
    ) -> Option<(String, i64)> {
        let called = self.record.now();
        let response = self.send(&target).await;
        let returned = self.record.now();
        let next = response.headers().get("link").map(|link| {
            let link = link.to_str().unwrap();
            link.trim_start_matches('<').split_once('>').unwrap().0.to_owned()
        });
        let page: Vec<Animal> = read(response, StatusCode::OK).await;
        let last = page.last().map_or(after, |animal| animal.id);
        let more = next.is_some();
        self.record.add(called, returned, Operation::List { status, limit, after, page, more });
        next.map(|next| (next, last))
    }
}

/// What a future gives within so many turns.
async fn within<T>(turns: usize, mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
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

async fn read<T: serde::de::DeserializeOwned>(
    response: Response<Full<Bytes>>,
    expected: StatusCode,
) -> T {
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(status, expected, "{}", String::from_utf8_lossy(&body));
    serde_json::from_slice(&body).unwrap()
}

/// A service over each of `stores`, which are one database opened several
/// times; clients that work on them at once, as `seed` says; and what they saw.
pub(crate) async fn history(seed: u64, stores: &[Arc<dyn Store>]) -> Vec<Event> {
    let mut random = StdRng::seed_from_u64(seed);
    let key = ApiKey::generate(Deployment::Production, &mut random);
    let new = NewKey {
        digest: key.digest(),
        name: "histories".to_owned(),
        scope: Scope::Write,
        deployment: Deployment::Production,
        created_at: BeforeTheEnd.now(),
        expires_at: None,
        rate_limit: None,
    };
    stores[0].create_key(new).await.unwrap();
    let settings = Settings { slow_request: Duration::from_mins(1), ..Settings::default() };
    let apps: Vec<Arc<App>> = stores
        .iter()
        .map(|store| App::new(Arc::clone(store), Arc::new(BeforeTheEnd), &mut random, &settings))
        .map(|app| Arc::new(app.unwrap()))
        .collect();

    let record = Arc::new(Record::default());
    let client = |number: usize| Client {
        name: number.to_string(),
        app: Arc::clone(&apps[number % apps.len()]),
        other: Arc::clone(&apps[(number + 1) % apps.len()]),
        key: format!("Bearer {}", key.reveal()),
        record: Arc::clone(&record),
    };
    let clients = random.random_range(2..=8);
    let mut running = JoinSet::new();
    for number in 0..clients {
        let count = random.random_range(8..=16);
        let ids = i64::try_from(clients * count / 2).unwrap();
        let steps: Vec<Step> = (0..count).map(|_| Step::any(&mut random, ids)).collect();
        let client = client(number);
        running.spawn(async move { client.run(steps).await });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    // Afterwards everybody sees the same.
    for number in 0..apps.len() {
        for status in [None, Some(STATUSES[0]), Some(STATUSES[1]), Some(STATUSES[2])] {
            client(number).walk(status, 10).await;
        }
    }
    drop(std::mem::take(&mut running));
    let mut events = record.events.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *events)
}
