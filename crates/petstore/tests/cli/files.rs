//! The database files are removed, truncated and replaced while the service writes to them. The
//! service notices before it acknowledges another animal.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File, OpenOptions},
    os::unix::{fs::FileExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
};

use reqwest::Client;
use rusqlite::Connection;
use serde_json::Value;

use super::{
    management::{MANAGED, wait_for},
    program::{Service, catalogue, client, create, directory, new_key, run},
};

const WRITERS: usize = 8;

/// How many animals are acknowledged before a file changes.
const ENOUGH: usize = 100;

/// The log message of a service that no longer trusts its files.
const DISTRUST: &str = "animals can no longer be added";

type Acknowledged = Arc<Mutex<BTreeMap<i64, String>>>;

/// Every animal is acknowledged.
const SOUND: u8 = 0;
/// A file is being changed.
const TOUCHED: u8 = 1;
/// No animal may be acknowledged.
const HARMED: u8 = 2;

/// Clients that add animals until they are stopped or the service is gone.
struct Writers {
    acknowledged: Acknowledged,
    phase: Arc<AtomicU8>,
    stop: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Writers {
    fn start(service: &Service, key: &str, who: &str) -> Self {
        let acknowledged = Acknowledged::default();
        let phase = Arc::new(AtomicU8::new(SOUND));
        let stop = Arc::new(AtomicBool::new(false));
        let client = client();
        let task = |writer: usize| {
            let (client, url, key) = (client.clone(), service.url.clone(), key.to_owned());
            let (acknowledged, phase, stop) = (
                Arc::clone(&acknowledged),
                Arc::clone(&phase),
                Arc::clone(&stop),
            );
            let who = who.to_owned();
            tokio::spawn(async move {
                for number in 0.. {
                    let name = format!("{who} {writer}, animal {number} {}", "-".repeat(200));
                    let sent_in = phase.load(Ordering::SeqCst);
                    let Ok(reply) = create(&client, &url, &key, &name).send().await else {
                        return;
                    };
                    let status = reply.status().as_u16();
                    let Ok(body) = reply.json::<Value>().await else {
                        return;
                    };
                    match status {
                        201 if sent_in == HARMED => panic!("acknowledged too late: {body}"),
                        201 => {
                            let id = body["id"].as_i64().unwrap();
                            let before = acknowledged.lock().unwrap().insert(id, name);
                            assert_eq!(before, None, "{id} was given twice");
                        }
                        // SQLite may meet the change before the check of the files does (500), and
                        // a replaced database may not hold the key (401).
                        401 | 500 | 503 if phase.load(Ordering::SeqCst) != SOUND => {}
                        _ => panic!("{status}: {body}"),
                    }
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                }
            })
        };
        let tasks = (0..WRITERS).map(task).collect();
        Self {
            acknowledged,
            phase,
            stop,
            tasks,
        }
    }

    async fn until(&self, count: usize) {
        while self.acknowledged.lock().unwrap().len() < count {
            assert!(
                self.tasks.iter().any(|task| !task.is_finished()),
                "all writers failed"
            );
            tokio::task::yield_now().await;
        }
    }

    async fn end(self) -> BTreeMap<i64, String> {
        self.stop.store(true, Ordering::SeqCst);
        self.end_with_the_service().await
    }

    async fn end_with_the_service(self) -> BTreeMap<i64, String> {
        for task in self.tasks {
            task.await.unwrap();
        }
        Arc::try_unwrap(self.acknowledged)
            .unwrap()
            .into_inner()
            .unwrap()
    }
}

fn path(here: &Path, end: &str) -> PathBuf {
    here.join(format!("petstore.db{end}"))
}

fn remove(here: &Path, ends: &[&str]) {
    for end in ends {
        fs::remove_file(path(here, end)).unwrap();
    }
}

/// The result of a changed file.
struct Aftermath {
    key: String,
    acknowledged: BTreeMap<i64, String>,
    log: String,
}

/// Runs writers, and changes a file. The service says so, and ends with the status of a setting that
/// an operator must correct.
async fn harm(here: &Path, touch: impl FnOnce(&Path)) -> Aftermath {
    harm_by(here, |_| touch(here)).await
}

async fn harm_by(here: &Path, touch: impl FnOnce(&Service)) -> Aftermath {
    let key = new_key(here);
    let service = Service::start(here, &[]);
    let writers = Writers::start(&service, &key, "writer");
    writers.until(ENOUGH).await;
    writers.phase.store(TOUCHED, Ordering::SeqCst);
    touch(&service);
    writers.phase.store(HARMED, Ordering::SeqCst);
    let acknowledged = writers.end_with_the_service().await;
    let (status, log) = service.wait();
    assert_eq!(status.code(), Some(2), "{log}");
    assert!(log.contains("error: the service ended"), "{log}");
    Aftermath {
        key,
        acknowledged,
        log,
    }
}

impl Aftermath {
    /// The only log line that describes what happened.
    fn line(&self) -> &str {
        let mut lines = self.log.lines().filter(|line| line.contains(DISTRUST));
        let line = lines.next().unwrap();
        assert!(line.contains("ERROR"), "{line}");
        assert_eq!(lines.next(), None, "it is said once");
        line
    }

