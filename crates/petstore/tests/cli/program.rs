//! Runs `petstore` as users do.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    #[track_caller]
    pub(crate) fn expect_success(self) -> Self {
        assert!(self.status.success(), "{self:?}");
        self
    }

    /// Fails unless the command failed with one line on standard error, and
    /// returns that line.
    #[track_caller]
    pub(crate) fn expect_one_line(self) -> String {
        assert!(
            !self.status.success() && self.status.code().is_some(),
            "{self:?}"
        );
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        self.stderr
    }
}

/// The command in this folder, without settings from the environment.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_petstore"));
    command.args(arguments);
    settle(&mut command, directory);
    command
}

/// Makes a command run in this folder, without settings from the environment.
pub(crate) fn settle(command: &mut Command, directory: &Path) {
    command.current_dir(directory).stdin(Stdio::null());
    let is_ours = |name: &str| name.starts_with("PETSTORE_") || name.starts_with("OTEL_");
    for (name, _) in std::env::vars().filter(|(name, _)| is_ours(name)) {
        command.env_remove(name);
    }
    // Several services run at once, and only one can have the default addresses.
    command
        .env("PETSTORE_CONSOLE_LISTEN", "off")
        .env("PETSTORE_WINDOW_LISTEN", "off");
}

pub(crate) fn run(directory: &Path, arguments: &[&str]) -> Done {
    finish(&mut command(directory, arguments))
}

/// Runs a command to completion.
pub(crate) fn finish(command: &mut Command) -> Done {
    let output = command.output().unwrap();
    Done {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Creates a key, and returns it.
pub(crate) fn new_key(directory: &Path) -> String {
    let done = run(directory, &["keys", "create", "--name", "test", "--create"]).expect_success();
    done.stdout.trim_end().to_owned()
}

/// An address on which nothing listens.
pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

/// A running `petstore serve` on a free port; killed on drop.
pub(crate) struct Service {
    process: Child,
    pub(crate) url: String,
    /// The log up to the line with the address.
    pub(crate) first_lines: Vec<Value>,
    rest: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Service {
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut command = command(directory, &["serve", "--listen", "127.0.0.1:0"]);
        command.args(arguments);
        Self::from(command)
    }

    /// Starts the service by a command that execs it.
    pub(crate) fn from(mut command: Command) -> Self {
        Self::of(command.stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Waits until a process serves, whose standard error is a pipe.
    pub(crate) fn of(mut process: Child) -> Self {
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut first_lines = Vec::new();
        let url = loop {
            let mut line = String::new();
            assert_ne!(
                log.read_line(&mut line).unwrap(),
                0,
                "it ended: {first_lines:?}"
            );
            let line: Value = serde_json::from_str(&line).unwrap_or(json!(line));
            let url = line["message"]
                .as_str()
                .and_then(|text| text.strip_prefix("serving "));
            let url = url.map(str::to_owned);
            first_lines.push(line);
            if let Some(url) = url {
                break url;
            }
        };
        let rest = Arc::<Mutex<String>>::default();
        let read = Arc::clone(&rest);
        let reader = thread::spawn(move || {
            for line in log.lines() {
                let mut rest = read.lock().unwrap();
                rest.push_str(&line.unwrap());
                rest.push('\n');
            }
        });
        Self {
            process,
            url,
            first_lines,
            rest,
            reader: Some(reader),
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Sends a signal by name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for its end; returns the exit status and the rest of its log.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        let status = self.process.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        let log = self.rest.lock().unwrap().clone();
        (status, log)
    }

    /// The log after the line with the address, so far.
    pub(crate) fn said(&self) -> String {
        self.rest.lock().unwrap().clone()
    }

    /// Whether it has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn directory() -> TempDir {
    TempDir::new().unwrap()
}

pub(crate) fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

/// A request that adds an animal.
pub(crate) fn create(client: &Client, url: &str, key: &str, name: &str) -> RequestBuilder {
    let body = json!({ "name": name, "categoryId": 1 });
    client
        .post(format!("{url}/pets"))
        .bearer_auth(key)
        .json(&body)
}

/// All animals in the catalogue, by a walk.
pub(crate) async fn walk(client: &Client, service: &Service, key: &str) -> BTreeMap<i64, String> {
    let origin = service.url.trim_end_matches("/v1");
    let mut found = BTreeMap::new();
    let mut target = Some("/v1/pets?limit=100".to_owned());
    while let Some(page) = target {
        let reply = client
            .get(format!("{origin}{page}"))
            .bearer_auth(key)
            .send()
            .await
            .unwrap();
        let link = reply
            .headers()
            .get("link")
            .map(|link| link.to_str().unwrap().to_owned());
        target = link.map(|link| link.split(['<', '>']).nth(1).unwrap().to_owned());
        for pet in reply.json::<Vec<Value>>().await.unwrap() {
            let (id, name) = (pet["id"].as_i64().unwrap(), pet["name"].as_str().unwrap());
            assert_eq!(found.insert(id, name.to_owned()), None, "{id} twice");
        }
    }
    found
}

/// The same, by a service that is started for it.
pub(crate) async fn catalogue(here: &Path, key: &str) -> BTreeMap<i64, String> {
    walk(&client(), &Service::start(here, &[]), key).await
}
