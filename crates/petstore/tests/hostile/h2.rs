//! Floods and stalls of HTTP/2 frames, on `HOSTILE_H2` connections each, one after the other (3 by
//! default). Meanwhile, a healthy client is served, and the memory is bounded. Afterwards, no
//! connection is left.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time,
};

use super::{
    frames::{
        CANCEL, CONTINUATION, DATA, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE, PING,
        RST_STREAM, SETTINGS, WINDOW_UPDATE, connect, frame, parse, request, request_fields,
        setting, streams,
    },
    target::{Healthy, Target, count, eventually},
};

/// The largest memory of the service, in MiB: the response memory, and the same for everything
/// else.
const MEMORY: u64 = 512;

/// How many frames a flood sends.
const FLOOD: usize = 100_000;

/// Attacks a service repeatedly while a healthy client uses it.
async fn attack(name: &str, attack: impl AsyncFn(&Target)) {
    let times = count("HOSTILE_H2", 3);
    let target = Target::start(&["--client-timeout", "2s"]);
    let healthy = Healthy::of(&target);
    healthy.round().await;
    let files = target.open_files();
    let meanwhile = healthy.meanwhile();
    for _ in 0..times {
        attack(&target).await;
    }
    let rounds = meanwhile.end().await;
    target.recovers_to(files).await;
    let memory = target.memory("VmHWM");
    eprintln!("{name}: {times} times, {rounds} healthy rounds meanwhile, {memory} MiB at most");
    assert!(memory < MEMORY, "{memory} MiB");
}

/// Sends frames and reads responses until all are sent or the server closes, and closes the
/// client's side. Returns the received bytes, and how many frames were sent.
async fn flood(
    stream: TcpStream,
    frames: impl Iterator<Item = Vec<u8>>,
) -> (Vec<(u8, u32, Vec<u8>)>, usize) {
    let (mut reader, mut writer) = stream.into_split();
    let mut sent = 0;
    let mut came = Vec::new();
    let sending = async {
        for frame in frames {
            if writer.write_all(&frame).await.is_err() {
                break;
            }
            sent += 1;
        }
        let _ = writer.shutdown().await;
    };
    let (_, ()) = eventually(async { tokio::join!(reader.read_to_end(&mut came), sending) }).await;
    (parse(&came), sent)
}

/// Whether the server ended the connection because of the client.
fn ended_for_client_error(frames: &[(u8, u32, Vec<u8>)]) -> bool {
    frames
        .iter()
        .any(|(kind, _, payload)| *kind == GOAWAY && payload[4..8] != [0; 4])
}

#[tokio::test]
async fn rapid_resets_end_the_connection() {
    attack("rapid reset", async |target| {
        let stream = connect(target, &[]).await;
        let resets = streams().take(FLOOD).map(|stream| {
            let mut frames = request(stream, "GET", "/v1/pets", &target.key);
            frames.extend(frame(RST_STREAM, 0, stream, &CANCEL));
            frames
        });
        let (came, sent) = flood(stream, resets).await;
        assert!(ended_for_client_error(&came) || sent < FLOOD, "{sent} sent");
    })
    .await;
}

#[tokio::test]
async fn too_many_streams_reset_by_the_server_end_the_connection() {
    attack("made to reset", async |target| {
        let stream = connect(target, &[]).await;
        let mistakes = streams().take(FLOOD).map(|stream| {
            let mut frames = request(stream, "POST", "/v1/pets", &target.key);
            // Larger than a window can be, which is a stream error (section 6.9.1).
            frames.extend(frame(WINDOW_UPDATE, 0, stream, &[0x7f, 0xff, 0xff, 0xff]));
            frames
        });
        let (came, sent) = flood(stream, mistakes).await;
        assert!(ended_for_client_error(&came) || sent < FLOOD, "{sent} sent");
    })
    .await;
}

