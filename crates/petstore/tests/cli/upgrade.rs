//! Databases of earlier releases, in their original form.

use std::fs;

use petstore_domain::{Deployment, KeyDigest};
use reqwest::StatusCode;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{
    postgres_cluster::{connect, fresh_url},
    program::{Service, client, create, directory, run},
};

/// The keys of `tests/data/schema-1.sqlite`, by their state.
const WRITER: &str = "pets_live_Bh2udaGKqzkqL3phMf4thF8Hum5Kdx1zMK1w";
const READER: &str = "pets_live_qn7SidDpQ9lUHCerIcsOVmvnvjgIfb0B071K";
const REVOKED: &str = "pets_live_vTk4Ib9Q3pEqW6n5mBjT1eBwVhne4z4N8K8h";
const EXPIRED: &str = "pets_live_YOdAkz3J52QjZcgHugyxqscas5hFZD0BsS3M";
const STAGING: &str = "pets_test_7PhkddaLxgCQHYQVaZgRAuU032nUuZ3VFAYW";

fn schema_version(path: &std::path::Path) -> u32 {
    let database = Connection::open(path).unwrap();
    database
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

#[tokio::test]
async fn a_file_with_the_first_schema_is_migrated_and_its_keys_work() {
    let here = directory();
    let path = here.path().join("petstore.db");
    fs::write(
        &path,
        include_bytes!("../../../../tests/data/schema-1.sqlite"),
    )
    .unwrap();
    assert_eq!(schema_version(&path), 1);
    // Listing keys does not migrate the file.
    let line = run(here.path(), &["keys", "list"]).expect_one_line();
    assert!(line.contains("petstore serve"), "{line}");

    let service = Service::start(here.path(), &[]);
    let client = client();
    let list = async |key: &str| {
        client
            .get(format!("{}/pets", service.url))
            .bearer_auth(key)
            .send()
            .await
            .unwrap()
    };
    let pets = json!([
        { "id": 1, "name": "Frank", "categoryId": 1, "status": "available" },
        { "id": 2, "name": "", "categoryId": i64::MIN, "status": "pending" },
        { "id": 3, "name": "Zoë \"Q\", 🐈", "categoryId": i64::MAX, "status": "sold" },
    ]);
    for key in [WRITER, READER] {
        assert_eq!(list(key).await.json::<Value>().await.unwrap(), pets);
    }
    for (pet, status) in ["available", "pending", "sold"].iter().enumerate() {
        let of_status = format!("{}/pets?status={status}", service.url);
        let response = client
            .get(of_status)
            .bearer_auth(READER)
            .send()
            .await
            .unwrap();
        assert_eq!(response.json::<Value>().await.unwrap(), json!([pets[pet]]));
    }
    for key in [REVOKED, EXPIRED, STAGING] {
        assert_eq!(list(key).await.status(), StatusCode::UNAUTHORIZED);
    }
    let rejected = create(&client, &service.url, READER, "x")
        .send()
        .await
        .unwrap();
    assert_eq!(rejected.status(), StatusCode::FORBIDDEN);
    let created = create(&client, &service.url, WRITER, "new")
        .send()
        .await
        .unwrap();
    assert_eq!(created.json::<Value>().await.unwrap()["id"], 4);
    service.signal("TERM");
    assert!(service.wait().0.success());

    let report = run(here.path(), &["check"]).expect_success().stdout;
    assert!(report.contains("is valid: 4 animals, 7 keys"), "{report}");
    let fresh = directory();
    super::program::new_key(fresh.path());
    assert_eq!(
        schema_version(&path),
        schema_version(&fresh.path().join("petstore.db"))
    );
}

/// The first schema on PostgreSQL, as the first release left it.
const FIRST_POSTGRES_SCHEMA: &str = concat!(
    include_str!("../../../store-postgres/migrations/0001_catalogue.sql"),
    "CREATE TABLE petstore_schema (
         only_row BOOLEAN PRIMARY KEY CHECK (only_row), version BIGINT NOT NULL);
     INSERT INTO petstore_schema VALUES (TRUE, 1);
     INSERT INTO pets (name, category_id, status) VALUES ('Frank', 1, 'sold');"
);

#[tokio::test]
async fn a_cluster_with_the_first_schema_is_migrated_and_its_keys_work() {
    let here = directory();
    let database = fresh_url().await;
    let cluster = connect(&database).await;
    cluster.batch_execute(FIRST_POSTGRES_SCHEMA).await.unwrap();
    let digest = KeyDigest::from_presented(WRITER, Deployment::Production).unwrap();
    let insert = "INSERT INTO api_keys (digest, name, scope, deployment, created_at)
        VALUES ($1, 'writer', 'write', 'production', 1)";
    cluster
        .execute(insert, &[&digest.as_bytes().as_slice()])
        .await
        .unwrap();
    let list_keys = ["keys", "list", "--database", &database];
    assert!(
        run(here.path(), &list_keys)
            .expect_one_line()
            .contains("petstore serve")
    );

    let service = Service::start(here.path(), &["--database", &database]);
    let client = client();
    let created = create(&client, &service.url, WRITER, "new")
        .send()
        .await
        .unwrap();
    assert_eq!(created.json::<Value>().await.unwrap()["id"], 2);
    let list = client
        .get(format!("{}/pets", service.url))
        .bearer_auth(WRITER)
        .send();
    let list: Value = list.await.unwrap().json().await.unwrap();
    assert_eq!(
        (&list[0]["name"], &list[1]["name"]),
        (&json!("Frank"), &json!("new"))
    );
    run(here.path(), &list_keys).expect_success();
}
