//! The examples in the document of the store area. Requests about a few animals produce each of
//! them, and what the service sends must equal it. What must differ is left out of the comparison:
//! secrets, the ids of messages, cursors, and the tags of pages. The clock of the test and the id of
//! the request make everything else the same in each run and on both stores.

mod document;
mod refusals;
mod story;

use std::collections::BTreeSet;

use petstore_testing::{contract::STORE_AREA, harness::Server, pictures, reply::Reply};
use reqwest::header::HeaderValue;
use serde_json::{Map, Value};

use self::document::{Operation, REQUEST_ID, operation, operations, texts, yaml};

/// Responses that no request of a client provokes. `placeOrder` over a store that fails produces
/// them, and each example of them, of any operation, must be one of those.
const OUTAGES: [&str; 2] = ["500", "503"];

#[tokio::test]
async fn every_example_in_the_document_is_what_the_service_sends() {
    let mut book = Book::default();
    story::tell(&mut book).await;
    refusals::provoke(&mut book).await;
    book.close();
}

/// A request of an operation.
#[derive(Clone, Copy, Default)]
struct Request<'a> {
    key: &'a str,
    /// What the braces in the path stand for.
    id: &'a str,
    query: &'a str,
    fields: &'a [(&'a str, &'a str)],
    /// JSON, the name of an example of a request, `@picture`, `@small`, `@truncated`, or another text after
    /// `@` instead of a picture.
    body: &'a str,
}

/// What was produced.
#[derive(Default)]
struct Book {
    /// Such as `getOrder 404 not_found`, and `placeOrder request reserve`.
    shown: BTreeSet<String>,
    /// The values of header fields that were sent.
    fields: BTreeSet<String>,
    outages: Vec<Value>,
    wrong: Vec<String>,
}

impl Book {
    async fn send(&mut self, server: &Server, id: &str, request: Request<'_>) -> Reply {
        let operation = operation(id);
        let mut target = operation.target(request.id);
        if !request.query.is_empty() {
            target = format!("{target}?{}", request.query);
        }
        let bearer = format!("Bearer {}", request.key);
        let mut fields = vec![("x-request-id", REQUEST_ID)];
        if !request.key.is_empty() {
            fields.push(("authorization", &bearer));
        }
        let (media_type, body) = self.body(&operation, request.body);
        let has_type = request
            .fields
            .iter()
            .any(|(name, _)| *name == "content-type");
        if !body.is_empty() && !has_type {
            fields.push(("content-type", media_type));
        }
        fields.extend(request.fields);
        server
            .send(operation.method.parse().unwrap(), &target, &fields, body)
            .await
    }

    /// A body with its media type.
    fn body(&mut self, operation: &Operation, body: &str) -> (&'static str, Vec<u8>) {
        if let Some(text) = body.strip_prefix('@') {
            let picture = match text {
                "picture" => picture(),
                "small" => pictures::png(16, 16),
                "truncated" => picture()[..99].to_vec(),
                text => text.as_bytes().to_vec(),
            };
            return ("image/png", picture);
        }
        if body.is_empty() || body.starts_with(['{', '[']) {
            return ("application/json", body.as_bytes().to_vec());
        }
        self.shown
            .insert(format!("{} request {body}", operation.id));
        let content = operation.value["requestBody"]["content"]
            .as_object()
            .unwrap();
        let mut examples = content.iter().filter_map(|(media_type, content)| {
            let value = content["examples"].get(body)?.get("value")?;
            Some((media_type.as_str(), value.to_string().into_bytes()))
        });
        let found = examples.next();
        found.unwrap_or_else(|| panic!("{} has no request example {body}", operation.id))
    }

    /// Sends a request, and compares the response with an example, such as `getOrder 404 not_found`.
    async fn show(&mut self, server: &Server, example: &str, request: Request<'_>) -> Reply {
        let id = example.split(' ').next().unwrap();
        let reply = self.send(server, id, request).await;
        self.compare(example, &reply);
        reply
    }

    fn compare(&mut self, example: &str, reply: &Reply) {
        let words: Vec<&str> = example.split(' ').collect();
        let &[id, status, name] = words.as_slice() else {
            panic!("{example}")
        };
        let response = &operation(id).value["responses"][status];
        self.shown.insert(example.to_owned());
        if reply.status.as_str() != status {
            let body = String::from_utf8_lossy(&reply.body);
            self.wrong.push(format!(
                "{example}: the service sent {} {body}",
                reply.status
            ));
            return;
        }
        let media = response["content"].get("application/json");
        let declared = media.map(|media| &media["examples"][name]["value"]);
        if let Some(declared) = declared {
            let sent = reply.json();
            if comparable(declared) != comparable(&sent) {
                self.wrong
                    .push(format!("{example}: the service sent\n{}", yaml(&sent)));
            }
        }
        for (field, header) in response["headers"].as_object().unwrap() {
            // Each response that a test receives is checked for missing fields: `contract::check`.
            let Some(sent) = reply.header(field) else {
                continue;
            };
            let sent = without_cursor(sent);
            self.fields.insert(sent.clone());
            let expected = expected_values(field, header, name, declared);
            if !expected.is_empty() && !expected.contains(&sent) {
                let problem = format!("the service sent {field}: {sent}, not {expected:?}");
                self.wrong.push(format!("{example}: {problem}"));
            }
        }
    }

