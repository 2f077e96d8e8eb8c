//! Many slow, silent and rude clients at once (`HOSTILE_CLIENTS`, 100 by default). Meanwhile, a
//! healthy client is served (`HOSTILE_ROUNDS` rounds of a create, a read and a list, 20 by
//! default). Afterwards, no connection is left.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use petstore_domain::{Clock, SystemClock};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime,
    sync::Barrier,
    task::{self, JoinHandle},
    time::{self, Interval},
};

use super::target::{Healthy, Target, count, eventually};

/// The client timeout in these tests.
const CLIENT_TIMEOUT: &str = "2s";

/// How often a slow client sends a byte, and a rude one resets.
const PACE: Duration = Duration::from_millis(100);
const RESET_PACE: Duration = Duration::from_millis(500);

/// What a client does until the server closes its connection.
#[derive(Debug, Clone, Copy)]
enum Attack {
    /// Connects, and sends nothing.
    Silent,
    /// Sends its head byte by byte.
    SlowHead,
    /// Sends its body byte by byte.
    SlowBody,
    /// Requests a large response, and reads nothing.
    SlowReader,
    /// Repeatedly resets its connection in the middle of a request.
    Reset,
    /// Closes its own side, after half a head or a whole one.
    HalfClose,
}

use Attack::{HalfClose, Reset, Silent, SlowBody, SlowHead, SlowReader};

impl Attack {
    /// Runs this many attacks at once on a separate thread, so the healthy client waits only for
    /// the server.
    fn crowd(self, clients: usize, target: &Arc<Target>, begun: &Arc<Barrier>) -> JoinHandle<()> {
        let (target, begun) = (Arc::clone(target), Arc::clone(begun));
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        task::spawn_blocking(move || {
            let clients = u32::try_from(clients).unwrap();
            let attacks =
                (0..clients).map(|client| self.run(&target, &begun, RESET_PACE * client / clients));
            runtime.block_on(join_all(attacks));
        })
    }

    /// Runs one attack, and signals `begun` when it takes effect. Paced actions start after
    /// `later`, so the clients do not act at the same moment.
    async fn run(self, target: &Target, begun: &Barrier, later: Duration) {
        let mut stream = target.connect().await;
        match self {
            Silent => {
                begun.wait().await;
                assert!(Target::is_closed(stream).await.is_empty());
            }
            SlowHead => {
                stream
                    .write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\nx: ")
                    .await
                    .unwrap();
                begun.wait().await;
                assert!(trickle(stream, &[b'x'; 10_000], later).await.is_empty());
            }
            SlowBody => {
                let head = format!(
                    "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
                     content-type: application/json\r\ncontent-length: 10000\r\n\r\n",
                    target.key
                );
                stream.write_all(head.as_bytes()).await.unwrap();
                begun.wait().await;
                let response = trickle(stream, &[b' '; 10_000], later).await;
                assert!(response.starts_with(b"HTTP/1.1 408 "), "{response:?}");
            }
            SlowReader => {
                // A megabyte and a half each, which is more than the buffers.
                let request = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n";
                stream
                    .write_all(request.repeat(8).as_bytes())
                    .await
                    .unwrap();
                begun.wait().await;
                // Waits until the server has aborted: then there is an error, or the response is
                // incomplete.
                eventually(stream.ready(tokio::io::Interest::ERROR))
                    .await
                    .unwrap();
            }
            Reset => {
                begun.wait().await;
                let mut pace = pace(RESET_PACE, later);
                for _ in 0..10 {
                    pace.tick().await;
                    stream
                        .write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n")
                        .await
                        .unwrap();
                    stream.set_zero_linger().unwrap();
                    stream = target.connect().await;
                }
            }
            HalfClose => {
                stream
                    .write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n")
                    .await
                    .unwrap();
                stream.shutdown().await.unwrap();
                assert!(!Target::is_closed(stream).await.starts_with(b"HTTP/1.1 2"));
                let mut whole = target.connect().await;
                whole
                    .write_all(b"GET /v1/pets HTTP/1.1\r\nhost: x\r\n\r\n")
                    .await
                    .unwrap();
                whole.shutdown().await.unwrap();
                begun.wait().await;
                let response = Target::is_closed(whole).await;
                let response = String::from_utf8_lossy(&response);
                assert!(response.starts_with("HTTP/1.1 401 "), "{response:?}");
            }
        }
    }
}

fn pace(every: Duration, later: Duration) -> Interval {
    time::interval_at((SystemClock.instant() + later).into(), every)
}

/// Sends byte by byte until the server closes; returns the bytes that it sent before that.
async fn trickle(stream: TcpStream, bytes: &[u8], later: Duration) -> Vec<u8> {
    let mut pace = pace(PACE, later);
    let (mut reader, mut writer) = stream.into_split();
    let sending = async {
        for byte in bytes {
            pace.tick().await;
            if writer.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
    };
    let mut response = Vec::new();
    eventually(async {
        tokio::select! {
            _ = reader.read_to_end(&mut response) => {}
            () = async { sending.await; std::future::pending().await } => {}
        }
    })
    .await;
    response
}

async fn attack(attack: Attack) {
    let clients = count("HOSTILE_CLIENTS", 100);
    let rounds = count("HOSTILE_ROUNDS", 20);
    // All clients have the same address.
    let many = ["--max-connections-per-address", "10000"];
    let options = [&["--client-timeout", CLIENT_TIMEOUT], &many[..]].concat();
    let target = Arc::new(Target::start(&options));
    let healthy = Healthy::of(&target);
    let quiet = healthy.p99_of(rounds).await;
    let (files, memory) = (target.open_files(), target.memory("VmRSS"));

    let begun = Arc::new(Barrier::new(clients + 1));
    let crowd = attack.crowd(clients, &target, &begun);
    begun.wait().await;
    let under_attack = healthy.p99_of(rounds).await;
    let meanwhile = healthy.meanwhile();
    eventually(crowd).await.unwrap();
    meanwhile.end().await;
    target.recovers_to(files).await;
    eprintln!(
        "{attack:?}: {clients} clients; healthy p99 of {rounds} rounds {quiet:.1?} before, \
         {under_attack:.1?} meanwhile; memory {memory} MiB before, {} at most, {} after",
        target.memory("VmHWM"),
        target.memory("VmRSS"),
    );
}

#[tokio::test]
async fn silent_clients_are_disconnected_and_harm_no_other() {
    attack(Silent).await;
}

#[tokio::test]
async fn clients_that_send_their_head_slowly_are_disconnected_and_harm_no_other() {
    attack(SlowHead).await;
}

#[tokio::test]
async fn clients_that_send_their_body_slowly_get_408_and_harm_no_other() {
    attack(SlowBody).await;
}

#[tokio::test]
async fn clients_that_do_not_read_responses_are_disconnected_and_harm_no_other() {
    attack(SlowReader).await;
}

#[tokio::test]
async fn clients_that_reset_their_connections_harm_no_other() {
    attack(Reset).await;
}

#[tokio::test]
async fn clients_that_close_their_own_side_get_responses_and_harm_no_other() {
    attack(HalfClose).await;
}