#[tokio::test]
async fn an_endless_head_in_continuation_frames_ends_the_connection() {
    attack("CONTINUATION flood", async |target| {
        let stream = connect(target, &[]).await;
        let begin = frame(
            HEADERS,
            END_STREAM,
            1,
            &request_fields("GET", "/v1/pets", &target.key),
        );
        // Fields with a value of 3,700 bytes, whose length takes three bytes (RFC 7541, 5.1).
        let field = [&[0, 1, b'a', 0x7f, 0xf5, 0x1b], &*vec![b'b'; 3700]].concat();
        let more = frame(CONTINUATION, 0, 1, &field.repeat(4));
        let frames = std::iter::once(begin).chain(std::iter::repeat_n(more, FLOOD));
        let (_, sent) = flood(stream, frames).await;
        assert!(sent < 1000, "{sent} sent");
    })
    .await;
}

#[tokio::test]
async fn empty_continuations_end_the_connection() {
    attack("empty CONTINUATION flood", async |target| {
        let stream = connect(target, &[]).await;
        let begin = frame(
            HEADERS,
            END_STREAM,
            1,
            &request_fields("GET", "/v1/pets", &target.key),
        );
        let frames = std::iter::once(begin).chain(std::iter::repeat_n(
            frame(CONTINUATION, 0, 1, &[]),
            10 * FLOOD,
        ));
        let (came, sent) = flood(stream, frames).await;
        assert!(
            ended_for_client_error(&came) || sent < 10 * FLOOD,
            "{sent} sent"
        );
    })
    .await;
}

#[tokio::test]
async fn a_flood_of_pings_settings_and_window_updates_harms_no_other_client() {
    for (name, frame) in [
        ("ping flood", frame(PING, 0, 0, &[7; 8])),
        (
            "settings flood",
            frame(SETTINGS, 0, 0, &setting(INITIAL_WINDOW_SIZE, 1000)),
        ),
        (
            "window update flood",
            frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        ),
    ] {
        attack(name, async |target| {
            let stream = connect(target, &[]).await;
            flood(stream, std::iter::repeat_n(frame.clone(), FLOOD)).await;
        })
        .await;
    }
}

#[tokio::test]
async fn a_flood_of_empty_data_frames_harms_no_other_client() {
    attack("empty DATA flood", async |target| {
        let stream = connect(target, &[]).await;
        let begin = request(1, "POST", "/v1/pets", &target.key);
        let frames =
            std::iter::once(begin).chain(std::iter::repeat_n(frame(DATA, 0, 1, &[]), FLOOD));
        flood(stream, frames).await;
    })
    .await;
}

