//! A PostgreSQL cluster for the tests of one program, started by the first test that needs it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio_postgres::{Client, NoTls};

/// A PostgreSQL cluster.
pub struct Cluster {
    /// The URL of a superuser.
    pub url: String,
    /// Exits and removes the cluster when its standard input closes: when this is dropped, or this
    /// program exits in any way.
    _running: Child,
}

impl Cluster {
    pub fn start() -> Self {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../scripts/throwaway-postgres"
        );
        let mut running = Command::new(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(running.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        assert!(
            url.starts_with("postgres://"),
            "there is no PostgreSQL to test with"
        );
        Self {
            url: url.trim_end().to_owned(),
            _running: running,
        }
    }
}

/// The URL of the shared cluster.
pub fn cluster() -> &'static str {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    &CLUSTER.get_or_init(Cluster::start).url
}

/// The URL of a fresh, empty schema, which serves as a separate database.
pub async fn fresh_url() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let client = connect(cluster()).await;
    client
        .batch_execute(&format!("CREATE SCHEMA {name}"))
        .await
        .unwrap();
    format!(
        "{}?options=-csearch_path%3D{name}&application_name={name}",
        cluster()
    )
}

/// A separate connection for the test; closed when dropped.
pub async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
