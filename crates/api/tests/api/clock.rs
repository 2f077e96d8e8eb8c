//! The system clock changes by an hour while the service runs.

use std::time::Duration;

use jiff::SignedDuration;
use petstore_domain::{Clock, Scope};
use petstore_testing::harness::Server;

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const FRANK: &str = r#"{"name": "Frank", "categoryId": 1}"#;

#[tokio::test]
async fn a_clock_change_of_an_hour_breaks_nothing() {
    let server = Server::start().await;
    let start = server.clock.now();
    let (short_lived, id) = server
        .new_key(Scope::Read, Some(Duration::from_mins(30)))
        .await;
    let mut last_use = None;
    // Forward, back, back, forward: 20 times.
    for (round, offset) in [HOUR, SignedDuration::ZERO, -HOUR, SignedDuration::ZERO]
        .into_iter()
        .cycle()
        .take(20)
        .enumerate()
    {
        let name = format!("\"before-{round}\"");
        let before = server.post_with_idempotency_key(&name, FRANK).await;
        assert_eq!(before.status, 201);

        server.clock.set(start + offset);

        // A retry is recognized, and a new create gets the next id.
        let again = server.post_with_idempotency_key(&name, FRANK).await;
        assert_eq!(again.status, 201);
        assert_eq!(again.body, before.body);
        let new = server.post(FRANK).await;
        assert_eq!(new.status, 201);
        assert_eq!(
            new.json()["id"].as_i64(),
            before.json()["id"].as_i64().map(|id| id + 1)
        );
        // A key expires by the changed clock.
        let reply = server.get_with_key("/v1/pets", &short_lived).await;
        assert_eq!(reply.status, if offset == HOUR { 401 } else { 200 });
        // The last use never moves back.
        server.app.save_key_uses().await.unwrap();
        let used = server
            .store
            .get_key(id)
            .await
            .unwrap()
            .unwrap()
            .last_used_at;
        assert!(used >= last_use);
        last_use = used;
        // Requests of the last day are still remembered.
        assert!(!server.app.forget_old_requests().await.unwrap());
    }
    assert_eq!(
        server.get("/v1/pets?limit=100").await.ids(),
        (1..=40).collect::<Vec<_>>()
    );
    eprintln!("20 times the clock was set by an hour, 40 acknowledged, none lost or duplicated");
}
