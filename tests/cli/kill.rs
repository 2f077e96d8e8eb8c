//! `kill -9` in the middle of creates: what was acknowledged is there.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::Value;

use super::program::{Service, client, create, directory, new_key};

const ROUNDS: usize = 5;
const CREATES: usize = 1_000;
const WRITERS: usize = 64;

/// Which animal was acknowledged, or found, under which id.
pub(crate) type Acknowledged = HashMap<i64, String>;

/// Lets 64 writers create 1,000 animals, and kills the service once `after` of
/// them were acknowledged.
async fn create_and_kill(here: &Path, key: &str, round: usize, after: usize) -> Acknowledged {
    let service = Service::start(here, &[]);
    let next = Arc::new(AtomicUsize::new(0));
    let acknowledged = Arc::new(Mutex::new(Acknowledged::new()));
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (next, acknowledged) = (Arc::clone(&next), Arc::clone(&acknowledged));
            let (url, key) = (service.url.clone(), key.to_owned());
            tokio::spawn(async move {
                let client = client();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= CREATES {
                        return;
                    }
                    let name = format!("round {round}, animal {number}");
                    // An error is the killed service's silence; nothing was promised.
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

/// Everything in the catalogue, by a walk.
pub(crate) async fn catalogue(here: &Path, key: &str) -> Acknowledged {
    let service = Service::start(here, &[]);
    let client = client();
    let origin = service.url.trim_end_matches("/v1");
    let mut target = "/v1/pets?limit=100".to_owned();
    let mut all = Acknowledged::new();
    loop {
        let request = client.get(format!("{origin}{target}")).bearer_auth(key);
        let page = request.send().await.unwrap();
        let link = page.headers().get("link").map(|link| link.to_str().unwrap().to_owned());
        for pet in page.json::<Vec<Value>>().await.unwrap() {
            let (id, name) = (pet["id"].as_i64().unwrap(), pet["name"].as_str().unwrap());
            assert_eq!(all.insert(id, name.to_owned()), None, "{id} twice");
        }
        match link {
            Some(link) => {
                target = link.trim_start_matches('<').split_once('>').unwrap().0.to_owned();
            }
            None => return all,
        }
    }
}

#[tokio::test]
async fn after_kill_9_during_1000_creates_every_acknowledged_animal_is_there() {
    let seed = 20_261_121;
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let here = directory();
    let key = new_key(here.path());
    let mut promised = Acknowledged::new();
    for round in 0..ROUNDS {
        let after = random.random_range(1..CREATES * 9 / 10);
        for (id, name) in create_and_kill(here.path(), &key, round, after).await {
            assert_eq!(promised.insert(id, name), None, "{id} was given twice");
        }
        let found = catalogue(here.path(), &key).await;
        for (id, name) in &promised {
            assert_eq!(found.get(id), Some(name), "round {round}, killed after {after}");
        }
        eprintln!("round {round}: {} acknowledged in all, {} found", promised.len(), found.len());
    }
}
