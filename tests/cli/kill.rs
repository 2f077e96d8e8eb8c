//! `kill -9` under 64 writers: every acknowledged animal exists once and complete.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    env,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::Client;
use serde_json::Value;

use super::program::{Service, client, create, directory, new_key, run};

/// The default number of kills.
const KILLS: usize = 100;
const WRITERS: usize = 64;

/// The names of acknowledged animals by id.
type Acknowledged = HashMap<i64, String>;

/// 64 writers create animals until the service is killed, shortly after the acknowledgement of
/// number `after`.
async fn create_and_kill(service: Service, key: &str, kill: usize, after: usize) -> Acknowledged {
    let next = Arc::new(AtomicUsize::new(0));
    let acknowledged = Arc::new(Mutex::new(Acknowledged::new()));
    let client = client();
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (next, acknowledged) = (Arc::clone(&next), Arc::clone(&acknowledged));
            let (client, url, key) = (client.clone(), service.url.clone(), key.to_owned());
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let name = format!("kill {kill}, animal {number}");
                    // The service was killed, so nothing was acknowledged.
                    let Ok(reply) = create(&client, &url, &key, &name).send().await else { return };
                    assert_eq!(reply.status(), 201);
                    let Ok(pet) = reply.json::<Value>().await else { return };
                    let id = pet["id"].as_i64().unwrap();
                    assert_eq!(acknowledged.lock().unwrap().insert(id, name), None);
                }
            })
        })
        .collect();
    while acknowledged.lock().unwrap().len() < after {
        tokio::task::yield_now().await;
    }
    service.kill();
    for writer in writers {
        writer.await.unwrap();
    }
    Arc::try_unwrap(acknowledged).unwrap().into_inner().unwrap()
}

/// The animals that a walk has found. A later walk can continue at its end.
struct Walk {
    found: BTreeMap<i64, String>,
    last_page: String,
}

impl Walk {
    fn new() -> Self {
        Self { found: BTreeMap::new(), last_page: "/v1/pets?limit=100".to_owned() }
    }

    /// Walks to the end. Animals that are read again must be unchanged.
    async fn resume(&mut self, client: &Client, service: &Service, key: &str) {
        let origin = service.url.trim_end_matches("/v1");
        // The last id of the previous page. The first page may contain animals of an earlier walk.
        let mut last = 0;
        loop {
            let request = client.get(format!("{origin}{}", self.last_page)).bearer_auth(key);
            let page = request.send().await.unwrap();
            assert_eq!(page.status(), 200);
            let link = page.headers().get("link").map(|link| link.to_str().unwrap().to_owned());
            for pet in page.json::<Vec<Value>>().await.unwrap() {
                let (id, name) = (pet["id"].as_i64().unwrap(), pet["name"].as_str().unwrap());
                assert!(id > last, "the walk is not in order: {id} comes after {last}");
                last = id;
                let before = self.found.insert(id, name.to_owned());
                assert!(before.is_none_or(|before| before == name), "{id} has changed");
            }
            let Some(link) = link else { return };
            self.last_page = link.trim_start_matches('<').split_once('>').unwrap().0.to_owned();
        }
    }
}

/// All animals in the catalogue.
pub(crate) async fn catalogue(here: &Path, key: &str) -> BTreeMap<i64, String> {
    let mut walk = Walk::new();
    walk.resume(&client(), &Service::start(here, &[]), key).await;
    walk.found
}

fn number(variable: &str) -> Option<usize> {
    env::var(variable).ok().map(|text| text.parse().unwrap())
}

fn assert_all_are_there(acknowledged: &Acknowledged, walk: &Walk) {
    for (id, name) in acknowledged {
        assert_eq!(walk.found.get(id), Some(name), "{id} was lost");
    }
}

async fn kills(here: &Path, kills: usize, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let key = new_key(here);
    let client = client();
    let mut promised = Acknowledged::new();
    let mut walk = Walk::new();
    for kill in 0..kills {
        let service = Service::start(here, &[]);
        walk.resume(&client, &service, &key).await;
        assert_all_are_there(&promised, &walk);
        for (id, name) in create_and_kill(service, &key, kill, random.random_range(0..150)).await {
            assert_eq!(promised.insert(id, name), None, "{id} was given twice");
        }
    }
    let service = Service::start(here, &[]);
    walk.resume(&client, &service, &key).await;
    assert_all_are_there(&promised, &walk);
    let mut from_the_start = Walk::new();
    from_the_start.resume(&client, &service, &key).await;
    assert!(from_the_start.found == walk.found);
    let names: HashSet<_> = walk.found.values().collect();
    assert_eq!(names.len(), walk.found.len(), "an animal is there twice");
    run(here, &["check"]).expect_success();
    eprintln!(
        "{kills} kills, KILLS_SEED={seed}: {} acknowledged, none of them lost; {} found, none twice",
        promised.len(),
        walk.found.len()
    );
}

/// `KILLS` sets the number of kills, `KILLS_SEED` the moments.
#[tokio::test]
async fn after_kill_9_under_64_writers_every_acknowledged_animal_is_there_once() {
    let seed = number("KILLS_SEED").unwrap_or(20_261_121) as u64;
    eprintln!("KILLS_SEED={seed}");
    kills(directory().path(), number("KILLS").unwrap_or(KILLS), seed).await;
}
