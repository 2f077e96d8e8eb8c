//! `petstore audit`.

use serde_json::Value;

use super::program::{Service, client, create, directory, run};

#[tokio::test(flavor = "multi_thread")]
async fn audit_prints_the_trail_of_the_interface_as_text_or_ndjson() {
    let here = directory();
    let new_key = [
        "keys",
        "create",
        "--create",
        "--name",
        "boss",
        "--scope",
        "store:admin",
    ];
    let key = run(here.path(), &new_key)
        .expect_success()
        .stdout
        .trim()
        .to_owned();
    let service = Service::start(here.path(), &[]);
    let client = client();
    let created = create(&client, &service.url, &key, "Rex\u{7}")
        .send()
        .await
        .unwrap();
    assert_eq!(created.status(), 201);
    let request_id = created.headers()["x-request-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let url = format!("{}/store/audit", service.url);
    let served: Vec<Value> = client
        .get(url)
        .bearer_auth(&key)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(served.len(), 2);

    let printed = run(here.path(), &["audit", "--format", "ndjson"])
        .expect_success()
        .stdout;
    let lines: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines, served);

    let text = run(here.path(), &["audit"]).expect_success().stdout;
    let (first, second) = text.split_once('\n').unwrap();
    assert!(
        first.contains("  key.created  key:1  by command"),
        "{first}"
    );
    assert!(!text.contains(&key));
    let at = served[1]["at"].as_str().unwrap();
    let line =
        format!("{at}  pet.added  pet:1  by key:1 (boss)  version 1  request {request_id}\n");
    assert_eq!(second, line);

    for (option, value, count) in [
        ("--subject", "pet:1", 1),
        ("--actor", "key:1", 1),
        ("--type", "key.created", 1),
        ("--since", at, 1),
        ("--until", "2020-01-01T00:00:00Z", 0),
    ] {
        let printed = run(here.path(), &["audit", option, value])
            .expect_success()
            .stdout;
        assert_eq!(printed.lines().count(), count, "{option} {value}");
    }
}

#[test]
fn an_invalid_filter_is_one_line_with_what_is_allowed() {
    let here = directory();
    for (option, value, says) in [
        ("--subject", "dog:1", "pet:7, order:3 or key:2"),
        ("--actor", "key", "a key such as key:3"),
        ("--type", "pet.sold", "pet.changed"),
        ("--since", "yesterday", "2026-11-01T00:00:00Z"),
    ] {
        let line = run(here.path(), &["audit", option, value]).expect_one_line();
        assert!(line.contains(says), "{line}");
    }
}