    /// Every acknowledged animal is served exactly once.
    async fn expect_all_animals(&self, here: &Path) {
        let found = catalogue(here, &self.key).await;
        for (id, name) in &self.acknowledged {
            assert_eq!(found.get(id), Some(name), "{id} was lost");
        }
        let names: HashSet<_> = found.values().collect();
        assert_eq!(names.len(), found.len());
        run(here, &["check"]).expect_success();
    }
}

#[tokio::test]
async fn when_the_log_is_removed_everything_acknowledged_is_in_the_database() {
    let here = directory();
    let left = harm(here.path(), |here| {
        fs::remove_file(path(here, "-wal")).unwrap();
    })
    .await;
    assert!(
        left.line()
            .contains("petstore.db-wal was removed or replaced"),
        "{}",
        left.line()
    );
    left.expect_all_animals(here.path()).await;
}

#[tokio::test]
async fn when_the_log_is_replaced_everything_acknowledged_is_in_the_database() {
    let here = directory();
    let left = harm(here.path(), |here| {
        let copy = path(here, "-copy");
        fs::copy(path(here, "-wal"), &copy).unwrap();
        fs::rename(copy, path(here, "-wal")).unwrap();
    })
    .await;
    assert!(
        left.line()
            .contains("petstore.db-wal was removed or replaced"),
        "{}",
        left.line()
    );
    left.expect_all_animals(here.path()).await;
}

#[tokio::test]
async fn when_the_log_is_truncated_nothing_more_is_acknowledged_and_check_tells() {
    for keep in [0, 20_000] {
        let here = directory();
        let left = harm(here.path(), |here| {
            let log = OpenOptions::new()
                .write(true)
                .open(path(here, "-wal"))
                .unwrap();
            log.set_len(keep).unwrap();
        })
        .await;
        let line = left.line();
        assert!(
            line.contains("petstore.db-wal was truncated or overwritten"),
            "{line}"
        );
        let checked = run(here.path(), &["check"]);
        assert!(!checked.status.success(), "{checked:?}");
        assert!(
            checked.stdout.contains("was truncated or removed"),
            "{checked:?}"
        );
    }
}

#[tokio::test]
async fn check_finds_a_hole_that_a_commit_leaves_in_a_log_truncated_under_it() {
    const HEADER: u64 = 32;
    const FRAME: usize = 24 + 4096;
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &MANAGED);
    let writers = Writers::start(&service, &key, "writer");
    writers.until(ENOUGH).await;
    writers.end().await;
    service.signal("KILL");
    service.wait();
    let log = OpenOptions::new()
        .write(true)
        .open(path(here.path(), "-wal"))
        .unwrap();
    log.write_all_at(&[0; FRAME], HEADER + 4 * FRAME as u64)
        .unwrap();
    let checked = run(here.path(), &["check"]);
    assert!(!checked.status.success(), "{checked:?}");
    assert!(
        checked.stdout.contains("was truncated or removed"),
        "{checked:?}"
    );
}

