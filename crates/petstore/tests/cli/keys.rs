//! `petstore keys`.

use std::{fs, time::Duration};

use serde_json::Value;

use super::program::{Service, client, directory, new_key, run};

fn listed(directory: &std::path::Path) -> Vec<Value> {
    let done = run(directory, &["keys", "list", "--format", "json"]).expect_success();
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn create_prints_only_the_key_and_writes_messages_to_standard_error() {
    let here = directory();
    let done = run(here.path(), &["keys", "create", "--create", "--name", "me"]).expect_success();
    let key = done.stdout.strip_suffix('\n').unwrap();
    assert_eq!(key.len(), 46);
    assert!(
        key.starts_with("pets_live_") && !key.contains(char::is_whitespace),
        "{key}"
    );
    assert!(
        done.stderr.contains("me") && !done.stderr.contains(key),
        "{}",
        done.stderr
    );
}

#[test]
fn create_takes_scope_expiry_rate_limit_and_deployment() {
    let here = directory();
    let arguments = [
        "keys",
        "create",
        "--create",
        "--name",
        "robot",
        "--scope",
        "read",
        "--expires",
        "90d",
        "--rate-limit",
        "60/min",
        "--deployment",
        "staging",
    ];
    let done = run(here.path(), &arguments).expect_success();
    assert!(done.stdout.starts_with("pets_test_"));
    assert!(
        done.stderr
            .contains(": scope read, staging, at most 60/min, valid until "),
        "{done:?}"
    );
    let key = &listed(here.path())[0];
    assert_eq!(
        (&key["name"], &key["scope"]),
        (&"robot".into(), &"read".into())
    );
    assert_eq!(
        (&key["deployment"], &key["rateLimit"]),
        (&"staging".into(), &"60/min".into())
    );
    let time = |member: &str| {
        key[member]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
    };
    assert_eq!(
        time("expires").duration_since(time("created")).as_hours(),
        90 * 24
    );
}

#[test]
fn list_shows_every_member_and_never_a_secret() {
    let here = directory();
    let key = new_key(here.path());
    let keys = listed(here.path());
    assert_eq!(keys.len(), 1);
    let members: Vec<&String> = keys[0].as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "id",
            "name",
            "scope",
            "deployment",
            "created",
            "expires",
            "lastUsed",
            "lastDeprecatedCall",
            "revoked",
            "rateLimit"
        ]
    );
    let table = run(here.path(), &["keys", "list"]).expect_success().stdout;
    assert!(
        table.starts_with("ID  NAME  SCOPE  DEPLOYMENT  CREATED"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 2);
    let secret = &key["pets_live_".len()..];
    assert!(!table.contains(secret) && !format!("{keys:?}").contains(secret));
}

#[test]
fn the_secret_is_never_on_disk() {
    let here = directory();
    let key = new_key(here.path());
    for entry in fs::read_dir(here.path()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(
            !bytes
                .windows(key.len())
                .any(|window| window == key.as_bytes())
        );
    }
}

#[test]
fn a_key_has_one_of_five_scopes_which_list_shows_and_rotate_keeps() {
    let here = directory();
    new_key(here.path());
    let scopes = ["read", "write", "store:read", "store:write", "store:admin"];
    for (scope, id) in scopes.into_iter().zip(["2", "3", "4", "5", "6"]) {
        let create = ["keys", "create", "--name", scope, "--scope", scope];
        let message = run(here.path(), &create).expect_success().stderr;
        assert!(message.contains(&format!("scope {scope},")), "{message}");
        run(here.path(), &["keys", "rotate", id]).expect_success();
    }
    let list = run(here.path(), &["keys", "list", "--format", "json"])
        .expect_success()
        .stdout;
    let keys: Vec<Value> = serde_json::from_str(&list).unwrap();
    assert_eq!(keys.len(), 11);
    for key in &keys[1..] {
        assert_eq!(key["scope"], key["name"]);
    }
}

