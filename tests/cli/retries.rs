//! Creates that are retried through restarts and `kill -9`.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use rusqlite::Connection;
use serde_json::Value;

use super::{
    kill::catalogue,
    program::{Service, client, create, directory, new_key},
};

const ROUNDS: usize = 5;
const CREATES: usize = 1_000;
const WRITERS: usize = 32;

#[tokio::test]
async fn a_retried_create_is_recognized_after_a_restart() {
    let here = directory();
    let key = new_key(here.path());
    let mut responses = Vec::new();
    for _ in 0..2 {
        let service = Service::start(here.path(), &[]);
        let request = create(&client(), &service.url, &key, "Frank");
        let reply = request.header("idempotency-key", "\"retry-1\"").send().await.unwrap();
        assert_eq!(reply.status(), 201);
        let location = reply.headers()["location"].clone();
        responses.push((location, reply.text().await.unwrap()));
        service.signal("TERM");
        service.wait();
    }
    assert_eq!(responses[0], responses[1]);
    assert_eq!(catalogue(here.path(), &key).await.len(), 1);
}

#[tokio::test]
async fn a_create_gets_its_first_response_after_kill_9_whatever_became_of_the_animal() {
    let here = directory();
    let key = new_key(here.path());
    let mut responses = Vec::new();
    for by_hand in ["", "UPDATE pets SET name = 'other', status = 'sold'", "DELETE FROM pets"] {
        let database = Connection::open(here.path().join("petstore.db")).unwrap();
        database.execute_batch(by_hand).unwrap();
        drop(database);
        let service = Service::start(here.path(), &[]);
        for _ in 0..2 {
            let request = create(&client(), &service.url, &key, "Frank");
            let reply = request.header("idempotency-key", "\"retry-1\"").send().await.unwrap();
            let location = reply.headers()["location"].clone();
            responses.push((reply.status(), location, reply.bytes().await.unwrap()));
        }
        service.kill();
    }
    assert_eq!(responses[0].0, 201);
    assert!(responses.iter().all(|response| *response == responses[0]), "{responses:?}");
    assert_eq!(catalogue(here.path(), &key).await.len(), 0);
}

/// The pending creates, and the ids of the acknowledged ones.
#[derive(Default)]
struct Work {
    pending: Vec<usize>,
    acknowledged: BTreeMap<usize, i64>,
}

fn name(number: usize) -> String {
    format!("animal {number}")
}

/// Sends the pending creates until all are acknowledged or the service is gone.
async fn create_all(url: String, key: String, work: Arc<Mutex<Work>>, done: Arc<AtomicUsize>) {
    let client = client();
    loop {
        let Some(number) = work.lock().unwrap().pending.pop() else { return };
        let request = create(&client, &url, &key, &name(number))
            .header("idempotency-key", format!("\"retry-{number}\""));
        let id = async {
            let reply = request.send().await.ok()?;
            assert_eq!(reply.status(), 201);
            reply.json::<Value>().await.ok()?["id"].as_i64()
        };
        let Some(id) = id.await else {
            work.lock().unwrap().pending.push(number);
            return;
        };
        assert_eq!(work.lock().unwrap().acknowledged.insert(number, id), None);
        done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Starts the service, sends the pending creates with 32 writers, and kills the service after
/// `kill_after` acknowledgements.
async fn round(here: &Path, key: &str, work: &Arc<Mutex<Work>>, kill_after: Option<usize>) {
    let service = Service::start(here, &[]);
    let done = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let writer = create_all(
                service.url.clone(),
                key.to_owned(),
                Arc::clone(work),
                Arc::clone(&done),
            );
            tokio::spawn(writer)
        })
        .collect();
    if let Some(kill_after) = kill_after {
        while done.load(Ordering::Relaxed) < kill_after {
            tokio::task::yield_now().await;
        }
        service.kill();
        for writer in writers {
            writer.await.unwrap();
        }
    } else {
        for writer in writers {
            writer.await.unwrap();
        }
    }
}

#[tokio::test]
async fn creates_that_are_retried_through_kill_9_add_each_animal_once() {
    let seed = 20_261_122;
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let here = directory();
    let key = new_key(here.path());
    let work = Arc::new(Mutex::new(Work { pending: (0..CREATES).collect(), ..Work::default() }));
    for _ in 0..ROUNDS {
        let kill_after = random.random_range(1..CREATES / ROUNDS);
        round(here.path(), &key, &work, Some(kill_after)).await;
    }
    round(here.path(), &key, &work, None).await;

    let acknowledged = std::mem::take(&mut work.lock().unwrap().acknowledged);
    assert_eq!(acknowledged.len(), CREATES);
    let found = catalogue(here.path(), &key).await;
    // Each create added exactly one animal, the acknowledged one.
    assert_eq!(found.len(), CREATES);
    for (number, id) in acknowledged {
        assert_eq!(found.get(&id), Some(&name(number)));
    }
}
