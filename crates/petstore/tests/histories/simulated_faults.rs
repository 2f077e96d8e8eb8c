//! Faults of a simulated store area, each of which the checker must recognize.

use super::{
    checker::{self, Order},
    simulated::history,
    store_area::Command,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Without a unique index: whether an animal is free is read before the
    /// transaction that reserves or sells it.
    NoIndex,
    /// A unique index on reservations only: whether an animal can be sold is read
    /// before the transaction that sells it.
    IndexOfReservations,
    /// The status of the animal is written in a second transaction.
    TwoTransactions,
    /// The version is compared before the transaction that changes its subject.
    VersionComparedBefore,
    /// The status of an order is compared before the transaction that changes it.
    StatusComparedBefore,
    /// A sweeper expires what was due when it looked.
    SweeperTrustsItsList,
    /// An order whose time has passed is shown as expired before a sweep.
    SweeperTrustsTheClock,
    /// A repeated request gets the row as it is now.
    ReplayFromRow,
    /// A repeated request is carried out again.
    NotRemembered,
    /// A sale whose animal got another status by hand can be returned.
    ReturnedNevertheless,
    /// A withdrawn animal is restored with another status.
    RestoredOtherwise,
    /// Every third change is acknowledged and not made.
    ChangeLost,
    /// Every change is made once more when the next one is made.
    MadeTwice,
    /// Every change is acknowledged at once, and made when the next one is.
    MadeLate,
}

impl Fault {
    /// Whether the command is decided before the transaction that writes.
    pub(super) fn decides_before(self, command: &Command) -> bool {
        matches!(
            (self, command),
            (Self::NoIndex, Command::Place { .. })
                | (
                    Self::IndexOfReservations,
                    Command::Place { until: None, .. }
                )
                | (
                    Self::VersionComparedBefore,
                    Command::PatchPet { .. }
                        | Command::Withdraw { .. }
                        | Command::Restore { .. }
                        | Command::PatchOrder { .. }
                )
                | (
                    Self::StatusComparedBefore,
                    Command::Complete { .. }
                        | Command::Cancel { .. }
                        | Command::Return { .. }
                        | Command::Reopen { .. }
                )
                | (Self::SweeperTrustsItsList, Command::Expire { .. })
        )
    }
}

/// How many histories may miss a fault.
const MOST: u64 = 50;

/// The message about the first history that the checker rejects, and its seed.
fn first_objection(count: u64, fault: Option<Fault>) -> Option<(u64, String)> {
    (1..=count).find_map(|seed| {
        let checked = checker::check(&history(seed, fault), Order::OfIds);
        checked.err().map(|objection| (seed, objection))
    })
}

#[track_caller]
fn expect_objection(fault: Fault) {
    let found = first_objection(MOST, Some(fault));
    let (seed, objection) = found.unwrap_or_else(|| panic!("{MOST} histories with {fault:?}"));
    eprintln!("{fault:?}, seed {seed}: {objection}");
}

#[test]
fn a_store_area_without_a_fault_is_accepted() {
    assert_eq!(first_objection(200, None), None);
}

#[test]
fn an_animal_that_is_reserved_or_sold_twice_without_a_unique_index_is_recognized() {
    expect_objection(Fault::NoIndex);
}

#[test]
fn a_sale_next_to_a_reservation_is_recognized() {
    expect_objection(Fault::IndexOfReservations);
}

#[test]
fn a_status_that_is_written_in_a_second_transaction_is_recognized() {
    expect_objection(Fault::TwoTransactions);
}

#[test]
fn a_version_that_is_compared_before_the_update_is_recognized() {
    expect_objection(Fault::VersionComparedBefore);
}

#[test]
fn a_status_of_an_order_that_is_compared_before_the_update_is_recognized() {
    expect_objection(Fault::StatusComparedBefore);
}

#[test]
fn a_sweeper_that_expires_what_was_due_when_it_looked_is_recognized() {
    expect_objection(Fault::SweeperTrustsItsList);
}

#[test]
fn an_order_that_expires_before_the_sweep_is_recognized() {
    expect_objection(Fault::SweeperTrustsTheClock);
}

#[test]
fn a_replay_from_the_row_is_recognized() {
    expect_objection(Fault::ReplayFromRow);
}

#[test]
fn a_repeated_request_that_is_carried_out_again_is_recognized() {
    expect_objection(Fault::NotRemembered);
}

#[test]
fn a_return_after_the_status_was_changed_by_hand_is_recognized() {
    expect_objection(Fault::ReturnedNevertheless);
}

#[test]
fn an_animal_that_is_restored_otherwise_than_it_was_is_recognized() {
    expect_objection(Fault::RestoredOtherwise);
}

#[test]
fn a_change_that_is_lost_is_recognized() {
    expect_objection(Fault::ChangeLost);
}

#[test]
fn a_change_that_is_made_twice_is_recognized() {
    expect_objection(Fault::MadeTwice);
}

#[test]
fn a_change_that_is_acknowledged_before_it_is_made_is_recognized() {
    expect_objection(Fault::MadeLate);
}
