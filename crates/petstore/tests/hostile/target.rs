//! The target of attacks: a running service, its use of resources, and a healthy client that must
//! not notice the attack.

use std::{
    fs,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use petstore_domain::{Clock, SystemClock};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{io::AsyncReadExt, net::TcpStream, task::JoinHandle};

use super::program::{self, Service};

/// A count from this variable, or the small default.
pub(crate) fn count(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |count| count.parse().unwrap())
}

/// Waits for something that must happen, and fails after a timeout.
pub(crate) async fn eventually<T>(happens: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(2), happens)
        .await
        .unwrap()
}

/// A running service with a key.
pub(crate) struct Target {
    pub(crate) service: Service,
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    // Dropped last.
    _directory: TempDir,
}

impl Target {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let directory = program::directory();
        let service = Service::start(directory.path(), arguments);
        let key = program::new_key(directory.path());
        let address = service
            .url
            .strip_prefix("http://")
            .unwrap()
            .strip_suffix("/v1")
            .unwrap();
        Self {
            address: address.parse().unwrap(),
            service,
            key,
            _directory: directory,
        }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// The number of open files of the process.
    pub(crate) fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.service.pid()))
            .unwrap()
            .count()
    }

    /// Its current or highest memory (`VmRSS`, `VmHWM`), in MiB.
    pub(crate) fn memory(&self, what: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.service.pid())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(what))
            .unwrap();
        let kib: u64 = line
            .trim_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap();
        kib >> 10
    }

    /// Waits until no more files are open than before the attack.
    pub(crate) async fn recovers_to(&self, open_files: usize) {
        eventually(async {
            while self.open_files() > open_files {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    /// Reads until the server closes the connection in any way.
    pub(crate) async fn is_closed(mut stream: TcpStream) -> Vec<u8> {
        let mut response = Vec::new();
        let _ = eventually(stream.read_to_end(&mut response)).await;
        response
    }
}

/// A normal client that checks every response.
pub(crate) struct Healthy {
    client: Client,
    url: String,
    key: String,
}

impl Healthy {
    pub(crate) fn of(target: &Target) -> Self {
        Self {
            client: program::client(),
            url: target.service.url.clone(),
            key: target.key.clone(),
        }
    }

    /// Adds an animal, reads it back, and reads a page.
    pub(crate) async fn round(&self) {
        let created = program::create(&self.client, &self.url, &self.key, "healthy");
        let created = created.send().await.unwrap();
        assert_eq!(created.status(), StatusCode::CREATED);
        let pet: Value = created.json().await.unwrap();
        assert_eq!(pet["name"], json!("healthy"));
        let read: Value = self.get(&format!("/pets/{}", pet["id"])).await;
        assert_eq!(read, pet);
        let page = self.get("/pets?limit=5").await;
        assert!(!page.as_array().unwrap().is_empty());
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let request = self
            .client
            .get(format!("{}{path}", self.url))
            .bearer_auth(&self.key);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.json().await.unwrap()
    }

    /// Runs this many rounds, and returns the 99th percentile of their durations.
    pub(crate) async fn p99_of(&self, rounds: usize) -> Duration {
        let mut took = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let began: Instant = SystemClock.instant();
            self.round().await;
            took.push(SystemClock.instant() - began);
        }
        took.sort_unstable();
        took[(rounds * 99).div_ceil(100) - 1]
    }

    /// Runs rounds until stopped; fails if any response is wrong.
    pub(crate) fn meanwhile(self) -> Meanwhile {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let running = tokio::spawn(async move {
            let mut rounds = 0;
            while !stopped.load(Ordering::Relaxed) || rounds == 0 {
                self.round().await;
                rounds += 1;
            }
            rounds
        });
        Meanwhile { stop, running }
    }
}

/// A running healthy client.
pub(crate) struct Meanwhile {
    stop: Arc<AtomicBool>,
    running: JoinHandle<usize>,
}

impl Meanwhile {
    /// The number of rounds, all of them successful.
    pub(crate) async fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        eventually(self.running).await.unwrap()
    }
}
