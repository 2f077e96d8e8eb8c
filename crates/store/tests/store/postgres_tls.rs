//! PostgreSQL over TCP: passwords, and the TLS modes of `sslmode`.

use std::{fs, path::PathBuf};

use petstore_store::OpenMode;
use petstore_testing::stores::AnyStore;

use crate::{
    postgres::open,
    postgres_cluster::{cluster, connect},
};

/// The directory and the port of the cluster.
pub(crate) fn folder_and_port() -> (PathBuf, String) {
    let (folder, port) = cluster()
        .split(['@', '/'])
        .nth(3)
        .unwrap()
        .split_once(':')
        .unwrap();
    (folder.replace("%2F", "/").into(), port.to_owned())
}

/// Opens a database over TCP, or returns the error message.
async fn reach(host: &str, password: Option<&str>, options: &str) -> Result<AnyStore, String> {
    let (folder, port) = folder_and_port();
    let password = password.map_or_else(
        || {
            fs::read_to_string(folder.join("password"))
                .unwrap()
                .trim()
                .to_owned()
        },
        str::to_owned,
    );
    let options = options.replace("ROOT", folder.join("root.crt").to_str().unwrap());
    let url = format!("postgres://petstore:{password}@{host}:{port}/postgres?{options}");
    let opened = open(&url, OpenMode::CreateAndMigrate).await;
    let message = opened.map_err(|error| error.to_string());
    assert!(
        message
            .as_ref()
            .err()
            .is_none_or(|message| !message.contains(&password))
    );
    message
}

#[tokio::test]
async fn sslmode_determines_how_the_server_is_verified() {
    let other = connect(cluster()).await;
    other.batch_execute("CREATE SCHEMA over_tcp").await.unwrap();
    // The certificate is for `localhost`, signed by the root of the cluster.
    for (host, options, expected) in [
        ("127.0.0.1", "sslmode=disable", Ok(false)),
        ("127.0.0.1", "", Ok(true)),
        ("127.0.0.1", "sslmode=require", Ok(true)),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=ROOT", Ok(true)),
        (
            "127.0.0.1",
            "sslmode=verify-full&sslrootcert=ROOT",
            Err("not valid for name"),
        ),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=ROOT",
            Ok(true),
        ),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=system",
            Err("UnknownIssuer"),
        ),
        // The name is wrong too, but the error is about the chain, which is checked first.
        (
            "127.0.0.1",
            "sslmode=verify-ca&sslrootcert=system",
            Err("UnknownIssuer"),
        ),
    ] {
        let case = format!("{host} {options}");
        let options = format!("{options}&options=-csearch_path%3Dover_tcp&application_name=tcp");
        match (reach(host, None, &options).await, expected) {
            (Ok(store), Ok(encrypted)) => {
                store.list_keys().await.unwrap();
                let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                    WHERE application_name = 'tcp' ORDER BY backend_start DESC LIMIT 1";
                let row = other.query_one(sql, &[]).await.unwrap();
                assert_eq!(row.get::<_, bool>(0), encrypted, "{case}");
            }
            (Err(message), Err(reason)) => assert!(message.contains(reason), "{case}: {message}"),
            (reached, _) => panic!("{case}: {:?}", reached.map(drop)),
        }
    }
}

#[tokio::test]
async fn a_wrong_password_is_reported_in_one_line_that_does_not_repeat_it() {
    let message = reach("localhost", Some("s3cret"), "").await.err().unwrap();
    assert!(
        message.contains("password authentication failed"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
}
