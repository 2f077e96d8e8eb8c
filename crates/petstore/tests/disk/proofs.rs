//! Tests that the harness detects a faulty store.

use std::panic::AssertUnwindSafe;

use faulty_vfs::{Fault, Kind};
use futures_util::FutureExt;

use crate::script::Run;

/// Runs the script with a power cut at each operation that writes. Returns at how many of them data
/// was lost, and the number of operations.
async fn losses(sabotage: fn(&mut Run)) -> (usize, usize) {
    let mut lost = 0;
    for at in 1.. {
        let mut run = Run::new();
        sabotage(&mut run);
        run.disk.set(Fault {
            kind: Kind::PowerCut,
            at,
            persistent: false,
        });
        run.everything().await;
        let fired = run.disk.fired();
        let survived = AssertUnwindSafe(run.survives_a_power_cut(at as u64))
            .catch_unwind()
            .await;
        lost += usize::from(survived.is_err());
        if !fired {
            return (lost, at);
        }
    }
    unreachable!("it would never end")
}

#[tokio::test]
async fn a_correct_store_loses_nothing() {
    let (lost, of) = losses(|_| {}).await;
    assert_eq!(lost, 0, "of {of}");
}

#[tokio::test]
async fn a_store_that_skips_the_fsync_is_detected() {
    let (lost, of) = losses(|run| run.disk.skip_syncs()).await;
    eprintln!("lost at {lost} of {of} operations");
    assert!(lost > of / 2, "{lost} of {of}");
}

#[tokio::test]
async fn a_store_that_acknowledges_before_the_commit_is_detected() {
    let (lost, of) = losses(|run| run.acknowledges_early = true).await;
    eprintln!("lost at {lost} of {of} operations");
    assert!(lost > of / 2, "{lost} of {of}");
}
