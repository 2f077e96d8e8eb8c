//! Changes over PostgreSQL in transactions that are held open and end in any order, while several
//! processes number them: a reader sees every number the moment it is visible, and none late.

use std::{collections::HashMap, ops::RangeInclusive, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::future::try_join_all;
use hyper::{Request, StatusCode, header};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinSet,
};

use super::{
    history::Animal,
    number,
    postgres_cluster::{connect, fresh_url},
    program, runtime,
    service::{Process, Service, processes},
    workload::content,
};

/// The default number of changes, and of processes.
const CHANGES: u64 = 20_000;
const PROCESSES: u64 = 3;

/// How many transactions there are at once, and how many of them are held open.
const WRITERS: i64 = 64;
const HELD: usize = 48;

/// The most changes of one transaction.
const ROWS: i64 = 200;

/// The subjects of a writer's changes ascend from its number times this one.
const SUBJECTS: i64 = 1_000_000_000_000;

/// A log as it must not be: a transaction takes the number itself, and no process numbers anything.
const NUMBERED_BY_WRITERS: &str = "CREATE SEQUENCE drawn;
    CREATE FUNCTION draw() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO change_numbers (seq, id, length, latest_at)
        VALUES (nextval('drawn'), NEW.id, 1, NEW.at);
        RETURN NEW;
    END $$;
    CREATE TRIGGER draw BEFORE INSERT ON changes FOR EACH ROW EXECUTE FUNCTION draw();
    UPDATE change_log SET open_from = '{}', open_to = '{}'";

/// A log as it must not be: an id without a change when a higher one is numbered counts as unused,
/// although its transaction may still commit.
const FORGETFUL: &str = "CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        NEW.open_from := ARRAY[(SELECT max(first) FROM unnest(NEW.open_from) AS first)];
        NEW.open_to := ARRAY[(SELECT max(last) FROM unnest(NEW.open_to) AS last)];
        RETURN NEW;
    END $$;
    CREATE TRIGGER forget BEFORE UPDATE ON change_log FOR EACH ROW EXECUTE FUNCTION forget()";

/// The numbers and subjects of the changes from a number on.
const PAGE: &str = "SELECT run.seq + row.id - run.id, row.subject_id
    FROM change_numbers AS run CROSS JOIN LATERAL (
        SELECT * FROM changes WHERE id >= run.id AND id < run.id + run.length OFFSET 0) AS row
    WHERE run.seq > $1::bigint - 10000 AND run.seq + run.length > $1 + 1 AND run.seq + row.id - run.id > $1
    ORDER BY 1 LIMIT 10000";

/// How a transaction ends.
enum End {
    Commit,
    Rollback,
    Disconnect,
}

/// A transaction that is open, and who must be told how it ends.
struct Held {
    rows: i64,
    tell: oneshot::Sender<End>,
}

/// Begins one transaction after the other, and ends each as it is told. Returns the subjects of
/// what was committed.
async fn write(
    url: Arc<str>,
    writer: i64,
    held: mpsc::Sender<Held>,
    mut random: StdRng,
) -> Vec<RangeInclusive<i64>> {
    let (mut committed, mut next) = (Vec::new(), writer * SUBJECTS);
    let mut client = connect(&url).await;
    loop {
        let rows = random.random_range(1..=ROWS);
        let subjects = next..=next + rows - 1;
        next += rows;
        let (first, last) = (subjects.start(), subjects.end());
        let begin = format!(
            "BEGIN; INSERT INTO changes (at, type, subject_id, version, pet_id, actor)
             SELECT extract(epoch FROM now()) * 1000, 'pet.added', id, 1, id, 'database'
             FROM generate_series({first}, {last}) id"
        );
        client.batch_execute(&begin).await.unwrap();
        let (tell, told) = oneshot::channel();
        let _ = held.send(Held { rows, tell }).await;
        match told.await {
            Ok(End::Commit) => {
                client.batch_execute("COMMIT").await.unwrap();
                committed.push(subjects);
            }
            Ok(End::Rollback) => client.batch_execute("ROLLBACK").await.unwrap(),
            Ok(End::Disconnect) => client = connect(&url).await,
            Err(_) => return committed,
        }
    }
}

/// Holds transactions open, and ends them in a random order, until so many changes are committed.
/// Some process numbers what is committed after each.
async fn conduct(
    mut begun: mpsc::Receiver<Held>,
    changes: u64,
    mut random: StdRng,
    read_log: impl AsyncFn(usize),
) {
    let (mut open, mut committed) = (Vec::new(), 0);
    while committed < i64::try_from(changes).unwrap() {
        open.push(begun.recv().await.unwrap());
        if open.len() < HELD {
            continue;
        }
        let Held { rows, tell } = open.swap_remove(random.random_range(0..open.len()));
        let end = match random.random_range(0..8) {
            0 => End::Rollback,
            1 => End::Disconnect,
            _ => {
                committed += rows;
                End::Commit
            }
        };
        let _ = tell.send(end);
        read_log(random.random_range(0..usize::MAX)).await;
    }
    // The writers of all others end, and so do those that begin one meanwhile.
    open.clear();
    while let Some(held) = begun.recv().await {
        drop(held);
    }
}

