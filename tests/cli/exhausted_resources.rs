//! The machine runs out of disk space or open files. Acknowledged animals stay, other requests are
//! rejected at once, and the service recovers by itself.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use reqwest::Client;
use serde_json::Value;
use tokio::time::timeout;

use super::program::{Service, client, create, directory, new_key, run, settle};

const ROUNDS: usize = 20;

/// How long the service may take to recover.
const RECOVERY: Duration = Duration::from_secs(5);

/// The size of a small disk that only these processes see.
const DISK: &str = "160m";

/// Adds an animal; returns its id or the error code.
async fn add(client: &Client, service: &Service, key: &str, name: &str) -> Result<i64, String> {
    let reply = create(client, &service.url, key, name).send().await.unwrap();
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
    timeout(RECOVERY, added).await.unwrap_or_else(|_| panic!("it did not recover within 5 seconds"))
}

async fn found(client: &Client, service: &Service, key: &str, id: i64) -> bool {
    let request = client.get(format!("{}/pets/{id}", service.url)).bearer_auth(key);
    request.send().await.unwrap().status() == 200
}

/// Runs a program that may mount its own disk: directly as root, otherwise in a user namespace.
pub(crate) fn with_private_mounts() -> Command {
    let may = |flags: &str| {
        let mut mount = Command::new("unshare");
        mount.args([flags, "mount", "-t", "tmpfs", "none"]).arg(env::temp_dir());
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
        let filler =
            OpenOptions::new().create_new(true).append(true).open(folder.join("filler")).unwrap();
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
    let key = fs::read_to_string(disk.folder.join("key")).unwrap().trim_end().to_owned();
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
        assert!(acknowledged.len() < 100 * (round + 1), "the disk is not full");
        if let Some(last) = acknowledged.last() {
            assert!(found(&client, &service, &key, *last).await, "reads continue");
        }
        disk.free();
        for _ in 0..10 {
            acknowledged.push(add_soon(&client, &service, &key, &long).await);
        }
    }
    for id in &acknowledged {
        assert!(found(&client, &service, &key, *id).await, "{id} was lost");
    }
    assert!(acknowledged.is_sorted_by(|one, next| one < next), "an id was given twice");
    // The disk is not visible here, so the files are copied. Nothing writes to them now.
    for file in ["petstore.db", "petstore.db-wal"] {
        fs::copy(disk.folder.join(file), here.path().join(file)).unwrap();
    }
    run(here.path(), &["check"]).expect_success();
    eprintln!("{ROUNDS} times full, {} acknowledged, none lost", acknowledged.len());
}

/// The number of the next file descriptor.
fn next_file(service: &Service) -> usize {
    let folder = format!("/proc/{}/fd", service.pid());
    (0..1024).find(|number| fs::symlink_metadata(format!("{folder}/{number}")).is_err()).unwrap()
}

/// Sets the limit of open files of a running process.
fn limit_open_files(service: &Service, limit: usize) {
    let (id, limit) = (service.pid().to_string(), format!("--nofile={limit}:"));
    assert!(Command::new("prlimit").args(["--pid", &id, &limit]).status().unwrap().success());
}

#[tokio::test]
async fn without_free_file_descriptors_connected_clients_continue_and_others_wait() {
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &[]);
    let connected = client();
    let mut last = add(&connected, &service, &key, "first").await.unwrap();
    // Kept open, because each closed one would free a file descriptor.
    let newcomers: Vec<Client> = (0..ROUNDS).map(|_| client()).collect();
    for newcomer in &newcomers {
        limit_open_files(&service, next_file(&service));
        let mut waiting = Box::pin(add(newcomer, &service, &key, "newcomer"));
        for _ in 0..10 {
            assert!(futures_util::poll!(waiting.as_mut()).is_pending());
            let id = add(&connected, &service, &key, "connected").await.unwrap();
            assert!(id > last);
            last = id;
        }
        limit_open_files(&service, 1024);
        let id =
            timeout(RECOVERY, waiting).await.expect("it did not recover within 5 seconds").unwrap();
        assert!(id > last);
        last = id;
    }
    run(here.path(), &["check"]).expect_success();
    eprintln!("{ROUNDS} times out of open files, {last} acknowledged, none lost");
}