#[tokio::test]
async fn when_the_database_is_truncated_nothing_more_is_acknowledged() {
    let here = directory();
    let left = harm(here.path(), |here| {
        OpenOptions::new()
            .write(true)
            .open(path(here, ""))
            .unwrap()
            .set_len(8192)
            .unwrap();
    })
    .await;
    let line = left.line();
    assert!(
        line.contains("petstore.db was truncated or overwritten"),
        "{line}"
    );
}

#[tokio::test]
async fn when_an_old_backup_is_copied_over_the_database_nothing_more_is_acknowledged() {
    let here = directory();
    run(
        here.path(),
        &["keys", "create", "--create", "--name", "old"],
    )
    .expect_success();
    run(here.path(), &["backup", "old.db"]).expect_success();
    let left = harm(here.path(), |here| {
        let before = File::open(path(here, "")).unwrap();
        // In place, so the inode stays the same.
        fs::copy(here.join("old.db"), path(here, "")).unwrap();
        drop(before);
    })
    .await;
    let line = left.line();
    assert!(
        line.contains("petstore.db was truncated or overwritten"),
        "{line}"
    );
    run(here.path(), &["restore", "old.db", "--force"]).expect_success();
    run(here.path(), &["check"]).expect_success();
}

#[tokio::test]
async fn while_the_database_is_missing_nothing_is_acknowledged_and_it_may_come_back() {
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &MANAGED);
    let writers = Writers::start(&service, &key, "writer");
    writers.until(ENOUGH).await;
    writers.phase.store(TOUCHED, Ordering::SeqCst);
    fs::rename(path(here.path(), ""), path(here.path(), ".away")).unwrap();
    writers.phase.store(HARMED, Ordering::SeqCst);
    let not_ready = wait_for(&Client::new(), &service, 503).await;
    let reason = not_ready["notReady"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("petstore.db was removed or replaced"),
        "{reason}"
    );
    while !service.said().contains("Put the file back") {
        tokio::task::yield_now().await;
    }
    let mut acknowledged = writers.end().await;
    fs::rename(path(here.path(), ".away"), path(here.path(), "")).unwrap();
    wait_for(&Client::new(), &service, 200).await;
    let writers = Writers::start(&service, &key, "later");
    writers.until(ENOUGH).await;
    acknowledged.extend(writers.end().await);
    service.signal("KILL");
    let (_, log) = service.wait();
    let left = Aftermath {
        key,
        acknowledged,
        log,
    };
    assert!(
        left.line().contains("petstore.db was removed or replaced"),
        "{}",
        left.line()
    );
    assert!(left.log.contains("petstore.db is back"), "{}", left.log);
    left.expect_all_animals(here.path()).await;
}

#[tokio::test]
async fn when_the_database_is_replaced_the_service_ends_and_says_what_is_lost() {
    let here = directory();
    run(
        here.path(),
        &["keys", "create", "--create", "--name", "old"],
    )
    .expect_success();
    run(here.path(), &["backup", "old.db"]).expect_success();
    let left = harm(here.path(), |here| {
        fs::rename(here.join("old.db"), path(here, "")).unwrap();
    })
    .await;
    let line = left.line();
    assert!(
        line.contains("petstore.db was removed or replaced"),
        "{line}"
    );
    assert!(line.contains("Acknowledged animals may be lost"), "{line}");
}

