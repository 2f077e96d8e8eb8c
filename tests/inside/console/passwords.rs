//! Tests of `src/console/passwords.rs`.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use futures_util::future::join_all;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn at_most_two_hashes_are_computed_at_once_and_others_wait_up_to_a_limit() {
    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let passwords = Passwords::default();
    let work = || {
        MOST.fetch_max(NOW.fetch_add(1, SeqCst) + 1, SeqCst);
        Password::typed("some password").map(|password| PasswordHash::of_nobody().is_of(&password));
        NOW.fetch_sub(1, SeqCst);
    };
    let run = async || passwords.run(passwords.place(true)?, work).await;
    let done = join_all((0..=WAITING).map(|_| run())).await;
    assert_eq!(done.iter().filter(|done| done.is_err()).count(), 1);
    assert_eq!(MOST.load(SeqCst), AT_ONCE);
    // A request that goes away while its hash is computed leaves its turn when that is done.
    drop(run());
    assert_eq!(passwords.all.places.available_permits(), WAITING);
    assert!(run().await.is_ok());
}

#[tokio::test]
async fn strangers_leave_half_of_the_places_and_a_turn_to_members() {
    let passwords = Passwords::default();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = Arc::new(std::sync::Mutex::new(ended));
    let places: Vec<_> = (0..WAITING).map_while(|_| passwords.place(false).ok()).collect();
    assert_eq!(places.len(), STRANGERS_WAITING);
    // The first of them ends when the test says so.
    let strangers = join_all(places.into_iter().map(|place| {
        let ended = Arc::clone(&ended);
        passwords.run(place, move || drop(ended.lock().map(|ended| ended.recv())))
    }));
    let members = join_all(
        (0..WAITING - STRANGERS_WAITING)
            .map(async |_| passwords.run(passwords.place(true)?, || ()).await),
    );
    let members = async {
        let done = members.await;
        drop(end);
        done
    };
    let (_, done) = tokio::join!(strangers, members);
    assert!(done.iter().all(Result::is_ok));
}
