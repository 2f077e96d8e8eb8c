//! `petstore copy`: from one database to another, and back.

use std::fs;

use serde_json::Value;

use super::{
    postgres_cluster::fresh_url,
    program::{Service, client, create, directory, run},
};

/// An export of all animals, in both formats.
fn exports(here: &std::path::Path, database: &str) -> [String; 2] {
    ["csv", "ndjson"].map(|format| {
        let export = ["export", "--format", format, "--database", database];
        run(here, &export).expect_success().stdout
    })
}

#[tokio::test]
async fn a_hundred_thousand_animals_are_copied_to_postgresql_on_to_another_and_back_unchanged() {
    let here = directory();
    let shelter = include_str!("../data/shelter-animals.csv");
    let (header, animals) = shelter.split_once('\n').unwrap();
    fs::write(here.path().join("many.csv"), format!("{header}\n{}", animals.repeat(10))).unwrap();
    let original = "sqlite:petstore.db";
    run(here.path(), &["import", "many.csv", "--create"]).expect_success();
    let created =
        run(here.path(), &["keys", "create", "--create", "--name", "me"]).expect_success();
    let key = created.stdout.trim_end();
    run(here.path(), &["keys", "rotate", "1"]).expect_success();
    // An animal with a remembered request.
    let service = Service::start(here.path(), &[]);
    let client = client();
    let create = |url: &str| create(&client, url, key, "Frank").header("Idempotency-Key", "k");
    let animal: Value = create(&service.url).send().await.unwrap().json().await.unwrap();
    service.kill();

    let (there, further, back) = (fresh_url().await, fresh_url().await, "sqlite:back.db");
    for (from, to, kind) in [
        (original, &*there, "postgres:"),
        (&there, &further, "postgres:"),
        (&further, back, "sqlite:"),
    ] {
        let said = run(here.path(), &["copy", "--from", from, "--to", to]).expect_success();
        let expected =
            "Copied 100001 animals, 0 orders, 0 categories, 2 API keys and 1 idempotency key from ";
        assert!(said.stderr.starts_with(expected), "{said:?}");
        assert!(said.stderr.contains(&format!(" to {kind}")), "{said:?}");
    }
    let expected = exports(here.path(), original);
    assert_eq!(expected[0].lines().count(), 100_002);
    let keys = |database: &str| {
        let list = ["keys", "list", "--format", "json", "--database", database];
        run(here.path(), &list).expect_success().stdout
    };
    for copy in [&further, back] {
        assert!(exports(here.path(), copy) == expected, "{copy}");
        assert_eq!(keys(copy), keys(original));
        let service = Service::start(here.path(), &["--database", copy]);
        let again: Value = create(&service.url).send().await.unwrap().json().await.unwrap();
        assert_eq!(again, animal);
        let next = super::program::create(&client, &service.url, key, "Zoe").send().await.unwrap();
        assert_eq!(next.json::<Value>().await.unwrap()["id"], 100_002);
    }
    run(here.path(), &["check", "--database", back]).expect_success();
}

#[tokio::test]
async fn a_missing_identical_or_non_empty_database_is_rejected_and_stays_unchanged() {
    let here = directory();
    fs::write(here.path().join("one.csv"), "name,categoryId\nFrank,1\n").unwrap();
    run(here.path(), &["import", "one.csv", "--create"]).expect_success();
    std::os::unix::fs::symlink("petstore.db", here.path().join("link.db")).unwrap();
    let postgres = fresh_url().await;
    run(here.path(), &["keys", "create", "--create", "--name", "me", "--database", &postgres])
        .expect_success();
    let before = exports(here.path(), "sqlite:petstore.db");
    for (from, to, says) in [
        ("sqlite:petstore.db", "sqlite:petstore.db", "must be different databases"),
        ("sqlite:petstore.db", "sqlite:link.db", "must be different databases"),
        ("sqlite:petstore.db", &postgres, "is not empty; nothing was copied"),
        (&postgres, "sqlite:petstore.db", "is not empty; nothing was copied"),
        (&postgres, &postgres, "must be different databases"),
        ("sqlite:absent.db", "sqlite:new.db", "/absent.db; name the right one with --database"),
        ("absent.db", "sqlite:new.db", "invalid value for '--from <URL>': "),
        ("sqlite:petstore.db", "new.db", "invalid value for '--to <URL>': "),
    ] {
        let line = run(here.path(), &["copy", "--from", from, "--to", to]).expect_one_line();
        assert!(line.contains(says), "{line}");
        assert!(!line.contains("csearch_path"), "{line}");
    }
    assert_eq!(exports(here.path(), "sqlite:petstore.db"), before);
    assert!(!here.path().join("new.db").exists());
}