#[tokio::test]
async fn when_both_side_files_are_removed_the_service_ends_and_says_what_is_lost() {
    let here = directory();
    let left = harm(here.path(), |here| {
        remove(here, &["-wal", "-shm"]);
    })
    .await;
    let line = left.line();
    assert!(line.contains("Acknowledged animals may be lost"), "{line}");
}

#[tokio::test]
async fn when_the_index_of_the_log_is_removed_no_second_process_writes() {
    let here = directory();
    let left = harm_by(here.path(), |service| {
        // So that it does not end before the others look.
        service.signal("STOP");
        fs::remove_file(path(here.path(), "-shm")).unwrap();
        for command in [
            &["keys", "create", "--name", "second"][..],
            &["backup", "copy.db"],
        ] {
            let rejected = run(here.path(), command).expect_one_line();
            assert!(rejected.contains("petstore.db-shm"), "{rejected}");
        }
        service.signal("CONT");
    })
    .await;
    assert!(
        left.line()
            .contains("petstore.db-shm was removed or replaced"),
        "{}",
        left.line()
    );
    left.expect_all_animals(here.path()).await;
}

#[tokio::test]
async fn when_the_index_of_the_log_is_truncated_the_process_ends_and_nothing_is_lost() {
    const SIGBUS: i32 = 7;
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &[]);
    let writers = Writers::start(&service, &key, "writer");
    writers.until(ENOUGH).await;
    writers.phase.store(TOUCHED, Ordering::SeqCst);
    let index = OpenOptions::new()
        .write(true)
        .open(path(here.path(), "-shm"))
        .unwrap();
    index.set_len(0).unwrap();
    let (status, log) = service.wait();
    assert_eq!(status.signal(), Some(SIGBUS));
    let acknowledged = writers.end().await;
    Aftermath {
        key,
        acknowledged,
        log,
    }
    .expect_all_animals(here.path())
    .await;
}

/// Runs checkpoints, backups and `VACUUM` continuously, with new connections each time.
fn maintain(here: &Path, stop: &AtomicBool) -> usize {
    let mut rounds = 0;
    while !stop.load(Ordering::SeqCst) {
        let other = Connection::open(path(here, "")).unwrap();
        for mode in ["PASSIVE", "FULL", "RESTART", "TRUNCATE"] {
            let _ = other.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
        }
        if rounds % 20 == 0 {
            let _ = other.execute_batch("VACUUM");
            run(here, &["keys", "create", "--name", "another"]).expect_success();
            run(here, &["backup", "copy.db", "--force"]).expect_success();
        }
        rounds += 1;
    }
    rounds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_write_and_checkpoint_at_full_speed_raise_no_false_alarm() {
    let here = directory();
    let key = new_key(here.path());
    let services = [0, 1].map(|_| Service::start(here.path(), &MANAGED));
    let writers = [0, 1].map(|n| Writers::start(&services[n], &key, &format!("service {n}")));
    let stop = Arc::new(AtomicBool::new(false));
    let maintaining = std::thread::spawn({
        let (here, stop) = (here.path().to_owned(), Arc::clone(&stop));
        move || maintain(&here, &stop)
    });
    for writers in &writers {
        writers.until(1_500).await;
    }
    stop.store(true, Ordering::SeqCst);
    let rounds = maintaining.join().unwrap();
    let mut acknowledged = BTreeMap::new();
    for writers in writers {
        for (id, name) in writers.end().await {
            assert_eq!(acknowledged.insert(id, name), None, "{id} was given twice");
        }
    }
    for service in services {
        wait_for(&Client::new(), &service, 200).await;
        service.signal("TERM");
        let (status, log) = service.wait();
        assert!(status.success() && !log.contains("ERROR"), "{log}");
        assert!(!log.contains("the checkpoint"), "{log}");
    }
    eprintln!(
        "{} acknowledged, {rounds} rounds of checkpoints, no alarm",
        acknowledged.len()
    );
    Aftermath {
        key,
        acknowledged,
        log: String::new(),
    }
    .expect_all_animals(here.path())
    .await;
}