#[tokio::test]
async fn pings_whose_responses_are_not_read_take_no_memory() {
    attack("pings without reading", async |target| {
        let mut stream = connect(target, &[]).await;
        let pings = frame(PING, 0, 0, &[7; 8]).repeat(1000);
        // Until the server stops reading, or has read 17 MB.
        for _ in 0..1000 {
            let write = stream.write_all(&pings);
            let taken = tokio::time::timeout(std::time::Duration::from_secs(1), write).await;
            if !matches!(taken, Ok(Ok(()))) {
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn only_32_of_many_concurrent_streams_are_served() {
    attack("many streams", async |target| {
        let stream = connect(target, &[]).await;
        let body = frame(DATA, END_STREAM, 1, json!({}).to_string().as_bytes());
        let requests = streams()
            .take(1000)
            .map(|stream| request(stream, "POST", "/v1/pets", &target.key))
            .chain(std::iter::once(body));
        let (came, _) = flood(stream, requests).await;
        let refused = came.iter().filter(|(kind, ..)| *kind == RST_STREAM).count();
        assert!(
            refused >= 900 || ended_for_client_error(&came),
            "{refused} refused"
        );
    })
    .await;
}

#[tokio::test]
async fn occasional_small_requests_do_not_keep_unread_responses_alive() {
    let target = Target::start(&["--client-timeout", "1s"]);
    let healthy = Healthy::of(&target);
    healthy.round().await;
    let stream = connect(&target, &setting(INITIAL_WINDOW_SIZE, 0)).await;
    let (mut reader, mut writer) = stream.into_split();
    let mut streams = streams();
    let unread = request(streams.next().unwrap(), "GET", "/v1/pets", &target.key);
    writer.write_all(&unread).await.unwrap();
    let mut came = Vec::new();
    let mut pace = time::interval(Duration::from_millis(200));
    eventually(async {
        for stream in streams {
            tokio::select! {
                // Only heads, which need no window.
                read = reader.read_to_end(&mut came) => return drop(read),
                _ = pace.tick() => {}
            }
            let trifle = request(stream, "HEAD", "/", &target.key);
            if writer.write_all(&trifle).await.is_err() {
                return;
            }
        }
    })
    .await;
    assert!(parse(&came).iter().any(|(kind, ..)| *kind == HEADERS));
    healthy.round().await;
}

/// The largest memory of a connection with 32 responses that its client does not read, in KiB.
const MEMORY_OF_UNREAD: u64 = 90;

#[tokio::test]
async fn a_connection_with_many_unread_responses_takes_little_memory() {
    let connections = count("HOSTILE_UNREAD", 500);
    let target = Target::start(&[]);
    let healthy = Healthy::of(&target);
    healthy.round().await;
    let idle = target.memory("VmRSS");
    let mut unread = Vec::new();
    for _ in 0..connections {
        let mut stream = connect(&target, &setting(INITIAL_WINDOW_SIZE, 0)).await;
        for id in streams().take(32) {
            stream
                .write_all(&request(id, "GET", "/nothing", &target.key))
                .await
                .unwrap();
        }
        let mut heads = Vec::new();
        let is_done = |frame: &&(u8, u32, Vec<u8>)| [HEADERS, RST_STREAM].contains(&frame.0);
        while parse(&heads).iter().filter(is_done).count() < 32 {
            assert_ne!(eventually(stream.read_buf(&mut heads)).await.unwrap(), 0);
        }
        unread.push(stream);
    }
    let growth = target.memory("VmRSS") - idle;
    let each = (growth << 10) / u64::try_from(connections).unwrap();
    eprintln!("unread responses: {connections} connections of 32 streams, {each} KiB each");
    assert!(each < MEMORY_OF_UNREAD, "{each} KiB each");
    healthy.round().await;
}

/// A hundred animals with names of 64 KiB make a page of 6.5 MB.
async fn fill_with_large_names(target: &Target) {
    let name = "n".repeat(60_000);
    let (client, url) = (super::program::client(), &target.service.url);
    for _ in 0..100 {
        let create = super::program::create(&client, url, &target.key, &name);
        assert_eq!(create.send().await.unwrap().status(), 201);
    }
}

#[tokio::test]
async fn responses_blocked_by_flow_control_are_bounded_and_aborted() {
    let connections = count("HOSTILE_STALLS", 3);
    let target = Arc::new(Target::start(&["--client-timeout", "2s"]));
    fill_with_large_names(&target).await;
    let healthy = Healthy::of(&target);
    healthy.round().await;
    let files = target.open_files();
    let mut stalled = JoinSet::new();
    for _ in 0..connections {
        let target = Arc::clone(&target);
        stalled.spawn(async move {
            // A window of 0 on every stream.
            let mut stream = connect(&target, &setting(INITIAL_WINDOW_SIZE, 0)).await;
            for id in streams().take(32) {
                let get = request(id, "GET", "/v1/pets?limit=100", &target.key);
                stream.write_all(&get).await.unwrap();
            }
            let mut heads = Vec::new();
            while parse(&heads)
                .iter()
                .filter(|(kind, ..)| *kind == HEADERS)
                .count()
                < 32
            {
                // On a busy machine, it may already be aborted.
                if stream.read_buf(&mut heads).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            stream
        });
    }
    // Each stream has its response in memory, or was rejected without memory.
    let stalled = eventually(stalled.join_all()).await;
    let memory = target.memory("VmRSS");
    for _ in 0..10 {
        let created = super::program::create(
            &super::program::client(),
            &target.service.url,
            &target.key,
            "a",
        );
        assert_eq!(created.send().await.unwrap().status(), 201);
        assert_eq!(healthy.get("/pets/101").await["name"], "healthy");
    }
    for stream in stalled {
        Target::is_closed(stream).await;
    }
    target.recovers_to(files).await;
    eprintln!(
        "stalled responses: {connections} connections of 32 streams, {memory} MiB with all of them, \
         {} at most, {} after",
        target.memory("VmHWM"),
        target.memory("VmRSS")
    );
    assert!(memory < MEMORY, "{memory} MiB");
}
