//! Malformed and ambiguous HTTP/1.1, which two programs, such as the service and a proxy, could
//! parse differently. Each case is rejected and its connection closed, or gets one harmless
//! response, but never two: the second would be for a smuggled request.

use tokio::io::AsyncWriteExt;

use super::target::{Healthy, Target, eventually};

/// The expected result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// 400, and the connection closes.
    Rejected,
    /// Another error than 400, and the connection closes.
    RejectedAs(u16),
    /// Exactly this one response.
    Once(u16),
    /// No response, because the client closed its side before a complete request.
    Nothing,
}

use Outcome::{Nothing, Once, Rejected, RejectedAs};

/// A valid head, except for the inserted case; the key replaces `KEY`.
const POST: &str = "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\n\
     Content-Type: application/json\r\n";

/// The smuggled request, which would get 200 or add an animal.
const SMUGGLED: &str = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";

/// A body of 32 (0x20) bytes.
const BODY: &str = r#"{"name":"honest","categoryId":1}"#;

/// Heads for an existing path, without a body.
const HEADS: &[(&str, &str, Outcome)] = &[
    (
        "as it should be",
        "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n",
        Once(308),
    ),
    ("no Host", "GET /docs HTTP/1.1\r\n\r\n", Rejected),
    (
        "two Hosts",
        "GET /docs HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "two hosts in one",
        "GET /docs HTTP/1.1\r\nHost: x, y\r\n\r\n",
        Rejected,
    ),
    (
        "Host with a path",
        "GET /docs HTTP/1.1\r\nHost: x/y\r\n\r\n",
        Rejected,
    ),
    (
        "Host with a user",
        "GET /docs HTTP/1.1\r\nHost: u@x\r\n\r\n",
        Rejected,
    ),
    (
        "no Host in HTTP/1.0",
        "GET /docs HTTP/1.0\r\n\r\n",
        Once(308),
    ),
    (
        "space before the colon",
        "GET /docs HTTP/1.1\r\nHost : x\r\n\r\n",
        Rejected,
    ),
    (
        "space before a name",
        "GET /docs HTTP/1.1\r\n Host: x\r\n\r\n",
        Rejected,
    ),
    (
        "obsolete folding",
        "GET /docs HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
        Rejected,
    ),
    (
        "field without a colon",
        "GET /docs HTTP/1.1\r\nHost: x\r\nA\r\n\r\n",
        Rejected,
    ),
    (
        "field without a name",
        "GET /docs HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n",
        Rejected,
    ),
    (
        "NUL in a name",
        "GET /docs HTTP/1.1\r\nHost: x\r\nA\0: b\r\n\r\n",
        Rejected,
    ),
    (
        "NUL in a value",
        "GET /docs HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n",
        Rejected,
    ),
    (
        "NUL in the target",
        "GET /do\0cs HTTP/1.1\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "CR in a value",
        "GET /docs HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
        Rejected,
    ),
    (
        "CR as line end",
        "GET /docs HTTP/1.1\rHost: x\r\r",
        Rejected,
    ),
    (
        "LF as line end",
        "GET /docs HTTP/1.1\nHost: x\n\n",
        Rejected,
    ),
    (
        "LF at the end of a field",
        "GET /docs HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
        Rejected,
    ),
    (
        "LF at the end of the head",
        "GET /docs HTTP/1.1\r\nHost: x\r\n\n",
        Rejected,
    ),
    (
        "a fragment",
        "GET /docs#part HTTP/1.1\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "absolute form with a user",
        "GET http://u@y/docs HTTP/1.1\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "a quote in a name",
        "GET /docs HTTP/1.1\r\nHost: x\r\n\"A\": b\r\n\r\n",
        Rejected,
    ),
    ("no version", "GET /docs\r\nHost: x\r\n\r\n", Rejected),
    (
        "HTTP/0.9",
        "GET /docs HTTP/0.9\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "HTTP/1.2",
        "GET /docs HTTP/1.2\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "HTTP/2.0 in words",
        "GET /docs HTTP/2.0\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "http/1.1",
        "GET /docs http/1.1\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "HTTP/1.10",
        "GET /docs HTTP/1.10\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "two spaces",
        "GET  /docs HTTP/1.1\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "space in the target",
        "GET /do cs HTTP/1.1\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    ("no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", Rejected),
    (
        "a method with a bracket",
        "GE[T /docs HTTP/1.1\r\nHost: x\r\n\r\n",
        Rejected,
    ),
    (
        "absolute form",
        "GET http://y/docs HTTP/1.1\r\nHost: x\r\n\r\n",
        Once(308),
    ),
    (
        "asterisk form",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        Once(404),
    ),
    (
        "authority form",
        "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n",
        Once(404),
    ),
    (
        "empty lines first",
        "\r\n\r\nGET /docs HTTP/1.1\r\nHost: x\r\n\r\n",
        Once(308),
    ),
    ("nothing but empty lines", "\r\n\r\n\r\n", Nothing),
    (
        "a greeting of TLS",
        "\x16\x03\x01\x02\0\x01\0\x01\u{fc}",
        Rejected,
    ),
];

/// Fields that declare the length of a body, and the bytes after the head.
const BODIES: &[(&str, &str, &str, Outcome)] = &[
    ("as it should be", "Content-Length: 32", "B", Once(201)),
    (
        "chunked as it should be",
        "Transfer-Encoding: chunked",
        "20\r\nB\r\n0\r\n\r\n",
        Once(201),
    ),
    // RFC 9112, section 6.3: the transfer coding applies, and the connection closes.
    (
        "length, then coding",
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "20\r\nB\r\n0\r\n\r\nS",
        Once(201),
    ),
    (
        "coding, then length",
        "Transfer-Encoding: chunked\r\nContent-Length: 37",
        "20\r\nB\r\n0\r\n\r\nS",
        Once(201),
    ),
    (
        "two lengths",
        "Content-Length: 32\r\nContent-Length: 0",
        "BS",
        Rejected,
    ),
    (
        "two lengths in one",
        "Content-Length: 32, 32",
        "BS",
        Rejected,
    ),
    (
        "the same length twice",
        "Content-Length: 32\r\nContent-Length: 32",
        "B",
        Once(201),
    ),
    ("length with a plus", "Content-Length: +32", "BS", Rejected),
    ("length with a minus", "Content-Length: -32", "BS", Rejected),
    ("hexadecimal length", "Content-Length: 0x20", "BS", Rejected),
    (
        "length with a fraction",
        "Content-Length: 32.0",
        "BS",
        Rejected,
    ),
    ("length with a space", "Content-Length: 3 2", "BS", Rejected),
    ("empty length", "Content-Length:", "BS", Rejected),
    (
        "length of 2^64 - 1",
        "Content-Length: 18446744073709551615",
        "BS",
        RejectedAs(431),
    ),
    (
        "length of 2^64",
        "Content-Length: 18446744073709551616",
        "BS",
        Rejected,
    ),
    (
        "length of 2^63",
        "Content-Length: 9223372036854775808",
        "BS",
        RejectedAs(413),
    ),
    ("another coding", "Transfer-Encoding: gzip", "BS", Rejected),
    (
        "another coding first",
        "Transfer-Encoding: gzip, chunked",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "another coding last",
        "Transfer-Encoding: chunked, gzip",
        "0\r\n\r\nS",
        Rejected,
    ),
    ("identity", "Transfer-Encoding: identity", "BS", Rejected),
    (
        "chunked twice",
        "Transfer-Encoding: chunked, chunked",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunked in two fields",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "identity in the second field",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "xchunked",
        "Transfer-Encoding: xchunked",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunked with a parameter",
        "Transfer-Encoding: chunked;a=b",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunked after a control",
        "Transfer-Encoding: \x0bchunked",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "coding and a space",
        "Transfer-Encoding : chunked",
        "0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunk size with a sign",
        "Transfer-Encoding: chunked",
        "+20\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunk size with 0x",
        "Transfer-Encoding: chunked",
        "0x20\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "no chunk size",
        "Transfer-Encoding: chunked",
        "\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunk size above 2^64",
        "Transfer-Encoding: chunked",
        "10000000000000020\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunk of 2^63",
        "Transfer-Encoding: chunked",
        "8000000000000000\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunk longer than said",
        "Transfer-Encoding: chunked",
        "1f\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunk shorter than said",
        "Transfer-Encoding: chunked",
        "21\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "LF after a chunk size",
        "Transfer-Encoding: chunked",
        "20\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "LF after a chunk",
        "Transfer-Encoding: chunked",
        "20\r\nB\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "chunk extension",
        "Transfer-Encoding: chunked",
        "20;a=b\r\nB\r\n0\r\n\r\n",
        Once(201),
    ),
    (
        "LF in a chunk extension",
        "Transfer-Encoding: chunked",
        "20;a\nb\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "spaces after a chunk size",
        "Transfer-Encoding: chunked",
        "20 \r\nB\r\n0\r\n\r\n",
        Once(201),
    ),
    (
        "length in the trailer",
        "Transfer-Encoding: chunked",
        "20\r\nB\r\n0\r\nContent-Length: 5\r\n\r\n",
        Once(201),
    ),
    (
        "NUL for a chunk size",
        "Transfer-Encoding: chunked",
        "\0\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
    (
        "coding in HTTP/1.0",
        "Transfer-Encoding: chunked\r\nX-Version: 1.0",
        "20\r\nB\r\n0\r\n\r\nS",
        Rejected,
    ),
];

/// The result of sending these bytes and closing the client's side.
async fn outcome(target: &Target, bytes: &str) -> Outcome {
    let mut stream = target.connect().await;
    // The server may close before it has read everything.
    let _ = stream.write_all(bytes.as_bytes()).await;
    let _ = stream.shutdown().await;
    let response = eventually(Target::is_closed(stream)).await;
    let response = String::from_utf8(response).unwrap();
    let responses = response.matches("HTTP/1.").count();
    assert!(responses <= 1, "two responses: {response}");
    let Some(status) = response.split(' ').nth(1) else {
        return Nothing;
    };
    let status: u16 = status.parse().unwrap();
    let closes = response.to_lowercase().contains("connection: close\r\n");
    match (status, closes) {
        (400, true) => Rejected,
        (402..500, true) if status != 404 => RejectedAs(status),
        _ => Once(status),
    }
}

#[tokio::test]
async fn an_ambiguous_request_is_rejected_or_gets_one_response() {
    let target = Target::start(&[]);
    let mut cases: Vec<(String, String, Outcome)> = Vec::new();
    for (name, head, expected) in HEADS {
        cases.push((
            (*name).to_owned(),
            format!("{head}{}", smuggled_after(*expected)),
            *expected,
        ));
    }
    for (name, fields, rest, expected) in BODIES {
        let rest = rest
            .replace('B', "\u{1}")
            .replace('S', SMUGGLED)
            .replace('\u{1}', BODY);
        let mut post = POST.replace("KEY", &target.key);
        if fields.contains("X-Version: 1.0") {
            post = post.replace("HTTP/1.1", "HTTP/1.0");
        }
        cases.push((
            format!("body: {name}"),
            format!("{post}{fields}\r\n\r\n{rest}"),
            *expected,
        ));
    }
    assert!(cases.len() >= 40);
    let mut wrong = Vec::new();
    for (name, bytes, expected) in &cases {
        let came = outcome(&target, bytes).await;
        if came != *expected {
            wrong.push(format!("{name}: {came:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Only the acknowledged animals were added.
    let added = cases
        .iter()
        .filter(|(_, _, expected)| *expected == Once(201))
        .count();
    let animals = Healthy::of(&target).get("/pets?limit=100").await;
    assert_eq!(animals.as_array().unwrap().len(), added);
    eprintln!("{} cases", cases.len());
}

/// A rejected request must not lead to a response for the bytes after it.
fn smuggled_after(expected: Outcome) -> &'static str {
    if expected == Rejected { SMUGGLED } else { "" }
}