    /// Compares an event of a stream, of which only the id must differ.
    fn compare_event(&mut self, example: &str, id: &str, data: &Value) {
        let words: Vec<&str> = example.split(' ').collect();
        let media = &operation(words[0]).value["responses"][words[1]]["content"];
        let declared = media["text/event-stream"]["examples"][words[2]]["value"].as_str();
        self.shown.insert(example.to_owned());
        let sent = format!("id: {id}\ndata: {data}\n\n");
        let without_id = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
        if without_id(declared.unwrap_or_default()) != without_id(&sent) {
            self.wrong
                .push(format!("{example}: the service sent\n{sent}"));
        }
    }

    /// Fails unless the document and what was produced are the same.
    fn close(mut self) {
        for operation in operations() {
            for (status, response) in operation.value["responses"].as_object().unwrap() {
                let examples = document::examples(response);
                if examples.is_empty() {
                    self.wrong
                        .push(format!("{} {status} has no named example", operation.id));
                }
                for (name, value) in examples {
                    let example = format!("{} {status} {name}", operation.id);
                    let is_shown = if OUTAGES.contains(&&**status) {
                        self.outages.contains(&value)
                    } else {
                        self.shown.contains(&example)
                    };
                    if !is_shown {
                        self.wrong
                            .push(format!("{example} is in the document, but never sent"));
                    }
                }
            }
            for name in operation.request_examples() {
                let example = format!("{} request {name}", operation.id);
                if !self.shown.contains(&example) {
                    self.wrong
                        .push(format!("{example} is in the document, but never used"));
                }
            }
        }
        for (name, header) in STORE_AREA["components"]["headers"].as_object().unwrap() {
            for value in texts(header) {
                let value = without_cursor(&value);
                let is_sent = self.fields.iter().any(|sent| is_like(sent, &value));
                // `contract::check` compares a constant with each response.
                if !is_sent && header["schema"].get("const").is_none() {
                    self.wrong
                        .push(format!("{value}, an example of {name}, is never sent"));
                }
            }
        }
        assert!(
            self.wrong.is_empty(),
            "{} examples of openapi-store.source.yaml are wrong. Correct them:\n\n{}",
            self.wrong.len(),
            self.wrong.join("\n\n")
        );
    }
}

/// A PNG of 960 x 720 pixels.
fn picture() -> Vec<u8> {
    pictures::png(960, 720)
}

/// The values that a header field may have in a response with this example. Empty for a tag of a
/// page, which depends on the database.
fn expected_values(
    field: &str,
    header: &Value,
    name: &str,
    declared: Option<&Value>,
) -> Vec<String> {
    if field == "ETag" {
        let version = declared.and_then(|body| body["version"].as_i64());
        return version
            .map(|version| format!("\"{version}\""))
            .into_iter()
            .collect();
    }
    if let Some(named) = header["examples"].get(name) {
        return vec![without_cursor(named["value"].as_str().unwrap())];
    }
    texts(header)
        .iter()
        .map(|text| without_cursor(text))
        .collect()
}

/// Whether two values of a header field are the same, or both tags of pages.
fn is_like(sent: &str, declared: &str) -> bool {
    sent == declared || (sent.starts_with("W/") && declared.starts_with("W/"))
}

/// A header field without its cursors.
fn without_cursor(value: &str) -> String {
    let pieces = value.split_inclusive(['?', '&']).map(|piece| {
        let is_cursor = piece.starts_with("cursor=") || piece.starts_with("after=");
        let end = piece.find(['>', '&']).unwrap_or(piece.len());
        match piece.split_once('=') {
            Some((name, _)) if is_cursor => format!("{name}=CURSOR{}", &piece[end..]),
            _ => piece.to_owned(),
        }
    });
    pieces.collect()
}

/// A body without what must differ.
fn comparable(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !["secret", "messageId"].contains(&name.as_str()))
            .map(|(name, member)| (name.clone(), comparable(member)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(elements) => elements.iter().map(comparable).collect(),
        other => other.clone(),
    }
}

/// A response over a connection that it closes.
fn closing(response: &str) -> Reply {
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    let fields = lines.map(|line| line.split_once(": ").unwrap());
    let headers = fields
        .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect();
    Reply {
        status,
        headers,
        body: body.as_bytes().to_vec(),
    }
}
