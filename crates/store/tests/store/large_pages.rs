//! Pages with very long names, over SQLite.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use futures_util::future::join_all;
use petstore_domain::{PageRequest, PetRef, PetStatus::Sold};
use petstore_testing::stores::{create, new_pet};
use tokio::task;

use crate::sqlite::fresh;

const ANIMALS: usize = 20;
const NAME: usize = 60_000;

#[tokio::test]
async fn large_pages_are_read_on_another_thread_and_visited_one_at_a_time_with_turns_for_others() {
    let (store, _directory) = fresh();
    for _ in 0..ANIMALS {
        create(&store, new_pet(&"n".repeat(NAME), 1, Sold)).await;
    }
    let turns = Arc::new(AtomicUsize::new(0));
    let others = tokio::spawn({
        let turns = Arc::clone(&turns);
        async move {
            loop {
                turns.fetch_add(1, Relaxed);
                task::yield_now().await;
            }
        }
    });
    let being_visited = AtomicUsize::new(0);
    let wanted = PageRequest::default();
    let lists = (0..8).map(async |_| {
        let (mut last_turn, mut without_turn, mut visited) = (turns.load(Relaxed), 0, 0);
        let mut visit = |pet: PetRef<'_>| {
            if visited == 0 {
                assert!(
                    turns.load(Relaxed) > last_turn,
                    "the runtime thread read the page"
                );
                assert_eq!(being_visited.fetch_add(1, Relaxed), 0);
            }
            let turn = turns.load(Relaxed);
            if turn > last_turn {
                (last_turn, without_turn) = (turn, 0);
            }
            without_turn += pet.name.len();
            assert!(
                without_turn <= 128 << 10,
                "{without_turn} bytes without a turn"
            );
            visited += 1;
            if visited == ANIMALS {
                being_visited.fetch_sub(1, Relaxed);
            }
        };
        assert_eq!(store.list_pets(&wanted, &mut visit).await.unwrap(), None);
        assert_eq!(visited, ANIMALS);
    });
    join_all(lists).await;
    others.abort();
}
