//! The machine runs out of disk space or open files, or a file reaches the limit of file sizes. Acknowledged animals stay, other requests are
//! rejected at once, and the service recovers by itself.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use reqwest::Client;
use serde_json::Value;
use tokio::time::timeout;

use super::program::{Service, client, create, directory, finish, new_key, run, settle};

const ROUNDS: usize = 20;

/// How long the service may take to recover.
const RECOVERY: Duration = Duration::from_secs(5);

/// The size of a small disk that only these processes see.
const DISK: &str = "160m";

/// Adds an animal; returns its id or the error code.
async fn add(client: &Client, service: &Service, key: &str, name: &str) -> Result<i64, String> {
    let reply = create(client, &service.url, key, name)
        .send()
        .await
        .unwrap();
    let status = reply.status();
    let body: Value = reply.json().await.unwrap();
    match status.as_u16() {
        201 => Ok(body["id"].as_i64().unwrap()),
        503 => Err(body["code"].as_str().unwrap().to_owned()),
        _ => panic!("{status}: {body}"),
    }
}

/// Adds animals until one is acknowledged, at most for the recovery time.
async fn add_soon(client: &Client, service: &Service, key: &str, name: &str) -> i64 {
    let added = async {
        loop {
            if let Ok(id) = add(client, service, key, name).await {
                return id;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(RECOVERY, added)
        .await
        .unwrap_or_else(|_| panic!("it did not recover within 5 seconds"))
}

async fn found(client: &Client, service: &Service, key: &str, id: i64) -> bool {
    let request = client
        .get(format!("{}/pets/{id}", service.url))
        .bearer_auth(key);
    request.send().await.unwrap().status() == 200
}

/// Runs a program that may mount its own disk: directly as root, otherwise in a user namespace.
pub(crate) fn with_private_mounts() -> Command {
    let may = |flags: &str| {
        let mut mount = Command::new("unshare");
        mount
            .args([flags, "mount", "-t", "tmpfs", "none"])
            .arg(env::temp_dir());
        let tried = mount.output();
        tried.is_ok_and(|output| output.status.success())
    };
    let flags = ["-m", "-Urm"].into_iter().find(|flags| may(flags));
    let mut command = Command::new("unshare");
    command.arg(flags.expect("neither root nor user namespaces: no small disk can be mounted"));
    command
}

/// The disk of the service.
struct SmallDisk {
    folder: PathBuf,
    filler: File,
}

impl SmallDisk {
    fn of(service: &Service, path: &Path) -> Self {
        let root = PathBuf::from(format!("/proc/{}/root", service.pid()));
        let folder = root.join(path.strip_prefix("/").unwrap());
        let filler = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(folder.join("filler"))
            .unwrap();
        Self { folder, filler }
    }

    /// Fills the disk completely.
    fn fill(&mut self) {
        for size in [1 << 20, 4096] {
            let zeros = vec![0; size];
            loop {
                match self.filler.write(&zeros) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    /// Frees space for a WAL and its checkpoint.
    fn free(&self) {
        let size = self.filler.metadata().unwrap().len();
        self.filler.set_len(size.saturating_sub(12 << 20)).unwrap();
    }
}

#[tokio::test]
async fn a_full_disk_is_503_until_there_is_space_again() {
    let here = directory();
    let mut command = with_private_mounts();
    let script = format!(
        "mount -t tmpfs -o size={DISK} none \"$PWD\" && cd \"$PWD\" && \
         {0} keys create --create --name test >key && exec {0} serve --listen 127.0.0.1:0",
        env!("CARGO_BIN_EXE_petstore")
    );
    command.args(["sh", "-c", &script]);
    settle(&mut command, here.path());
    let service = Service::from(command);
    let mut disk = SmallDisk::of(&service, here.path());
    let key = fs::read_to_string(disk.folder.join("key"))
        .unwrap()
        .trim_end()
        .to_owned();
    let client = client();
    let long = "n".repeat(20_000);
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        disk.fill();
        // There may still be space in the WAL.
        let code = loop {
            match add(&client, &service, &key, &long).await {
                Ok(id) => acknowledged.push(id),
                Err(code) => break code,
            }
        };
        assert_eq!(code, "unavailable");
        assert!(
            acknowledged.len() < 100 * (round + 1),
            "the disk is not full"
        );
        if let Some(last) = acknowledged.last() {
            assert!(
                found(&client, &service, &key, *last).await,
                "reads continue"
            );
        }
        disk.free();
        for _ in 0..10 {
            acknowledged.push(add_soon(&client, &service, &key, &long).await);
        }
    }
    for id in &acknowledged {
        assert!(found(&client, &service, &key, *id).await, "{id} was lost");
    }
    assert!(
        acknowledged.is_sorted_by(|one, next| one < next),
        "an id was given twice"
    );
    // The disk is not visible here, so the files are copied. Nothing writes to them now.
    for file in ["petstore.db", "petstore.db-wal"] {
        fs::copy(disk.folder.join(file), here.path().join(file)).unwrap();
    }
    run(here.path(), &["check"]).expect_success();
    eprintln!(
        "{ROUNDS} times full, {} acknowledged, none lost",
        acknowledged.len()
    );
}

/// The number of the next file descriptor.
fn next_file(service: &Service) -> usize {
    let folder = format!("/proc/{}/fd", service.pid());
    (0..1024)
        .find(|number| fs::symlink_metadata(format!("{folder}/{number}")).is_err())
        .unwrap()
}

/// Sets the limit of open files of a running process.
fn limit_open_files(service: &Service, limit: usize) {
    let (id, limit) = (service.pid().to_string(), format!("--nofile={limit}:"));
    assert!(
        Command::new("prlimit")
            .args(["--pid", &id, &limit])
            .status()
            .unwrap()
            .success()
    );
}

/// Connections of strangers, which wait for a file descriptor before all later ones. The service itself
/// opens files for a moment, such as the folder of photos; what it closes goes to one of them.
fn queue(service: &Service) -> Vec<TcpStream> {
    let address = service
        .url
        .strip_prefix("http://")
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    (0..8)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect()
}

#[tokio::test]
async fn without_free_file_descriptors_connected_clients_continue_and_others_wait() {
    let here = directory();
    let key = new_key(here.path());
    // No connection ends during the test, because each one that does frees a file descriptor.
    let service = Service::start(here.path(), &["--client-timeout", "1h"]);
    let connected = client();
    let mut last = add(&connected, &service, &key, "first").await.unwrap();
    let newcomers: Vec<Client> = (0..ROUNDS).map(|_| client()).collect();
    let mut queues = Vec::new();
    for newcomer in &newcomers {
        limit_open_files(&service, next_file(&service));
        queues.push(queue(&service));
        let mut waiting = Box::pin(add(newcomer, &service, &key, "newcomer"));
        for _ in 0..10 {
            assert!(futures_util::poll!(waiting.as_mut()).is_pending());
            let id = add(&connected, &service, &key, "connected").await.unwrap();
            assert!(id > last);
            last = id;
        }
        limit_open_files(&service, 1024);
        let id = timeout(RECOVERY, waiting)
            .await
            .expect("it did not recover within 5 seconds")
            .unwrap();
        assert!(id > last);
        last = id;
    }
    run(here.path(), &["check"]).expect_success();
    eprintln!("{ROUNDS} times out of open files, {last} acknowledged, none lost");
}

/// Sets the limit of file sizes of a running process, in bytes.
fn limit_file_sizes(service: &Service, limit: &str) {
    let (id, limit) = (service.pid().to_string(), format!("--fsize={limit}:"));
    assert!(
        Command::new("prlimit")
            .args(["--pid", &id, &limit])
            .status()
            .unwrap()
            .success()
    );
}

#[tokio::test]
async fn at_the_limit_of_file_sizes_creates_are_503_until_it_is_raised() {
    let here = directory();
    let key = new_key(here.path());
    let client = client();
    let long = "n".repeat(3_000);
    let mut acknowledged = Vec::new();
    let mut service = Service::start(here.path(), &[]);
    let wal = here.path().join("petstore.db-wal");
    for round in 0..ROUNDS {
        acknowledged.push(add(&client, &service, &key, "before").await.unwrap());
        // Also in the middle of a frame of the WAL, and far below what it has.
        let length = fs::metadata(&wal).unwrap().len();
        let more = [0, 1, 24, 4_119, 4_120, 4_121, 20_000][round % 7];
        let limit = if round % 5 == 4 { 0 } else { length + more };
        limit_file_sizes(&service, &limit.to_string());
        let code = loop {
            match add(&client, &service, &key, &long).await {
                Ok(id) => acknowledged.push(id),
                Err(code) => break code,
            }
        };
        assert_eq!(code, "unavailable");
        assert!(acknowledged.len() < 100 * (round + 1), "there is no limit");
        let last = *acknowledged.last().unwrap();
        assert!(found(&client, &service, &key, last).await, "reads continue");
        if round % 4 == 3 {
            service.signal("KILL");
            service.wait();
            service = Service::start(here.path(), &[]);
            assert!(
                found(&client, &service, &key, last).await,
                "{last} was lost"
            );
        } else {
            limit_file_sizes(&service, "unlimited");
            acknowledged.push(add_soon(&client, &service, &key, &long).await);
        }
    }
    for id in &acknowledged {
        assert!(found(&client, &service, &key, *id).await, "{id} was lost");
    }
    assert!(
        acknowledged.is_sorted_by(|one, next| one < next),
        "an id was given twice"
    );
    run(here.path(), &["check"]).expect_success();
    eprintln!(
        "{ROUNDS} limits, {} acknowledged, none lost",
        acknowledged.len()
    );
}

#[tokio::test]
async fn a_service_at_the_limit_of_file_sizes_logs_what_to_do() {
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &[]);
    limit_file_sizes(&service, "0");
    assert_eq!(
        add(&client(), &service, &key, "Max").await.unwrap_err(),
        "unavailable"
    );
    let logged = async {
        while !service
            .said()
            .contains("the limit of file sizes; raise it (ulimit -f, LimitFSIZE)")
        {
            tokio::task::yield_now().await;
        }
    };
    timeout(RECOVERY, logged).await.unwrap();
    service.signal("TERM");
    assert!(service.wait().0.success());
}

#[test]
fn a_command_that_reaches_the_limit_of_file_sizes_says_so_and_leaves_no_file() {
    let here = directory();
    new_key(here.path());
    let rows = |status| {
        format!(
            "name,categoryId,status\n{}",
            format!("Max,1,{status}\n").repeat(9_000)
        )
    };
    fs::write(here.path().join("valid.csv"), rows("sold")).unwrap();
    fs::write(here.path().join("invalid.csv"), rows("lost")).unwrap();
    run(here.path(), &["import", "valid.csv"]).expect_success();
    let files = || {
        let entries = fs::read_dir(here.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        entries.collect::<BTreeSet<_>>()
    };
    let before = files();
    for (arguments, written) in [
        ("backup copy.db", ""),
        ("import valid.csv", ""),
        ("import - --format csv <valid.csv", ""),
        (
            "import invalid.csv --skip-invalid --rejects rejects.csv 2>log; tail -n 1 log >&2; rm log; false",
            "",
        ),
        ("export >exported.csv", "exported.csv"),
    ] {
        let script = format!(
            "ulimit -S -f 100; '{}' {arguments}",
            env!("CARGO_BIN_EXE_petstore")
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        settle(&mut command, here.path());
        let line = finish(&mut command).expect_one_line();
        assert!(
            line.contains("beyond 51200 bytes, the limit of file sizes; raise it"),
            "{line}"
        );
        // The shell made this file.
        if !written.is_empty() {
            fs::remove_file(here.path().join(written)).unwrap();
        }
        let of_database = |name: &&OsString| !name.to_string_lossy().starts_with("petstore.db-");
        let left: Vec<_> = files()
            .difference(&before)
            .filter(of_database)
            .cloned()
            .collect();
        assert_eq!(left, Vec::<OsString>::new(), "{arguments}");
    }
    run(here.path(), &["check"]).expect_success();
    let exported = run(here.path(), &["export"]).expect_success();
    assert_eq!(exported.stdout.lines().count(), 9_001);
}
