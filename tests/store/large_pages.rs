//! Pages with very long names, over SQLite.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use futures_util::future::join_all;
use petstore::domain::{PageRequest, PetRef, PetStatus::Sold};

use crate::{
    sqlite::fresh,
    suite::{create, new_pet},
};

thread_local! {
    /// Whether this is the runtime thread of the test.
    static OF_RUNTIME: Cell<bool> = const { Cell::new(false) };
}
/// How many large pages are being written now, and the maximum so far.
static BEGUN: AtomicUsize = AtomicUsize::new(0);
static MOST_AT_ONCE: AtomicUsize = AtomicUsize::new(0);
/// How many animals a runtime thread has written beyond the usual size of a page.
static ON_RUNTIME: AtomicUsize = AtomicUsize::new(0);

fn write_and_watch(page: &mut Vec<u8>, pet: PetRef<'_>) {
    if OF_RUNTIME.get() {
        ON_RUNTIME.fetch_add(usize::from(page.len() > 256 << 10), Relaxed);
    } else if pet.id.get() == 1 {
        MOST_AT_ONCE.fetch_max(BEGUN.fetch_add(1, Relaxed) + 1, Relaxed);
    } else if pet.id.get() == 20 {
        BEGUN.fetch_sub(1, Relaxed);
    }
    page.extend(pet.name.as_bytes());
}

#[tokio::test]
async fn large_pages_are_made_one_at_a_time_and_never_on_a_runtime_thread() {
    let (store, _directory) = fresh();
    for _ in 0..20 {
        create(&store, new_pet(&"n".repeat(60_000), 1, Sold)).await;
    }
    OF_RUNTIME.set(true);
    let wanted = PageRequest::default();
    let lists = (0..8).map(async |_| {
        let mut page = b"[".to_vec();
        let last = store.list_pets(&wanted, write_and_watch, &mut page).await.unwrap();
        assert_eq!((last, page.len()), (None, 1 + 20 * 60_000));
    });
    join_all(lists).await;
    assert_eq!(ON_RUNTIME.load(Relaxed), 0);
    assert_eq!((MOST_AT_ONCE.load(Relaxed), BEGUN.load(Relaxed)), (1, 0));
}
