//! Tests of `src/app/keys/mod.rs`.

use std::net::IpAddr;

use futures_util::future::join_all;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    domain::{ApiKey, SystemClock},
    store::{OpenMode, sqlite::SqliteStore},
};

#[tokio::test]
async fn a_million_invalid_keys_take_no_memory() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let store = Arc::new(SqliteStore::open(&path, OpenMode::CreateAndMigrate).unwrap());
    let mut random = StdRng::seed_from_u64(1);
    let ring = KeyRing::new(store, Arc::new(SystemClock), Deployment::Production, None);
    let client = Client::from(IpAddr::from([192, 0, 2, 1]));
    let is_rejected = async |key: &str| {
        let error = ring.authenticate(key.as_bytes(), &client).await.err();
        matches!(error, Some(KeyError::Invalid))
    };
    for number in 0..998_000 {
        assert!(is_rejected(&number.to_string()).await);
    }
    // These keys are well-formed, and arrive at the same time.
    let keys: Vec<_> =
        (0..2_000).map(|_| ApiKey::generate(Deployment::Production, &mut random)).collect();
    let rejected = join_all(keys.iter().map(|key| is_rejected(key.reveal()))).await;
    assert!(rejected.into_iter().all(|is_rejected| is_rejected));
    assert_eq!(ring.known.read().unwrap().len(), 0);
    // One reading for the first key, and one for all the others.
    assert_eq!(ring.issued.count_readings(), 2);
}
