//! The harness proves itself: it objects to a store with a fault.

use std::sync::Arc;

use petstore::store::Store;

use super::{
    checker::{self, Order},
    faulty_store::{Fault, Faulty},
    runtime,
    service::Place,
    sqlite, workload,
};

/// What the checker says of the first history that it objects to.
fn objection(fault: Fault) -> String {
    let runtime = runtime();
    for seed in 1..=10 {
        let (stores, directory) = sqlite();
        let store = Arc::clone(&stores[0]);
        let history = runtime.block_on(async {
            let faulty: Arc<dyn Store> = Arc::new(Faulty::after(0, store, fault).await);
            let place = Place::here(&[faulty], &directory.path().join("petstore.db")).await;
            workload::history(seed, &place).await
        });
        if let Err(violation) = checker::check(&history, Order::OfIds) {
            return violation;
        }
    }
    panic!("ten histories over a store with the fault {fault:?}, and no objection");
}

#[test]
fn a_stale_page_from_the_kept_ones_is_recognised() {
    assert!(objection(Fault::StalePage).contains("not yet when this was called later"));
}

#[test]
fn an_animal_that_is_acknowledged_before_it_can_be_seen_is_recognised() {
    objection(Fault::AcknowledgedUnseen);
}

#[test]
fn an_id_that_is_given_twice_is_recognised() {
    assert!(objection(Fault::DoubledId).contains("one id for two animals"));
}

#[test]
fn an_id_that_becomes_visible_after_a_higher_one_is_recognised() {
    objection(Fault::OutOfOrder);
}

#[test]
fn an_animal_that_a_walk_skips_is_recognised() {
    let said = objection(Fault::SkippedAnimal);
    let page_is_short = said.contains("a next page after a short one");
    assert!(page_is_short || said.contains("is not the next one"), "{said}");
}

#[test]
fn a_missing_link_to_the_next_page_is_recognised() {
    assert!(objection(Fault::NoNextPage).contains("not yet when this was called later"));
}

#[test]
fn an_acknowledged_animal_that_is_lost_is_recognised() {
    objection(Fault::Lost);
}

#[test]
fn a_request_that_is_sent_again_and_adds_again_is_recognised() {
    assert!(objection(Fault::AddedAgain).contains("one create gave two animals"));
}
