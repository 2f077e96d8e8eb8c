//! Malformed and ambiguous HTTP/1.1: what two programs could understand in two
//! ways, a proxy in front of the service among them. Each case is refused and
//! its connection closed, or has one harmless answer. None ever has two: the
//! second would answer a request that somebody smuggled in.

use tokio::io::AsyncWriteExt;

use super::target::{Healthy, Target, eventually};

/// What may come of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// 400, and the connection is closed.
    Refused,
    /// Another refusal than 400, and the connection is closed.
    RefusedAs(u16),
    /// This one answer, and no other.
    Once(u16),
    /// No answer: nothing was asked yet when the client closed its side.
    Nothing,
}

use Outcome::{Nothing, Once, Refused, RefusedAs};

/// A head that is well, but for what the case puts in; the key is in `KEY`.
const POST: &str = "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\n\
     Content-Type: application/json\r\n";

/// What is smuggled: it would be answered 200, or add an animal.
const SMUGGLED: &str = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";

/// A body of 32 (0x20) bytes.
const BODY: &str = r#"{"name":"honest","categoryId":1}"#;

/// Heads to a path that is there, without a body.
const HEADS: &[(&str, &str, Outcome)] = &[
    ("as it should be", "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n", Once(308)),
    ("no Host", "GET /docs HTTP/1.1\r\n\r\n", Refused),
    ("two Hosts", "GET /docs HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", Refused),
    ("two hosts in one", "GET /docs HTTP/1.1\r\nHost: x, y\r\n\r\n", Refused),
    ("Host with a path", "GET /docs HTTP/1.1\r\nHost: x/y\r\n\r\n", Refused),
    ("Host with a user", "GET /docs HTTP/1.1\r\nHost: u@x\r\n\r\n", Refused),
    ("no Host in HTTP/1.0", "GET /docs HTTP/1.0\r\n\r\n", Once(308)),
    ("space before the colon", "GET /docs HTTP/1.1\r\nHost : x\r\n\r\n", Refused),
    ("space before a name", "GET /docs HTTP/1.1\r\n Host: x\r\n\r\n", Refused),
    ("obsolete folding", "GET /docs HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", Refused),
    ("field without a colon", "GET /docs HTTP/1.1\r\nHost: x\r\nA\r\n\r\n", Refused),
    ("field without a name", "GET /docs HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n", Refused),
    ("NUL in a name", "GET /docs HTTP/1.1\r\nHost: x\r\nA\0: b\r\n\r\n", Refused),
    ("NUL in a value", "GET /docs HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n", Refused),
    ("NUL in the target", "GET /do\0cs HTTP/1.1\r\nHost: x\r\n\r\n", Refused),
    ("CR in a value", "GET /docs HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n", Refused),
    ("CR as line end", "GET /docs HTTP/1.1\rHost: x\r\r", Refused),
    ("LF as line end", "GET /docs HTTP/1.1\nHost: x\n\n", Refused),
    ("LF at the end of a field", "GET /docs HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", Refused),
    ("LF at the end of the head", "GET /docs HTTP/1.1\r\nHost: x\r\n\n", Refused),
    ("a fragment", "GET /docs#part HTTP/1.1\r\nHost: x\r\n\r\n", Refused),
    ("absolute form with a user", "GET http://u@y/docs HTTP/1.1\r\nHost: x\r\n\r\n", Refused),
    ("a quote in a name", "GET /docs HTTP/1.1\r\nHost: x\r\n\"A\": b\r\n\r\n", Refused),
    ("no version", "GET /docs\r\nHost: x\r\n\r\n", Refused),
    ("HTTP/0.9", "GET /docs HTTP/0.9\r\nHost: x\r\n\r\n", Refused),
    ("HTTP/1.2", "GET /docs HTTP/1.2\r\nHost: x\r\n\r\n", Refused),
    ("HTTP/2.0 in words", "GET /docs HTTP/2.0\r\nHost: x\r\n\r\n", Refused),
    ("http/1.1", "GET /docs http/1.1\r\nHost: x\r\n\r\n", Refused),
    ("HTTP/1.10", "GET /docs HTTP/1.10\r\nHost: x\r\n\r\n", Refused),
    ("two spaces", "GET  /docs HTTP/1.1\r\nHost: x\r\n\r\n", Refused),
    ("space in the target", "GET /do cs HTTP/1.1\r\nHost: x\r\n\r\n", Refused),
    ("no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", Refused),
    ("a method with a bracket", "GE[T /docs HTTP/1.1\r\nHost: x\r\n\r\n", Refused),
    ("absolute form", "GET http://y/docs HTTP/1.1\r\nHost: x\r\n\r\n", Once(308)),
    ("asterisk form", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", Once(404)),
    ("authority form", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", Once(404)),
    ("empty lines first", "\r\n\r\nGET /docs HTTP/1.1\r\nHost: x\r\n\r\n", Once(308)),
    ("nothing but empty lines", "\r\n\r\n\r\n", Nothing),
    ("a greeting of TLS", "\x16\x03\x01\x02\0\x01\0\x01\u{fc}", Refused),
];

/// Fields that say how long a body is, and what follows them after the head.
const BODIES: &[(&str, &str, &str, Outcome)] = &[
    ("as it should be", "Content-Length: 32", "B", Once(201)),
    ("chunked as it should be", "Transfer-Encoding: chunked", "20\r\nB\r\n0\r\n\r\n", Once(201)),
    // RFC 9112, section 6.3: the transfer coding counts, and the connection ends.
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
    ("two lengths", "Content-Length: 32\r\nContent-Length: 0", "BS", Refused),
    ("two lengths in one", "Content-Length: 32, 32", "BS", Refused),
    ("the same length twice", "Content-Length: 32\r\nContent-Length: 32", "B", Once(201)),
    ("length with a plus", "Content-Length: +32", "BS", Refused),
    ("length with a minus", "Content-Length: -32", "BS", Refused),
    ("hexadecimal length", "Content-Length: 0x20", "BS", Refused),
    ("length with a fraction", "Content-Length: 32.0", "BS", Refused),
    ("length with a space", "Content-Length: 3 2", "BS", Refused),
    ("empty length", "Content-Length:", "BS", Refused),
    ("length of 2^64 - 1", "Content-Length: 18446744073709551615", "BS", RefusedAs(431)),
    ("length of 2^64", "Content-Length: 18446744073709551616", "BS", Refused),
    ("length of 2^63", "Content-Length: 9223372036854775808", "BS", RefusedAs(413)),
    ("another coding", "Transfer-Encoding: gzip", "BS", Refused),
    ("another coding first", "Transfer-Encoding: gzip, chunked", "0\r\n\r\nS", Refused),
    ("another coding last", "Transfer-Encoding: chunked, gzip", "0\r\n\r\nS", Refused),
    ("identity", "Transfer-Encoding: identity", "BS", Refused),
    ("chunked twice", "Transfer-Encoding: chunked, chunked", "0\r\n\r\nS", Refused),
    (
        "chunked in two fields",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "0\r\n\r\nS",
        Refused,
    ),
    (
        "identity in the second field",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "0\r\n\r\nS",
        Refused,
    ),
    ("xchunked", "Transfer-Encoding: xchunked", "0\r\n\r\nS", Refused),
    ("chunked with a parameter", "Transfer-Encoding: chunked;a=b", "0\r\n\r\nS", Refused),
    ("chunked after a control", "Transfer-Encoding: \x0bchunked", "0\r\n\r\nS", Refused),
    ("coding and a space", "Transfer-Encoding : chunked", "0\r\n\r\nS", Refused),
    ("chunk size with a sign", "Transfer-Encoding: chunked", "+20\r\nB\r\n0\r\n\r\nS", Refused),
    ("chunk size with 0x", "Transfer-Encoding: chunked", "0x20\r\nB\r\n0\r\n\r\nS", Refused),
    ("no chunk size", "Transfer-Encoding: chunked", "\r\nB\r\n0\r\n\r\nS", Refused),
    (
        "chunk size above 2^64",
        "Transfer-Encoding: chunked",
        "10000000000000020\r\nB\r\n0\r\n\r\nS",
        Refused,
    ),
    ("chunk of 2^63", "Transfer-Encoding: chunked", "8000000000000000\r\nB\r\n0\r\n\r\nS", Refused),
    ("chunk longer than said", "Transfer-Encoding: chunked", "1f\r\nB\r\n0\r\n\r\nS", Refused),
    ("chunk shorter than said", "Transfer-Encoding: chunked", "21\r\nB\r\n0\r\n\r\nS", Refused),
    ("LF after a chunk size", "Transfer-Encoding: chunked", "20\nB\r\n0\r\n\r\nS", Refused),
    ("LF after a chunk", "Transfer-Encoding: chunked", "20\r\nB\n0\r\n\r\nS", Refused),
    ("chunk extension", "Transfer-Encoding: chunked", "20;a=b\r\nB\r\n0\r\n\r\n", Once(201)),
    (
        "LF in a chunk extension",
        "Transfer-Encoding: chunked",
        "20;a\nb\r\nB\r\n0\r\n\r\nS",
        Refused,
    ),
    ("spaces after a chunk size", "Transfer-Encoding: chunked", "20 \r\nB\r\n0\r\n\r\n", Once(201)),
    (
        "length in the trailer",
        "Transfer-Encoding: chunked",
        "20\r\nB\r\n0\r\nContent-Length: 5\r\n\r\n",
        Once(201),
    ),
    ("NUL for a chunk size", "Transfer-Encoding: chunked", "\0\r\nB\r\n0\r\n\r\nS", Refused),
    (
        "coding in HTTP/1.0",
        "Transfer-Encoding: chunked\r\nX-Version: 1.0",
        "20\r\nB\r\n0\r\n\r\nS",
        Refused,
    ),
];

/// What came of sending these bytes and closing our side.
async fn outcome(target: &Target, bytes: &str) -> Outcome {
    let mut stream = target.connect().await;
    // The server may have heard enough before all is sent.
    let _ = stream.write_all(bytes.as_bytes()).await;
    let _ = stream.shutdown().await;
    let answer = eventually(Target::is_closed(stream)).await;
    let answer = String::from_utf8(answer).unwrap();
    let answers = answer.matches("HTTP/1.").count();
    assert!(answers <= 1, "two answers: {answer}");
    let Some(status) = answer.split(' ').nth(1) else { return Nothing };
    let status: u16 = status.parse().unwrap();
    let closes = answer.to_lowercase().contains("connection: close\r\n");
    match (status, closes) {
        (400, true) => Refused,
        (402..500, true) if status != 404 => RefusedAs(status),
        _ => Once(status),
    }
}

#[tokio::test]
async fn an_ambiguous_request_is_rejected_or_gets_one_response() {
    let target = Target::start(&[]);
    let mut cases: Vec<(String, String, Outcome)> = Vec::new();
    for (name, head, expected) in HEADS {
        cases.push(((*name).to_owned(), format!("{head}{}", smuggled_after(*expected)), *expected));
    }
    for (name, fields, rest, expected) in BODIES {
        let rest = rest.replace('B', "\u{1}").replace('S', SMUGGLED).replace('\u{1}', BODY);
        let mut post = POST.replace("KEY", &target.key);
        if fields.contains("X-Version: 1.0") {
            post = post.replace("HTTP/1.1", "HTTP/1.0");
        }
        cases.push((format!("body: {name}"), format!("{post}{fields}\r\n\r\n{rest}"), *expected));
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
    // Nothing was added but what was acknowledged.
    let added = cases.iter().filter(|(_, _, expected)| *expected == Once(201)).count();
    let animals = Healthy::of(&target).get("/pets?limit=100").await;
    assert_eq!(animals.as_array().unwrap().len(), added);
    eprintln!("{} cases", cases.len());
}

/// What is refused must not answer what comes after it, either.
fn smuggled_after(expected: Outcome) -> &'static str {
    if expected == Refused { SMUGGLED } else { "" }
}
