//! Administration over PostgreSQL is done once, also when connections break.

use petstore_domain::{
    Role, StaffName,
    staff::{EndedSessions, StaffChange, StaffMember, Token},
    store_area::{Act, ActType, Attempt, AuditQuery, AuditType, JournalSubject, SubjectKind},
};
use petstore_store::StaffWriteOutcome;
use petstore_testing::{
    proxy::Line,
    stores::{AnyStore, act, at},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{postgres_faults::behind_a_line, webhooks::add};

fn member(number: usize) -> StaffMember {
    let name = StaffName::new(&format!("member {number}")).unwrap();
    let link = Token::generate(&mut StdRng::seed_from_u64(number as u64));
    StaffMember::new(name, Role::Clerk, &link, at(10))
}

async fn acts(store: &AnyStore, kind: ActType) -> usize {
    let query = AuditQuery {
        kind: Some(AuditType::Act(kind)),
        limit: 100,
        ..AuditQuery::default()
    };
    store.list_audit(&query).await.unwrap().0.len()
}

#[tokio::test]
async fn each_act_is_done_and_recorded_once_whichever_response_is_lost() {
    let (store, line) = behind_a_line().await;
    let webhook = add(&store).await;
    let mut lost = [true; 5];
    for after in 0.. {
        let done = after + 1;
        let break_line = || {
            line.set(Line::LosesAnswer {
                after,
                then_up: true,
            });
        };
        let was_lost = || {
            let was_lost = line.line() == Line::Up;
            line.set(Line::Up);
            was_lost
        };
        let new = member(after);
        break_line();
        let added = StaffChange::new(0, new.clone(), ActType::StaffAdded);
        let added = store.write_staff(added, act(10)).await.unwrap();
        lost[0] = was_lost();
        let StaffWriteOutcome::Done(id) = added else {
            panic!("{added:?}")
        };
        assert_eq!(
            (
                store.list_staff().await.unwrap().len(),
                acts(&store, ActType::StaffAdded).await
            ),
            (done, done)
        );

        let stored = StaffMember { id, ..new };
        let disabled = StaffMember {
            disabled_at: Some(at(20)),
            version: 2,
            ..stored
        };
        break_line();
        let change = StaffChange::new(1, disabled.clone(), ActType::StaffDisabled);
        let changed = store.write_staff(change.clone(), act(20)).await.unwrap();
        lost[1] = was_lost();
        assert_eq!(changed, StaffWriteOutcome::Done(id));
        assert_eq!(acts(&store, ActType::StaffDisabled).await, done);
        // Another one that saw the same is too late, also if it wants the same.
        break_line();
        let again = store
            .write_staff(change.with_ended_sessions(EndedSessions::All), act(20))
            .await
            .unwrap();
        was_lost();
        assert_eq!(again, StaffWriteOutcome::Stale);

        let failed = Act {
            kind: ActType::StaffSignInFailed.into(),
            subject: JournalSubject {
                kind: SubjectKind::Staff.into(),
                id: Some(id.0),
            },
            details: Vec::new(),
        };
        break_line();
        store.record_act(failed, act(30)).await.unwrap();
        lost[2] = was_lost();
        assert_eq!(acts(&store, ActType::StaffSignInFailed).await, done);

        let attempt = Attempt {
            message_id: "msg_1".to_owned(),
            at: at(30),
            status: Some(200),
            duration_ms: 1,
            error: None,
        };
        break_line();
        store.add_attempt(webhook, attempt).await.unwrap();
        lost[3] = was_lost();
        assert_eq!(
            store.list_attempts(webhook, 0, 100).await.unwrap().len(),
            done
        );

        let now = store.confirmed_time(at(0)).await.unwrap();
        let next = at(1_000 + i64::try_from(done).unwrap());
        break_line();
        assert!(store.confirm_time(now, next, None).await.unwrap());
        lost[4] = was_lost();
        if lost == [false; 5] {
            assert!(after > 3, "each has several answers");
            return;
        }
    }
}
