//! A proxy between a store and its database that can break connections.

use std::{
    ops::ControlFlow::{self, Break, Continue},
    sync::Arc,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    sync::watch,
    task::JoinHandle,
};

/// What the proxy does with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Forwards them.
    Up,
    /// Forwards this many responses, then drops one and closes its connection.
    LosesAnswer { after: usize, then_up: bool },
    /// Drops the next request and closes its connection.
    LosesRequest,
    /// Forwards nothing, and closes nothing.
    Frozen,
    /// Closes every connection.
    Down,
}

/// A proxy to one database.
pub struct Proxy {
    /// The URL of the database through the proxy.
    pub url: String,
    line: Arc<watch::Sender<Line>>,
    accepting: JoinHandle<()>,
    _directory: TempDir,
}

impl Proxy {
    /// A proxy to the database at `url`, which must use a Unix socket.
    pub fn to(url: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let place = url.strip_prefix("postgres://petstore@").unwrap();
        let (host, rest) = place.split_once(':').unwrap();
        let (port, rest) = rest.split_once('/').unwrap();
        let upstream = format!("{}/.s.PGSQL.{port}", host.replace("%2F", "/"));
        let here = directory.path().to_str().unwrap();
        let listener = UnixListener::bind(format!("{here}/.s.PGSQL.{port}")).unwrap();
        let host = here.replace('/', "%2F");
        let line = Arc::new(watch::Sender::new(Line::Up));
        let shared = Arc::clone(&line);
        let accepting = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (line, upstream) = (Arc::clone(&shared), upstream.clone());
                tokio::spawn(async move {
                    let server = UnixStream::connect(upstream).await.unwrap();
                    carry(client, server, &line).await;
                });
            }
        });
        let url = format!("postgres://petstore@{host}:{port}/{rest}");
        Self {
            url,
            line,
            accepting,
            _directory: directory,
        }
    }

    /// Changes what the proxy does from now on.
    pub fn set(&self, line: Line) {
        self.line.send_replace(line);
    }

    pub fn line(&self) -> Line {
        *self.line.borrow()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Forwards bytes in both directions until one side closes, or the proxy breaks the connection.
async fn carry(mut client: UnixStream, mut server: UnixStream, line: &watch::Sender<Line>) {
    let mut watching = line.subscribe();
    let mut down = line.subscribe();
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let requests = async {
        let mut bytes = vec![0; 16 << 10];
        loop {
            let length = from_client.read(&mut bytes).await.unwrap_or(0);
            let lost = decide(line, |line| match line {
                Line::LosesRequest => Break(Line::Up),
                other => Continue(other),
            });
            if length == 0 || lost || to_server.write_all(&bytes[..length]).await.is_err() {
                return;
            }
        }
    };
    let answers = async {
        let mut bytes = vec![0; 16 << 10];
        loop {
            let length = from_server.read(&mut bytes).await.unwrap_or(0);
            let lost = decide(line, |line| match line {
                Line::LosesAnswer { after: 0, then_up } => {
                    Break(if then_up { Line::Up } else { Line::Down })
                }
                Line::LosesAnswer { after, then_up } => Continue(Line::LosesAnswer {
                    after: after - 1,
                    then_up,
                }),
                other => Continue(other),
            });
            watching
                .wait_for(|line| *line != Line::Frozen)
                .await
                .unwrap();
            if length == 0 || lost || to_client.write_all(&bytes[..length]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        () = answers => {}
        _ = down.wait_for(|line| *line == Line::Down) => {}
    }
}

/// Changes the line, and says whether what came is lost.
fn decide(line: &watch::Sender<Line>, what: impl Fn(Line) -> ControlFlow<Line, Line>) -> bool {
    let mut lost = false;
    line.send_modify(|line| {
        let decided = what(*line);
        lost = decided.is_break();
        let (Break(next) | Continue(next)) = decided;
        *line = next;
    });
    lost
}