/// Adds animals through a process until the end. Returns their identifiers.
async fn add(
    number: usize,
    process: Arc<Process>,
    key: String,
    mut is_over: watch::Receiver<bool>,
) -> Vec<i64> {
    // Now and then, a request waits forever in the client, without a connection.
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(20));
    let service = Service::There(client.build().unwrap(), process);
    let mut added = Vec::new();
    while !*is_over.borrow_and_update() {
        let request = Request::post("/v1/pets")
            .header(header::AUTHORIZATION, format!("Bearer {key}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", format!("{number}.{}", added.len()))
            .body(Bytes::from_static(br#"{"name": "Rex", "categoryId": 1}"#));
        let request = request.unwrap();
        let response = loop {
            if let Some(response) = service.send(request.clone()).await {
                break response;
            }
        };
        added.push(content::<Animal>(&response, StatusCode::CREATED).id);
    }
    added
}

/// Reads the subjects of the log in the order of their numbers, until everything is committed and
/// numbered. Fails at once if a number is not the next one.
async fn follow(url: Arc<str>, is_committed: watch::Receiver<bool>) -> Result<Vec<i64>, String> {
    let client = connect(&url).await;
    let page = client.prepare(PAGE).await.unwrap();
    let is_numbered = "SELECT NOT EXISTS (
        SELECT FROM change_log CROSS JOIN unnest(open_from, open_to) AS open (low, high)
        CROSS JOIN LATERAL (SELECT FROM changes WHERE id BETWEEN low AND high LIMIT 1) AS row)";
    let mut subjects = Vec::new();
    loop {
        let is_last = *is_committed.borrow()
            && client
                .query_one(is_numbered, &[])
                .await
                .unwrap()
                .get::<_, bool>(0);
        let last = i64::try_from(subjects.len()).unwrap();
        let rows = client.query(&page, &[&last]).await.unwrap();
        if is_last && rows.is_empty() {
            return Ok(subjects);
        }
        for (row, next) in rows.iter().zip(last + 1..) {
            let number: i64 = row.get(0);
            if number != next {
                return Err(format!("change {number} was visible before change {next}"));
            }
            subjects.push(row.get(1));
        }
    }
}

/// Makes changes, and returns how many the log has if each committed one is there once, in the
/// order in which its writer made it, and no number appeared late.
async fn numbered(
    directory: &Path,
    url: &str,
    seed: u64,
    changes: u64,
    count: u64,
) -> Result<usize, String> {
    let mut random = StdRng::seed_from_u64(seed);
    let (processes, key) = processes(directory, url, usize::try_from(count).unwrap());
    let url = Arc::<str>::from(url);
    let (held, begun) = mpsc::channel(1);
    let mut writers = JoinSet::new();
    for writer in 1..=WRITERS {
        let random = StdRng::seed_from_u64(random.random());
        writers.spawn(write(Arc::clone(&url), writer, held.clone(), random));
    }
    // So the conductor knows when no writer is left.
    drop(held);
    let (is_over, over) = watch::channel(false);
    let adding = processes.iter().enumerate().map(|(number, process)| {
        tokio::spawn(add(number, Arc::clone(process), key.clone(), over.clone()))
    });
    let adding: Vec<_> = adding.collect();
    let (is_committed, committed_all) = watch::channel(false);
    let reading = tokio::spawn(follow(url, committed_all));
    let client = program::client();
    conduct(begun, changes, random, async |any| {
        let service = Service::There(
            client.clone(),
            Arc::clone(&processes[any % processes.len()]),
        );
        let read = Request::get("/v1/store/changes")
            .header(header::AUTHORIZATION, format!("Bearer {key}"))
            .body(Bytes::new());
        service.send(read.unwrap()).await;
    })
    .await;
    is_over.send_replace(true);
    let committed = writers.join_all().await;
    let added = try_join_all(adding).await.unwrap();
    let of_writers = committed.into_iter().flatten().flatten();
    let mut subjects: Vec<i64> = added.into_iter().flatten().chain(of_writers).collect();
    is_committed.send_replace(true);
    let logged = reading.await.unwrap()?;
    let mut latest = HashMap::new();
    for &subject in logged.iter().filter(|subject| **subject >= SUBJECTS) {
        if let Some(before) = latest
            .insert(subject / SUBJECTS, subject)
            .filter(|it| *it > subject)
        {
            return Err(format!("{before} was made after {subject}"));
        }
    }
    let mut sorted = logged.clone();
    sorted.sort_unstable();
    subjects.sort_unstable();
    if sorted == subjects {
        Ok(logged.len())
    } else {
        Err("other changes than committed".into())
    }
}

/// `CHANGES` sets the number of changes, `CHANGES_PROCESSES` that of processes, `CHANGES_SEED` the
/// order.
#[test]
fn no_number_is_missing_or_late_whatever_the_order_in_which_transactions_end() {
    let changes = number("CHANGES").unwrap_or(CHANGES);
    let count = number("CHANGES_PROCESSES").unwrap_or(PROCESSES);
    let seed = number("CHANGES_SEED").unwrap_or(1);
    let directory = TempDir::new().unwrap();
    let logged = runtime().block_on(async {
        let url = fresh_url().await;
        numbered(directory.path(), &url, seed, changes, count).await
    });
    eprintln!(
        "{WRITERS} writers and {count} processes, CHANGES_SEED={seed}: {} changes, each numbered \
         once, none late",
        logged.unwrap(),
    );
}

/// What is wrong with the log of a database with such a fault.
fn fault_found(fault: &str) -> String {
    let directory = TempDir::new().unwrap();
    runtime().block_on(async {
        let url = fresh_url().await;
        processes(directory.path(), &url, 1);
        connect(&url).await.batch_execute(fault).await.unwrap();
        numbered(directory.path(), &url, 1, CHANGES, 1)
            .await
            .unwrap_err()
    })
}

#[test]
fn numbers_that_writers_draw_themselves_are_detected() {
    let found = fault_found(NUMBERED_BY_WRITERS);
    assert!(found.contains("was visible before"), "{found}");
}

#[test]
fn changes_that_are_forgotten_because_they_were_committed_late_are_detected() {
    assert_eq!(fault_found(FORGETFUL), "other changes than committed");
}
