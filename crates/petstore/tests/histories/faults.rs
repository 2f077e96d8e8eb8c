//! The harness proves itself: it rejects a store with a fault.

use std::sync::Arc;

use tempfile::TempDir;

use super::{
    checker::{self, Order},
    faulty_store::{Fault, Faulty},
    runtime,
    service::{Place, open},
    sqlite_url, workload,
};

/// How many histories may miss a fault, which needs clients at the right moments.
/// The first one shows almost every fault.
const MOST: u64 = 50;

/// The message of the checker about the first of so many histories that it rejects.
fn first_objection(count: u64, fault: Fault) -> Option<String> {
    let runtime = runtime();
    (1..=count).find_map(|seed| {
        let directory = TempDir::new().unwrap();
        let history = runtime.block_on(async {
            let store = open(&sqlite_url(directory.path())).await;
            let faulty = Arc::new(Faulty::after(0, store, fault).await).store();
            let file = directory.path().join("petstore.db");
            workload::history(seed, Place::here(&[faulty], Some(&file)).await).await
        });
        checker::check(&history, Order::OfIds).err()
    })
}

#[track_caller]
fn expect_objection(fault: Fault) {
    let objection = first_objection(MOST, fault);
    assert!(
        objection.is_some(),
        "{MOST} histories with the fault {fault:?}, and no objection"
    );
}

#[test]
fn a_store_without_a_fault_is_accepted() {
    assert_eq!(first_objection(10, Fault::Nothing), None);
}

#[test]
fn a_stale_cached_page_is_detected() {
    expect_objection(Fault::StalePage);
}

#[test]
fn an_animal_that_is_acknowledged_before_it_is_visible_is_detected() {
    expect_objection(Fault::AcknowledgedUnseen);
}

#[test]
fn a_duplicate_id_is_detected() {
    expect_objection(Fault::DoubledId);
}

#[test]
fn an_id_that_becomes_visible_after_a_higher_one_is_detected() {
    expect_objection(Fault::OutOfOrder);
}

#[test]
fn an_animal_that_a_walk_skips_is_detected() {
    expect_objection(Fault::SkippedAnimal);
}

#[test]
fn a_missing_link_to_the_next_page_is_detected() {
    expect_objection(Fault::NoNextPage);
}

#[test]
fn a_lost_animal_is_detected() {
    expect_objection(Fault::Lost);
}

#[test]
fn a_retry_that_adds_another_animal_is_detected() {
    expect_objection(Fault::AddedAgain);
}

#[test]
fn a_stale_read_after_a_change_is_recognized() {
    expect_objection(Fault::StaleRead);
}

#[test]
fn an_animal_with_the_name_of_one_version_and_the_status_of_another_is_recognized() {
    expect_objection(Fault::Torn);
}

#[test]
fn a_removed_animal_that_is_still_listed_is_recognized() {
    expect_objection(Fault::StillListed);
}

#[test]
fn a_removed_animal_that_reappears_is_recognized() {
    expect_objection(Fault::Reappears);
}

#[test]
fn an_animal_on_the_page_of_neither_its_old_nor_its_new_status_is_recognized() {
    expect_objection(Fault::InNeitherStatus);
}

#[test]
fn an_animal_on_the_pages_of_both_its_old_and_its_new_status_is_recognized() {
    expect_objection(Fault::InBothStatuses);
}

#[test]
fn a_version_that_is_compared_before_the_update_is_recognized() {
    expect_objection(Fault::ComparedBefore);
}

#[test]
fn a_batch_of_which_the_commands_before_the_refused_one_stay_is_recognized() {
    expect_objection(Fault::HalfBatch);
}

#[test]
fn a_version_of_a_category_that_is_compared_before_the_update_is_recognized() {
    expect_objection(Fault::CategoryComparedBefore);
}

#[test]
fn a_replay_of_the_present_order_is_recognized() {
    expect_objection(Fault::ReplayedFromRow);
}
