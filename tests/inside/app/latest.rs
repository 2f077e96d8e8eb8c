//! Tests of `src/app/latest.rs`.

use futures_util::{FutureExt, future::join_all};
use tokio::sync::oneshot;

use super::*;

#[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the machine")]
fn start() -> Instant {
    Instant::now()
}

async fn read(last: &Latest<u64>, now: Instant, result: Result<u64, StoreError>) -> Option<u64> {
    last.at(now, None, async { (result, KEPT_FOR) }).await.ok()
}

#[tokio::test]
async fn one_run_serves_all_requests_and_outlives_the_first_one() {
    let (last, now) = (Latest::default(), start());
    let (finish, finished) = oneshot::channel();
    let slow = last.at(now, None, async { (Ok(finished.await.unwrap()), KEPT_FOR) });
    // The request that began it ends before it.
    assert!(slow.now_or_never().is_none());
    let later = now + Duration::from_mins(1);
    let others = join_all((0..9).map(|_| read(&last, later, Ok(2))));
    finish.send(1).unwrap();
    assert_eq!(others.await, [Some(1); 9]);
}

#[tokio::test]
async fn results_are_kept_for_10_seconds_and_errors_are_not() {
    let (last, now) = (Latest::default(), start());
    assert_eq!(read(&last, now, Err(StoreError::Overloaded)).await, None);
    assert_eq!(read(&last, now, Ok(1)).await, Some(1));
    let almost = now + Duration::from_millis(9_999);
    assert_eq!(read(&last, almost, Ok(2)).await, Some(1));
    assert_eq!(read(&last, now + KEPT_FOR, Ok(2)).await, Some(2));
    // Of the same version, they are kept for longer.
    for (at, version, expected) in [(2, [1], 3), (9, [1], 3), (9, [2], 11)] {
        let run = async move { (Ok(u64::from(at) + u64::from(version[0])), KEPT_FOR) };
        let read = last.at(now + KEPT_FOR * at, Some(Version::new(version)), run).await;
        assert_eq!(read.ok(), Some(expected));
    }
}

#[tokio::test]
async fn after_a_panic_the_next_request_begins_again() {
    let (last, now) = (Latest::default(), start());
    let panics = async || -> Finished<u64> { panic!("on purpose") };
    assert!(last.at(now, None, panics()).await.is_err());
    assert_eq!(read(&last, now, Ok(1)).await, Some(1));
}
