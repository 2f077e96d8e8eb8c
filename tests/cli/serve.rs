//! `petstore serve`: its first minutes, its log, its end.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::program::{Service, client, create, directory, new_key};

#[tokio::test]
async fn term_and_interrupt_end_it_with_success() {
    for signal in ["TERM", "INT"] {
        let here = directory();
        let service = Service::start(here.path(), &[]);
        let key = new_key(here.path());
        let created = create(&client(), &service.url, &key, "Frank").send().await.unwrap();
        assert_eq!(created.status(), 201);
        service.signal(signal);
        let (status, log) = service.wait();
        assert_eq!(status.code(), Some(0), "{log}");
        // Closed well: all is in the one file.
        assert!(!here.path().join("petstore.db-wal").exists());
    }
}

#[test]
fn without_a_terminal_it_makes_no_key_and_says_how_to() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    service.signal("TERM");
    let (_, log) = service.wait();
    assert!(log.contains("petstore keys create --name NAME"), "{log}");
    assert!(!log.contains("pets_live_"), "{log}");
    let list = super::program::run(here.path(), &["keys", "list", "--format", "json"]);
    assert_eq!(list.stdout, "[]\n");
}

/// Runs `petstore serve` in a terminal of its own until it has said `last`,
/// then presses Ctrl-C. Returns all that it showed, and whether it succeeded.
fn at_a_terminal(here: &Path, last: &str) -> (String, bool) {
    // In the place of the shell: one that waits beside it may die of the Ctrl-C.
    let serve = format!("exec '{}' serve --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_petstore"));
    let mut terminal = Command::new("script")
        .args(["-qec", &serve, "/dev/null"])
        .current_dir(here)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keyboard = terminal.stdin.take().unwrap();
    let mut screen = BufReader::new(terminal.stdout.take().unwrap());
    let mut shown = String::new();
    while !shown.contains(last) {
        assert_ne!(screen.read_line(&mut shown).unwrap(), 0, "{shown}");
    }
    keyboard.write_all(b"\x03").unwrap();
    screen.read_to_string(&mut shown).unwrap();
    (shown, terminal.wait().unwrap().success())
}

#[test]
fn the_first_start_at_a_terminal_shows_a_key_once_with_a_curl_line_that_works() {
    let here = directory();
    let (shown, ended_well) = at_a_terminal(here.path(), "curl");
    assert!(ended_well, "{shown}");
    let key = shown.lines().map(str::trim).find(|line| line.starts_with("pets_live_")).unwrap();
    assert_eq!(key.len(), 46);
    let curl = shown.lines().map(str::trim).find(|line| line.starts_with("curl")).unwrap();
    assert!(curl.starts_with(&format!("curl -H 'Authorization: Bearer {key}' http://127.0.0.1:")));
    assert!(curl.ends_with("/v1/pets"), "{curl}");
    assert!(shown.lines().any(|line| line.trim().ends_with("/docs")), "{shown}");

    let (shown, _) = at_a_terminal(here.path(), "serving");
    assert!(!shown.contains("pets_live_"), "{shown}");
    // Pasted as it is, but for the port, which is another one by now.
    let service = Service::start(here.path(), &[]);
    let (before, _) = curl.split_once("http://").unwrap();
    let pasted = format!("{before}{}/pets", service.url);
    let list = Command::new("sh").args(["-c", &pasted]).output().unwrap();
    assert_eq!(list.stdout, b"[]");
}

#[test]
fn the_start_message_names_the_docs() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    assert_eq!(service.first_lines[0]["docs"], service.url.replace("/v1", "/docs"));
}

#[tokio::test]
async fn every_request_is_logged_when_asked_for_and_no_secret_is() {
    let here = directory();
    let service = Service::start(here.path(), &["--access-log"]);
    assert_eq!(service.first_lines.len(), 1);
    let key = new_key(here.path());
    let client = client();
    let traced = create(&client, &service.url, &key, "Frank")
        .header("x-request-id", "mine-1")
        .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    assert_eq!(traced.send().await.unwrap().status(), 201);
    let secret = format!("{key}x");
    let refused = client.get(format!("{}/pets/1?token={key}", service.url)).bearer_auth(&secret);
    assert_eq!(refused.send().await.unwrap().status(), 401);
    service.signal("TERM");
    let (_, log) = service.wait();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<&Value> = lines.iter().filter(|line| line["message"] == "request").collect();
    assert_eq!(requests.len(), 2, "{log}");
    let created = requests[0];
    for (field, value) in [
        ("method", json!("POST")),
        ("route", json!("/v1/pets")),
        ("status", json!(201)),
        ("request_id", json!("mine-1")),
        ("key_id", json!(1)),
        ("trace_id", json!("4bf92f3577b34da6a3ce929d0e0e4736")),
    ] {
        assert_eq!(created[field], value, "{field}");
    }
    assert!(created["duration_us"].as_u64().is_some());
    assert!(!log.contains(&key["pets_live_".len()..]), "{log}");
}

#[tokio::test]
async fn without_the_access_log_a_good_request_leaves_no_line() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    let key = new_key(here.path());
    let created = create(&client(), &service.url, &key, "Frank").send().await.unwrap();
    assert_eq!(created.status(), 201);
    service.signal("TERM");
    let (_, log) = service.wait();
    assert!(!log.contains("201"), "{log}");
}

#[tokio::test]
async fn keys_are_held_to_the_limit_that_was_asked_for_and_guesses_to_theirs() {
    let here = directory();
    let service =
        Service::start(here.path(), &["--rate-limit", "1/h", "--failed-auth-limit", "1/h"]);
    let key = new_key(here.path());
    let status = async |key: &str| {
        let request = client().get(format!("{}/pets", service.url)).bearer_auth(key);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((status(&key).await, status(&key).await), (200, 429));
    assert_eq!((status("wrong").await, status("wrong").await), (401, 429));
}
