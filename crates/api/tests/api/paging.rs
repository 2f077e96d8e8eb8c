//! Walks: reading the whole list page by page.

use petstore_domain::PetStatus::{self, Available, Pending, Sold};
use petstore_testing::harness::Server;
use proptest::prelude::*;
use tokio::runtime::Runtime;

/// The ids that a walk returns, with these limits in turn.
async fn walk(
    server: &Server,
    animals: usize,
    status: Option<PetStatus>,
    limits: &[u8],
) -> Vec<i64> {
    let mut limits = limits.iter().cycle();
    let filter = status.map_or(String::new(), |status| format!("&status={status}"));
    let mut target = format!("/v1/pets?limit={}{filter}", limits.next().unwrap());
    let mut seen = Vec::new();
    // Each page except the last has at least one animal.
    for _ in 0..=animals {
        let page = server.get(&target).await;
        seen.extend(page.ids());
        let Some(next) = page.next() else {
            return seen;
        };
        let cursor = next.split_once("cursor=").unwrap().1;
        target = format!(
            "/v1/pets?limit={}{filter}&cursor={cursor}",
            limits.next().unwrap()
        );
    }
    panic!("a walk among {animals} animals does not end; it saw {seen:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_walk_gives_each_animal_once_in_order_and_the_status_walks_partition_it(
        catalogue in proptest::collection::vec(0..3_usize, 0..60),
        limits in proptest::collection::vec(1..25_u8, 1..4),
    ) {
        let catalogue: Vec<PetStatus> = catalogue.iter().map(|&at| PetStatus::ALL[at]).collect();
        Runtime::new().unwrap().block_on(async {
            let server = Server::start().await;
            server.fill(catalogue.iter().copied()).await;
            let ids = |wanted: Option<PetStatus>| -> Vec<i64> {
                (1..)
                    .zip(&catalogue)
                    .filter(|&(_, &status)| wanted.is_none_or(|wanted| wanted == status))
                    .map(|(id, _)| id)
                    .collect()
            };
            for status in [None, Some(Available), Some(Pending), Some(Sold)] {
                prop_assert_eq!(walk(&server, catalogue.len(), status, &limits).await, ids(status));
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn an_animal_that_existed_when_the_walk_began_is_seen_exactly_once() {
    let server = Server::start().await;
    server
        .fill([Available, Sold, Available, Sold, Available])
        .await;
    let mut target = "/v1/pets?status=available&limit=1".to_owned();
    let mut seen = Vec::new();
    for _ in 0..8 {
        let page = server.get(&target).await;
        seen.extend(page.ids());
        // The catalogue grows during the walk.
        server.fill([Sold, Available]).await;
        match page.next() {
            Some(next) => target = next,
            None => break,
        }
    }
    assert_eq!(seen, [1, 3, 5, 7, 9, 11, 13, 15]);
}
