//! Something between a store and its database that breaks when told to.

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

/// What becomes of the bytes that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// They arrive.
    Up,
    /// So many answers arrive; the next is lost, and the connection with it.
    LosesAnswer { after: usize, then_up: bool },
    /// The next request is lost, and the connection with it.
    LosesRequest,
    /// Nothing arrives, and nothing ends.
    Frozen,
    /// Every connection ends.
    Down,
}

/// A line to one database.
pub(crate) struct Proxy {
    /// The URL of the database, by way of this line.
    pub(crate) url: String,
    line: Arc<watch::Sender<Line>>,
    accepting: JoinHandle<()>,
    _directory: TempDir,
}

impl Proxy {
    /// A line to the database at `url`, which names a socket in the file system.
    pub(crate) fn to(url: &str) -> Self {
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
        Self { url, line, accepting, _directory: directory }
    }

    /// From now on.
    pub(crate) fn set(&self, line: Line) {
        self.line.send_replace(line);
    }

    pub(crate) fn line(&self) -> Line {
        *self.line.borrow()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Carries bytes both ways until either side, or the line, is at its end.
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
                Line::LosesAnswer { after, then_up } => {
                    Continue(Line::LosesAnswer { after: after - 1, then_up })
                }
                other => Continue(other),
            });
            watching.wait_for(|line| *line != Line::Frozen).await.unwrap();
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
