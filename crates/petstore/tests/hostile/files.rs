//! Too few open files: the service logs it, accepts what it can, and recovers.

use std::{fs, process::Command, time::Duration};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    program::{Service, command, directory},
    target::{Healthy, Target, eventually},
};

/// The log lines with this message.
fn lines(log: &str, message: &str) -> Vec<Value> {
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["message"].as_str().unwrap().contains(message))
        .collect()
}

#[tokio::test]
async fn without_free_file_descriptors_the_service_logs_it_and_recovers() {
    let target = Target::start(&[]);
    let healthy = Healthy::of(&target);
    healthy.round().await;
    let files = target.open_files();
    // Leaves room for ten more connections.
    let limit = format!("--nofile={}:", files + 10);
    let pid = target.service.pid().to_string();
    assert!(
        Command::new("prlimit")
            .args(["--pid", &pid, &limit])
            .status()
            .unwrap()
            .success()
    );
    let mut connections = Vec::new();
    for _ in 0..20 {
        connections.push(target.connect().await);
    }
    // The last connection is not accepted, so it gets no response.
    let last = connections.last_mut().unwrap();
    last.write_all(b"GET /docs HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut response = [0; 12];
    let waited = tokio::time::timeout(Duration::from_secs(1), last.read_exact(&mut response)).await;
    assert!(waited.is_err(), "{waited:?}");
    // Until others close.
    connections.drain(..15);
    let last = connections.last_mut().unwrap();
    eventually(last.read_exact(&mut response)).await.unwrap();
    assert_eq!(&response, b"HTTP/1.1 308");
    healthy.round().await;
    target.service.signal("TERM");
    let (status, log) = target.service.wait();
    assert!(status.success(), "{log}");
    let logged = lines(&log, "could not be accepted");
    let failures: u64 = logged
        .iter()
        .map(|line| line["failures"].as_u64().unwrap())
        .sum();
    assert!(
        !logged.is_empty() && failures > logged.len() as u64,
        "{log}"
    );
}

#[test]
fn the_limit_of_open_files_is_raised_or_limits_the_connections() {
    let here = directory();
    let serve = command(here.path(), &[]);
    let mut limited = Command::new("sh");
    let script = "ulimit -S -n 300; ulimit -H -n 600; exec \"$0\" serve --listen 127.0.0.1:0";
    limited
        .args(["-c", script])
        .arg(serve.get_program())
        .current_dir(here.path());
    let service = Service::from(limited);
    let limits = fs::read_to_string(format!("/proc/{}/limits", service.pid())).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("600"), "{files}");
    let words = "too low for 10000 connections, so the service accepts 300";
    let logged = |line: &Value| line["message"].as_str().unwrap().contains(words);
    assert!(
        service.first_lines.iter().any(logged),
        "{:?}",
        service.first_lines
    );
}