#[test]
fn every_error_is_one_line() {
    let here = directory();
    for (arguments, says) in [
        (&["keys", "create"][..], "--name"),
        (&["keys", "create", "--name", " "], "--name"),
        (
            &["keys", "create", "--name", "x", "--scope", "admin"],
            "values: read, write, store:read, store:write, store:admin]",
        ),
        (&["keys", "create", "--name", "two\nlines"], "--name"),
        (
            &["keys", "create", "--name", "x", "--expires", "0s"],
            "at least 1s",
        ),
        (&["keys", "create", "--name", "x", "--expires", "90"], "90d"),
        (
            &["keys", "create", "--name", "x", "--expires", "99999999y"],
            "too far",
        ),
        (
            &["keys", "create", "--name", "x", "--rate-limit", "60"],
            "600/min",
        ),
        (
            &["keys", "create", "--name", "x", "--database", "petstore.db"],
            "sqlite:",
        ),
        (
            &["keys", "list"],
            "/petstore.db; name the right one with --database",
        ),
        (
            &["keys", "revoke", "1"],
            "/petstore.db; name the right one with --database",
        ),
        (
            &["keys", "rotate", "1"],
            "/petstore.db; name the right one with --database",
        ),
        (&["keys", "revoke", "one"], "one"),
    ] {
        let line = run(here.path(), arguments).expect_one_line();
        assert!(line.contains(says), "{line}");
    }
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
    new_key(here.path());
    for command in ["revoke", "rotate"] {
        let line = run(here.path(), &["keys", command, "99"]).expect_one_line();
        assert!(line.contains("key 99 does not exist"), "{line}");
    }
}

#[test]
fn rotate_prints_a_key_of_the_same_kind_and_lets_the_old_one_expire() {
    let here = directory();
    let create =
        "keys create --create --name robot --scope read --rate-limit 9/s --deployment staging";
    let create: Vec<&str> = create.split(' ').collect();
    let old = run(here.path(), &create).expect_success().stdout;
    let rotate = ["keys", "rotate", "1", "--overlap", "12h"];
    let new = run(here.path(), &rotate).expect_success().stdout;
    assert!(new.starts_with("pets_test_") && new != old, "{new}");
    let keys = listed(here.path());
    for member in ["name", "scope", "deployment", "rateLimit"] {
        assert_eq!(keys[0][member], keys[1][member]);
    }
    let time = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let overlap = time(&keys[0]["expires"]).duration_since(time(&keys[1]["created"]));
    assert_eq!(overlap.as_hours(), 12);
    assert_eq!(keys[1]["expires"], Value::Null);
}

#[test]
fn a_key_is_rotated_once_and_after_that_its_successor() {
    let here = directory();
    new_key(here.path());
    run(here.path(), &["keys", "rotate", "1"]).expect_success();
    let line = run(here.path(), &["keys", "rotate", "1"]).expect_one_line();
    assert!(line.contains("rotate its successor, key 2"), "{line}");
    run(here.path(), &["keys", "rotate", "2"]).expect_success();
    assert_eq!(listed(here.path())[2]["expires"], Value::Null);
}

#[test]
fn a_key_that_cannot_be_printed_is_an_error_that_names_it() {
    let here = directory();
    let mut command =
        super::program::command(here.path(), &["keys", "create", "--create", "--name", "me"]);
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = command.stdout(full).output().unwrap();
    assert!(!output.status.success());
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("petstore keys revoke 1"), "{words}");
}

#[test]
fn a_revoked_key_is_not_rotated() {
    let here = directory();
    new_key(here.path());
    run(here.path(), &["keys", "revoke", "1"]).expect_success();
    assert_ne!(listed(here.path())[0]["revoked"], Value::Null);
    let line = run(here.path(), &["keys", "rotate", "1"]).expect_one_line();
    assert!(line.contains("revoked"), "{line}");
}

/// The status code of a list request with this key.
async fn status(url: &str, key: &str) -> u16 {
    let request = client().get(format!("{url}/pets")).bearer_auth(key);
    request.send().await.unwrap().status().as_u16()
}

// Within 5 seconds: `authentication::a_revoked_key_is_rejected_within_5_seconds`, with a clock of its own.
#[tokio::test]
async fn keys_can_be_managed_while_the_service_runs_and_a_revocation_takes_effect() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    let key = new_key(here.path());
    assert_eq!(status(&service.url, &key).await, 200);
    let rotated = run(here.path(), &["keys", "rotate", "1"])
        .expect_success()
        .stdout;
    assert_eq!(status(&service.url, rotated.trim_end()).await, 200);
    assert_eq!(status(&service.url, &key).await, 200);

    run(here.path(), &["keys", "revoke", "1"]).expect_success();
    let mut pace = tokio::time::interval(Duration::from_millis(100));
    let rejected = async {
        while status(&service.url, &key).await != 401 {
            pace.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), rejected)
        .await
        .expect("it is still accepted");
    assert_eq!(status(&service.url, rotated.trim_end()).await, 200);

    // Saved at shutdown at the latest.
    service.signal("TERM");
    assert!(service.wait().0.success());
    let keys = listed(here.path());
    assert!(
        keys.iter().all(|key| key["lastUsed"] != Value::Null),
        "{keys:?}"
    );
}
