//! Handmade HTTP/2 frames, because no client library sends what these tests need (RFC 9113,
//! sections 4.1 and 6; RFC 7541 for header fields).

use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::target::Target;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// SETTINGS: the initial window of each stream.
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

pub(crate) const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// The bytes of a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A setting, for the payload of SETTINGS.
pub(crate) fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// A literal header field without indexing, with an index into the static table (below 15) or with
/// its own name.
fn field(index: u8, name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![index];
    if index == 0 {
        bytes.push(u8::try_from(name.len()).unwrap());
        bytes.extend(name.as_bytes());
    }
    assert!(value.len() < 127);
    bytes.push(u8::try_from(value.len()).unwrap());
    bytes.extend(value.as_bytes());
    bytes
}

/// The header fields of a request.
pub(crate) fn request_fields(method: &str, path: &str, key: &str) -> Vec<u8> {
    [
        field(2, ":method", method),
        field(4, ":path", path),
        field(6, ":scheme", "http"),
        field(1, ":authority", "x"),
        field(0, "authorization", &format!("Bearer {key}")),
        field(0, "content-type", "application/json"),
    ]
    .concat()
}

/// A request without a body, or the head of one with a body.
pub(crate) fn request(stream: u32, method: &str, path: &str, key: &str) -> Vec<u8> {
    let end = if method == "GET" { END_STREAM } else { 0 };
    frame(
        HEADERS,
        END_HEADERS | end,
        stream,
        &request_fields(method, path, key),
    )
}

/// The ids of a client's streams.
pub(crate) fn streams() -> impl Iterator<Item = u32> {
    (1..).step_by(2)
}

/// An HTTP/2 connection with these settings.
pub(crate) async fn connect(target: &Target, settings: &[u8]) -> TcpStream {
    let mut stream = target.connect().await;
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .await
        .unwrap();
    stream
        .write_all(&frame(SETTINGS, 0, 0, settings))
        .await
        .unwrap();
    stream
}

/// The complete frames: kind, stream and payload.
pub(crate) fn parse(mut bytes: &[u8]) -> Vec<(u8, u32, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            break;
        };
        frames.push((head[3], stream, payload.to_vec()));
        bytes = rest;
    }
    frames
}
