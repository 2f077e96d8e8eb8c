//! A fault at the first, second, third … operation, until none occurs.

use std::{env, thread};

use faulty_vfs::{Fault, Kind};

use crate::script::Run;

/// Prints the case if its test fails.
struct PrintOnFailure(Kind, usize);

impl Drop for PrintOnFailure {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("this was {:?} at operation {}", self.0, self.1);
        }
    }
}

/// `DISK_SEED` determines which unsynced sectors survive a power cut.
fn seed() -> u64 {
    env::var("DISK_SEED").map_or(1, |text| text.parse().unwrap())
}

/// Fails at each operation in turn; `then` checks the result.
async fn at_each(kind: Kind, persistent: bool, mut then: impl AsyncFnMut(&mut Run, u64)) {
    for at in 1.. {
        let _said = PrintOnFailure(kind, at);
        let mut run = Run::new();
        run.disk.set(Fault {
            kind,
            at,
            persistent,
        });
        run.everything().await;
        let fired = run.disk.fired();
        then(&mut run, seed() + at as u64).await;
        if !fired {
            let lasts = if persistent { "for good" } else { "once" };
            eprintln!(
                "{kind:?} {lasts}: failed at {} operations, DISK_SEED={}",
                at - 1,
                seed()
            );
            assert!(at > 10);
            return;
        }
    }
}

async fn continues_after(kind: Kind, persistent: bool) {
    at_each(kind, persistent, async |run, seed| {
        run.continues().await;
        run.survives_a_power_cut(seed).await;
    })
    .await;
}

#[tokio::test]
async fn an_io_error_once() {
    continues_after(Kind::IoError, false).await;
}

#[tokio::test]
async fn io_errors_from_then_on() {
    continues_after(Kind::IoError, true).await;
}

#[tokio::test]
async fn a_short_write_once() {
    continues_after(Kind::ShortWrite, false).await;
}

#[tokio::test]
async fn short_writes_from_then_on() {
    continues_after(Kind::ShortWrite, true).await;
}

#[tokio::test]
async fn a_full_disk_once() {
    continues_after(Kind::Full, false).await;
}

#[tokio::test]
async fn a_full_disk_from_then_on() {
    continues_after(Kind::Full, true).await;
}

#[tokio::test]
async fn a_failed_sync_whose_pages_are_lost_once() {
    continues_after(Kind::LostSync, false).await;
    continues_after(Kind::RevertedSync, false).await;
}

#[tokio::test]
async fn failed_syncs_whose_pages_are_lost_from_then_on() {
    continues_after(Kind::LostSync, true).await;
    continues_after(Kind::RevertedSync, true).await;
}

#[tokio::test]
async fn a_failed_sync_after_which_the_process_is_killed() {
    at_each(Kind::LostSync, true, async |run, seed| {
        run.kill().await;
        run.continues().await;
        run.create(3).await;
        run.survives_a_power_cut(seed).await;
    })
    .await;
}

#[tokio::test]
async fn the_wal_of_a_killed_process_is_on_disk_before_it_is_acknowledged() {
    let mut replays = 0;
    at_each(Kind::LostSync, true, async |run, seed| {
        run.kill().await;
        replays += run.acknowledges_recovered_changes().await;
        run.survives_a_power_cut(seed).await;
    })
    .await;
    assert!(replays > 0, "nothing was left");
}

#[tokio::test]
async fn rejected_changes_are_not_there_even_after_a_kill() {
    for (kind, can_be_unknown) in [
        (Kind::IoError, true),
        (Kind::LostSync, true),
        (Kind::ShortWrite, false),
    ] {
        let mut unknown = 0;
        at_each(kind, true, async |run, _| {
            run.reported_correctly().await;
            unknown += run.unknown;
        })
        .await;
        assert_eq!(unknown > 0, can_be_unknown, "{kind:?}: {unknown}");
    }
}

#[tokio::test]
async fn a_power_cut() {
    at_each(Kind::PowerCut, false, async |run, seed| {
        run.survives_a_power_cut(seed).await;
    })
    .await;
}
