//! A clock that is wrong by more than a day expires and deletes nothing.

use std::{sync::Arc, time::Duration};

use jiff::SignedDuration;
use petstore_api::Api;
use petstore_domain::{
    Clock, Role, StaffName,
    staff::{StaffChange, StaffMember, StaffSession, Token},
    store_area::ActType,
};
use petstore_store::StaffWriteOutcome;
use petstore_testing::{clock::ManualClock, interface};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::json;

use super::{Store, created};

const MINUTE: Duration = Duration::from_mins(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A process of the service on the database, with a clock of its own.
struct Process {
    api: Arc<Api>,
    clock: Arc<ManualClock>,
}

impl Process {
    /// A process whose clock is so far from that of the store, which is right.
    fn start(store: &Store, ahead: SignedDuration) -> Self {
        let right = store.server.clock.now();
        let clock = ManualClock::at(&(right + ahead).to_string());
        let api = interface::api(Arc::clone(&store.server.store), clock.clone());
        Self { api, clock }
    }

    /// Does all work that depends on the time of day.
    async fn work(&self) {
        let app = self.api.app();
        while app.expire_orders().await.unwrap() {}
        while app.erase_contacts().await.unwrap() {}
        while app.forget_old_changes().await.unwrap() {}
        app.forget_old_sessions().await.unwrap();
    }

    async fn work_for(&self, minutes: u32) {
        for _ in 0..minutes {
            self.clock.advance(MINUTE);
            self.work().await;
        }
    }

    /// Whether the process believes its clock from its start.
    async fn is_believed(&self) -> bool {
        self.work().await;
        self.is_confirmed()
    }

    fn is_confirmed(&self) -> bool {
        self.api.metrics().contains("petstore_clock_confirmed 1")
    }
}

/// A store with a reservation for half an hour, a session, and a confirmed time.
async fn shop() -> (Store, i64) {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    let end = json!({ "petId": pet, "expiresAt": "2026-12-01T12:30:00Z" });
    let order = created(&store.place(end).await);
    let (now, random) = (store.server.clock.now(), &mut StdRng::seed_from_u64(5));
    let new = StaffMember::new(
        StaffName::new("Ana").unwrap(),
        Role::Clerk,
        &Token::generate(random),
        now,
    );
    let added = StaffChange::new(0, new.clone(), ActType::StaffAdded);
    let StaffWriteOutcome::Done(id) = store
        .server
        .store
        .write_staff(added, store.server.act())
        .await
        .unwrap()
    else {
        panic!("not added")
    };
    let session = StaffSession {
        provider_session: None,
        digest: Token::generate(random).digest(),
        staff: id,
        begun_at: now,
        seen_at: now,
        confirmed_at: Some(now),
        address: String::new(),
        browser: String::new(),
    };
    let member = StaffMember { id, ..new };
    let change = StaffChange {
        new_session: Some(session),
        ..StaffChange::new(1, member, ActType::StaffSignedIn)
    };
    store
        .server
        .store
        .write_staff(change, store.server.act())
        .await
        .unwrap();
    Process::start(&store, SignedDuration::ZERO).work().await;
    (store, order)
}

async fn status(store: &Store, order: i64) -> String {
    store.order(order).await["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Fails unless everything is as [`shop`] left it, and only the log has grown.
async fn nothing_is_lost(store: &Store, order: i64) {
    assert_eq!(status(store, order).await, "reserved");
    assert_eq!(store.server.store.journal_state().await.unwrap().first, 1);
    assert_eq!(store.server.count_rows("staff_sessions").await, 1);
    // The keys, and what Ana did.
    assert_eq!(store.server.count_rows("acts").await, 4);
}

#[tokio::test]
async fn a_start_with_a_clock_500_days_off_expires_and_deletes_nothing() {
    for ahead in [500 * DAY, -500 * DAY] {
        let (store, order) = shop().await;
        for _ in 0..2 {
            let wrong = Process::start(&store, ahead);
            wrong.work().await;
            assert!(!wrong.is_confirmed());
            wrong.work_for(2).await;
            // A change at the wrong time makes the time no better.
            let right = store.server.clock.now();
            store.server.clock.set(wrong.clock.now());
            store.add("Tom", "available").await;
            store.server.clock.set(right);
            wrong.work_for(2).await;
            nothing_is_lost(&store, order).await;
        }
        let right = Process::start(&store, SignedDuration::ZERO);
        right.work().await;
        nothing_is_lost(&store, order).await;
        assert!(right.is_confirmed());
        right.work_for(30).await;
        assert_eq!(status(&store, order).await, "expired");
    }
}

#[tokio::test]
async fn a_weekend_without_power_is_believed_after_an_hour_and_not_before() {
    let (store, order) = shop().await;
    let monday = Process::start(&store, 2 * DAY);
    monday.work_for(60).await;
    assert_eq!(status(&store, order).await, "reserved");
    monday.work_for(3).await;
    assert_eq!(status(&store, order).await, "expired");
    assert!(monday.is_confirmed());
}

#[tokio::test]
async fn the_errors_of_a_clock_do_not_add_up_over_quick_restarts() {
    let (store, _) = shop().await;
    for _ in 0..2 {
        let first = Process::start(&store, SignedDuration::from_hours(20));
        assert!(first.is_believed().await);
        // A restart ten minutes later, with a clock that is 20 hours further ahead.
        first.work_for(10).await;
        let second = Process::start(&store, SignedDuration::from_hours(40));
        assert!(!second.is_believed().await);
    }
    // A clock that runs evenly for long enough is right.
    let right = Process::start(&store, SignedDuration::from_hours(20));
    right.work_for(30).await;
    assert!(
        Process::start(&store, SignedDuration::from_hours(40))
            .is_believed()
            .await
    );
}

#[tokio::test]
async fn a_jump_by_a_weekend_is_not_believed_before_an_hour_has_passed() {
    let (store, order) = shop().await;
    let process = Process::start(&store, SignedDuration::ZERO);
    process.work_for(20).await;
    process.clock.set(process.clock.now() + 2 * DAY);
    process.work_for(60).await;
    nothing_is_lost(&store, order).await;
    // The hour begins again with each jump.
    process
        .clock
        .set(process.clock.now() + SignedDuration::from_mins(2));
    process.work_for(60).await;
    nothing_is_lost(&store, order).await;
    process.work_for(6).await;
    assert_eq!(status(&store, order).await, "expired");
}

#[tokio::test]
async fn what_an_operator_confirms_is_believed_at_once_in_both_directions() {
    for days in [500, -500] {
        let (store, _) = shop().await;
        let process = Process::start(&store, days * DAY);
        process.work().await;
        assert!(!process.is_confirmed());
        let (database, now) = (&store.server.store, process.clock.now());
        let confirmed = database.confirmed_time(now).await.unwrap();
        assert!(
            !database.confirm_time(now, now, None).await.unwrap(),
            "it is not the time seen"
        );
        assert!(database.confirm_time(confirmed, now, None).await.unwrap());
        let pet = store.add("Tom", "available").await;
        store.server.clock.set(now);
        let end = (now + SignedDuration::from_mins(2)).to_string();
        let order = created(&store.place(json!({ "petId": pet, "expiresAt": end })).await);
        process.work_for(3).await;
        assert_eq!(status(&store, order).await, "expired");
        assert!(process.is_confirmed());
    }
}

#[tokio::test]
async fn a_process_with_a_wrong_clock_never_outvotes_one_whose_clock_is_right() {
    let (store, first) = shop().await;
    let pet = store.add("Tom", "available").await;
    let end = json!({ "petId": pet, "expiresAt": "2026-12-01T15:00:30Z" });
    let second = created(&store.place(end).await);
    let right = Process::start(&store, SignedDuration::ZERO);
    let wrong = Process::start(&store, 2 * DAY);
    for minute in 1..=180 {
        right.work_for(1).await;
        wrong.work_for(1).await;
        assert!(right.is_confirmed() && !wrong.is_confirmed(), "{minute}");
    }
    assert_eq!(status(&store, first).await, "expired");
    assert_eq!(status(&store, second).await, "reserved");
    right.work_for(1).await;
    assert_eq!(status(&store, second).await, "expired");
}

#[tokio::test]
async fn a_reservation_that_is_made_while_the_clock_is_behind_does_not_end_when_it_is_right_again()
{
    let (store, _) = shop().await;
    let (server, right) = (&store.server, store.server.clock.now());
    server.clock.set(right - 20 * DAY);
    server.app.expire_orders().await.unwrap();
    let pet = store.add("Zoe", "available").await;
    let order = created(&store.place(json!({ "petId": pet })).await);
    server.clock.set(right);
    for _ in 0..3 {
        server.clock.advance(MINUTE);
        server.app.expire_orders().await.unwrap();
    }
    assert_eq!(status(&store, order).await, "reserved");
}

#[tokio::test]
async fn a_reservation_whose_end_cannot_be_read_holds_up_no_other() {
    let (store, order) = shop().await;
    let pet = store.add("Zoe", "available").await;
    let unreadable = created(&store.place(json!({ "petId": pet })).await);
    let far = "UPDATE orders SET expires_at = -9223372036854775807 WHERE id =";
    store.server.execute(&format!("{far} {unreadable}")).await;
    store.server.clock.advance(Duration::from_hours(1));
    store.server.app.expire_orders().await.unwrap_or_default();
    store.server.app.expire_orders().await.unwrap_or_default();
    assert_eq!(status(&store, order).await, "expired");
}
