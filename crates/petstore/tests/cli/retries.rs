//! Creates that are retried through restarts and `kill -9`.

use rusqlite::Connection;

use super::program::{Service, catalogue, client, create, directory, new_key};

#[tokio::test]
async fn a_retried_create_is_recognized_after_a_restart() {
    let here = directory();
    let key = new_key(here.path());
    let mut responses = Vec::new();
    for _ in 0..2 {
        let service = Service::start(here.path(), &[]);
        let request = create(&client(), &service.url, &key, "Frank");
        let reply = request
            .header("idempotency-key", "\"retry-1\"")
            .send()
            .await
            .unwrap();
        assert_eq!(reply.status(), 201);
        let location = reply.headers()["location"].clone();
        responses.push((location, reply.text().await.unwrap()));
        service.signal("TERM");
        service.wait();
    }
    assert_eq!(responses[0], responses[1]);
    assert_eq!(catalogue(here.path(), &key).await.len(), 1);
}

#[tokio::test]
async fn a_create_gets_its_first_response_after_kill_9_whatever_became_of_the_animal() {
    let here = directory();
    let key = new_key(here.path());
    let mut responses = Vec::new();
    for by_hand in [
        "",
        "UPDATE pets SET name = 'other', status = 'sold'",
        "DELETE FROM pets",
    ] {
        let database = Connection::open(here.path().join("petstore.db")).unwrap();
        database.execute_batch(by_hand).unwrap();
        drop(database);
        let service = Service::start(here.path(), &[]);
        for _ in 0..2 {
            let request = create(&client(), &service.url, &key, "Frank");
            let reply = request
                .header("idempotency-key", "\"retry-1\"")
                .send()
                .await
                .unwrap();
            let location = reply.headers()["location"].clone();
            responses.push((reply.status(), location, reply.bytes().await.unwrap()));
        }
        service.kill();
    }
    assert_eq!(responses[0].0, 201);
    assert!(
        responses.iter().all(|response| *response == responses[0]),
        "{responses:?}"
    );
    assert_eq!(catalogue(here.path(), &key).await.len(), 0);
}
