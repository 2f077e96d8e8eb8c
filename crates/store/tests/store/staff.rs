//! Tests of staff and their sessions. Part of the suite.

use futures_util::future::join_all;
use jiff::Timestamp;
use petstore_domain::{
    Actor, IdempotencyKey, IdempotentRequest, RequestOwner, Role, StaffId, StaffName, WriteContext,
    staff::{
        EndedSessions, Identity, Passkey, Password, SecondFactor, StaffChange, StaffMember,
        StaffSession, Token, TokenDigest, generate_recovery_code,
    },
    store_area::{Act, ActType, AuditEntry, AuditQuery, JournalSubject, SubjectKind},
};
use petstore_store::{CreationOutcome, StaffKey, StaffWriteOutcome};
use petstore_testing::stores::{AnyStore, act, at, new_key, new_pet, respond};
use rand::{SeedableRng, rngs::StdRng};

/// Makes a test of every function, as `suite!` does.
macro_rules! staff_suite {
    ($open:expr) => {
        $crate::staff::staff_suite!(
            $open,
            a_member_is_read_as_written_and_found_by_number_name_and_link,
            no_two_members_have_the_same_name,
            no_two_members_have_the_same_identity,
            passkeys_are_kept_until_a_reset_or_a_provider,
            there_are_at_most_1000_members_although_many_are_added_at_once,
            a_change_of_an_older_state_of_a_member_changes_nothing,
            sessions_begin_end_and_are_forgotten_with_their_member,
            a_session_is_used_later_and_never_earlier,
            each_act_of_staff_is_in_the_audit_trail,
            a_member_and_a_key_with_the_same_number_repeat_their_own_requests
        );
    };
    ($open:expr, $($test:ident),*) => {
        $(#[tokio::test]
        async fn $test() {
            let (store, _guard) = $open;
            $crate::staff::$test(store).await;
        })*
    };
}
pub(crate) use staff_suite;

fn token(seed: u64) -> Token {
    Token::generate(&mut StdRng::seed_from_u64(seed))
}

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn named(name: &str, seed: u64) -> StaffMember {
    StaffMember::new(
        StaffName::new(name).unwrap(),
        Role::Clerk,
        &token(seed),
        time(10),
    )
}

async fn write(store: &AnyStore, change: StaffChange) -> StaffWriteOutcome {
    store.write_staff(change, act(10)).await.unwrap()
}

async fn added(store: &AnyStore, name: &str, seed: u64) -> StaffMember {
    let change = StaffChange::new(0, named(name, seed), ActType::StaffAdded);
    let StaffWriteOutcome::Done(id) = write(store, change).await else {
        panic!("{name}")
    };
    store.find_staff(StaffKey::Id(id)).await.unwrap().unwrap()
}

/// A session that begins at this second.
fn session(of: StaffId, seed: u64, second: i64) -> StaffSession {
    StaffSession {
        provider_session: None,
        digest: token(seed).digest(),
        staff: of,
        begun_at: time(second),
        seen_at: time(second),
        confirmed_at: None,
        address: "192.0.2.1".to_owned(),
        browser: "<b>Firefox</b>".to_owned(),
    }
}

/// A change of sessions only.
fn sessions(of: &StaffMember, begins: Option<StaffSession>, ends: EndedSessions) -> StaffChange {
    StaffChange {
        seen_version: of.version,
        after: of.clone(),
        ended_sessions: ends,
        new_session: begins,
        act: None,
    }
}

async fn digests(store: &AnyStore) -> Vec<TokenDigest> {
    store
        .list_sessions(None)
        .await
        .unwrap()
        .into_iter()
        .map(|session| session.digest)
        .collect()
}

pub(crate) async fn a_member_is_read_as_written_and_found_by_number_name_and_link(store: AnyStore) {
    let ana = added(&store, "Ána", 1).await;
    assert_eq!(
        ana,
        StaffMember {
            id: ana.id,
            ..named("Ána", 1)
        }
    );
    let find = async |by| store.find_staff(by).await.unwrap();
    assert_eq!(
        find(StaffKey::Name("ana".to_owned())).await,
        Some(ana.clone())
    );
    assert_eq!(
        find(StaffKey::Link(token(1).digest())).await,
        Some(ana.clone())
    );
    for other in [
        StaffKey::Name("án".to_owned()),
        StaffKey::Link(token(2).digest()),
        StaffKey::Id(StaffId(ana.id.0 + 1)),
    ] {
        assert_eq!(find(other).await, None);
    }
    let random = &mut StdRng::seed_from_u64(3);
    let second = SecondFactor {
        sealed_secret: vec![1, 2, 3],
        last_period: 7,
        recovery: vec![
            generate_recovery_code(random).1,
            generate_recovery_code(random).1,
        ],
    };
    let hash = Password::from_input("correct horse battery")
        .unwrap()
        .hash(random);
    let full = ana
        .clone()
        .with_password(hash)
        .with_second_factor(Some(second));
    let full = StaffMember {
        disabled_at: Some(time(20)),
        version: 2,
        ..full
    };
    let change = StaffChange::new(1, full.clone(), ActType::StaffDisabled);
    assert_eq!(write(&store, change).await, StaffWriteOutcome::Done(ana.id));
    assert_eq!(find(StaffKey::Id(ana.id)).await, Some(full.clone()));
    assert_eq!(find(StaffKey::Link(token(1).digest())).await, None);
    let bo = added(&store, "Bo", 4).await;
    assert_eq!(store.list_staff().await.unwrap(), [full, bo]);
}

pub(crate) async fn no_two_members_have_the_same_name(store: AnyStore) {
    added(&store, "Zoé", 1).await;
    for name in ["Zoé", "ZOE", "zoe\u{301}"] {
        let change = StaffChange::new(0, named(name, 2), ActType::StaffAdded);
        assert_eq!(
            write(&store, change).await,
            StaffWriteOutcome::NameTaken,
            "{name}"
        );
    }
    assert_eq!(store.list_staff().await.unwrap().len(), 1);
}

pub(crate) async fn no_two_members_have_the_same_identity(store: AnyStore) {
    let of = |issuer: &str, subject: &str| {
        let (issuer, subject) = (issuer.to_owned(), subject.to_owned());
        Identity { issuer, subject }
    };
    let find = async |by: &Identity| {
        store
            .find_staff(StaffKey::Identity(by.clone()))
            .await
            .unwrap()
    };
    let identity = of("https://a.example", "1");
    let new = named("Ana", 1).with_identity(identity.clone());
    let change = StaffChange::new(0, new.clone(), ActType::StaffAdded);
    let StaffWriteOutcome::Done(id) = write(&store, change).await else {
        panic!()
    };
    let ana = find(&identity).await.unwrap();
    assert_eq!(ana, StaffMember { id, ..new });
    // Not even under another name.
    let other = named("Bo", 2).with_identity(identity.clone());
    let change = StaffChange::new(0, other, ActType::StaffAdded);
    assert_eq!(write(&store, change).await, StaffWriteOutcome::NameTaken);
    for other in [
        of("https://a.example/", "1"),
        of("https://a.example", "2"),
        of("", "1"),
    ] {
        assert_eq!(find(&other).await, None);
    }
    // A member who is there already, with a session of the provider.
    let bo = added(&store, "Bo", 3).await;
    let linked = bo.clone().with_identity(of("https://a.example", "2"));
    let begins = StaffSession {
        provider_session: Some("sid".to_owned()),
        ..session(bo.id, 1, 10)
    };
    let change = StaffChange::new(bo.version, linked.clone(), ActType::StaffLinked);
    let change = StaffChange {
        new_session: Some(begins.clone()),
        ..change
    };
    assert_eq!(write(&store, change).await, StaffWriteOutcome::Done(bo.id));
    assert_eq!(
        find(&of("https://a.example", "2")).await,
        Some(linked.clone())
    );
    assert_eq!(
        store.find_session(begins.digest).await.unwrap(),
        Some((begins, linked.clone()))
    );
    // A new link takes the identity away.
    let reset = linked.clone().reset(&token(4), time(20));
    let change = StaffChange::new(linked.version, reset, ActType::StaffReset);
    assert_eq!(write(&store, change).await, StaffWriteOutcome::Done(bo.id));
    assert_eq!(find(&of("https://a.example", "2")).await, None);
}

pub(crate) async fn passkeys_are_kept_until_a_reset_or_a_provider(store: AnyStore) {
    let ana = added(&store, "Ana", 1).await;
    let passkey = |name: &str, used: Option<&str>| -> Passkey {
        Passkey {
            id: vec![0, 255],
            user: vec![1, 2, 3],
            algorithm: -257,
            key: vec![7; 1100],
            count: u32::MAX,
            is_backup_eligible: used.map(|_| true),
            name: name.to_owned(),
            created_at: "2026-12-01T12:00:00.001Z".parse().unwrap(),
            used_at: used.map(|at| at.parse().unwrap()),
        }
    };
    let passkeys = vec![
        passkey("Téléphone \"1\"", None),
        passkey("🔑", Some("2026-12-02T00:00:00Z")),
    ];
    let mut member = ana.clone().with_passkeys(passkeys);
    let change = StaffChange::new(ana.version, member.clone(), ActType::StaffPasskeyAdded);
    assert_eq!(write(&store, change).await, StaffWriteOutcome::Done(ana.id));
    let find = async || {
        store
            .find_staff(StaffKey::Id(ana.id))
            .await
            .unwrap()
            .unwrap()
    };
    assert_eq!(find().await, member);
    // A use leaves the version, so two at once are both written.
    member.passkeys.truncate(1);
    let begins = session(ana.id, 1, 10);
    for _ in 0..2 {
        let used = sessions(&member, Some(begins.clone()), EndedSessions::All);
        assert_eq!(write(&store, used).await, StaffWriteOutcome::Done(ana.id));
    }
    assert_eq!(
        store.find_session(begins.digest).await.unwrap(),
        Some((begins, member.clone()))
    );
    assert_eq!(store.list_staff().await.unwrap(), [member.clone()]);
    let identity = Identity {
        issuer: "https://a.example".to_owned(),
        subject: "1".to_owned(),
    };
    for without in [
        member.clone().reset(&token(4), time(20)),
        member.clone().with_identity(identity),
    ] {
        assert_eq!(without.passkeys, []);
    }
    let reset = member.clone().reset(&token(4), time(20));
    let change = StaffChange::new(member.version, reset.clone(), ActType::StaffReset);
    assert_eq!(write(&store, change).await, StaffWriteOutcome::Done(ana.id));
    assert_eq!(find().await, reset);
}

pub(crate) async fn there_are_at_most_1000_members_although_many_are_added_at_once(
    store: AnyStore,
) {
    let add = async |number: i64| {
        let member = named(&format!("member {number}"), number.unsigned_abs());
        write(&store, StaffChange::new(0, member, ActType::StaffAdded)).await
    };
    for ten in 0..99 {
        join_all((ten * 10..ten * 10 + 10).map(&add)).await;
    }
    join_all((990..StaffMember::MAX - 1).map(&add)).await;
    let added = join_all((StaffMember::MAX..StaffMember::MAX + 8).map(&add)).await;
    let done = |written: &&StaffWriteOutcome| matches!(written, StaffWriteOutcome::Done(_));
    assert_eq!(added.iter().filter(done).count(), 1);
    assert_eq!(
        i64::try_from(store.list_staff().await.unwrap().len()).unwrap(),
        StaffMember::MAX
    );
}

pub(crate) async fn a_change_of_an_older_state_of_a_member_changes_nothing(store: AnyStore) {
    let ana = added(&store, "Ana", 1).await;
    let manager = ana.clone().with_role(Role::Manager);
    let change = StaffChange::new(1, manager.clone(), ActType::StaffRoleChanged);
    assert_eq!(
        write(&store, change.clone()).await,
        StaffWriteOutcome::Done(ana.id)
    );
    // Again, and with a session: neither is there afterwards.
    let again = StaffChange {
        new_session: Some(session(ana.id, 2, 10)),
        ..change
    };
    assert_eq!(write(&store, again).await, StaffWriteOutcome::Stale);
    assert_eq!(
        store.find_staff(StaffKey::Id(ana.id)).await.unwrap(),
        Some(manager)
    );
    assert_eq!(digests(&store).await, []);
}

pub(crate) async fn sessions_begin_end_and_are_forgotten_with_their_member(store: AnyStore) {
    let (ana, bo) = (added(&store, "Ana", 1).await, added(&store, "Bo", 2).await);
    for (member, seed) in [(&ana, 11), (&ana, 12), (&ana, 13), (&bo, 14)] {
        let begins = session(member.id, seed, i64::try_from(seed).unwrap());
        let change = sessions(member, Some(begins.clone()), EndedSessions::None);
        assert_eq!(
            write(&store, change).await,
            StaffWriteOutcome::Done(member.id)
        );
        let found = store.find_session(begins.digest).await.unwrap();
        assert_eq!(found, Some((begins, member.clone())));
    }
    assert_eq!(store.find_session(token(15).digest()).await.unwrap(), None);
    let of = |seeds: &[u64]| {
        seeds
            .iter()
            .map(|&seed| token(seed).digest())
            .collect::<Vec<_>>()
    };
    assert_eq!(digests(&store).await, of(&[11, 12, 13, 14]));
    let end = async |ends| write(&store, sessions(&ana, None, ends)).await;
    // That of somebody else stays.
    end(EndedSessions::One(token(14).digest())).await;
    end(EndedSessions::One(token(11).digest())).await;
    assert_eq!(digests(&store).await, of(&[12, 13, 14]));
    end(EndedSessions::Others(token(13).digest())).await;
    assert_eq!(digests(&store).await, of(&[13, 14]));
    end(EndedSessions::All).await;
    assert_eq!(digests(&store).await, of(&[14]));
    for (seen, begun, left) in [(13, 13, 1), (14, 0, 0)] {
        store
            .forget_sessions(time(seen), time(begun))
            .await
            .unwrap();
        assert_eq!(digests(&store).await.len(), left);
    }
}

pub(crate) async fn a_session_is_used_later_and_never_earlier(store: AnyStore) {
    let ana = added(&store, "Ana", 1).await;
    let begins = session(ana.id, 2, 10);
    write(
        &store,
        sessions(&ana, Some(begins.clone()), EndedSessions::None),
    )
    .await;
    for (used, seen) in [(70, 70), (40, 70)] {
        store
            .touch_session(begins.digest, time(used))
            .await
            .unwrap();
        let (found, _) = store.find_session(begins.digest).await.unwrap().unwrap();
        assert_eq!(
            found,
            StaffSession {
                seen_at: time(seen),
                ..begins.clone()
            }
        );
    }
}

pub(crate) async fn each_act_of_staff_is_in_the_audit_trail(store: AnyStore) {
    let ana = added(&store, "Ana", 1).await;
    let actor = Actor::Staff(ana.id);
    let change = StaffChange::new(1, ana.clone().disable(at(20)), ActType::StaffDisabled);
    store
        .write_staff(change, WriteContext::new(actor, at(20)))
        .await
        .unwrap();
    let subject = JournalSubject {
        kind: SubjectKind::Staff.into(),
        id: None,
    };
    let failed = Act {
        kind: ActType::StaffSignInFailed.into(),
        subject,
        details: vec![],
    };
    store
        .record_act(failed.clone(), WriteContext::new(Actor::Clock, at(30)))
        .await
        .unwrap();
    let query = AuditQuery {
        limit: 100,
        ..AuditQuery::default()
    };
    let (entries, _) = store.list_audit(&query).await.unwrap();
    let acts: Vec<_> = entries
        .into_iter()
        .map(|entry| match entry {
            AuditEntry::Act { act, actor, .. } => (act, actor.actor),
            AuditEntry::Change(change) => panic!("{change:?}"),
        })
        .collect();
    let added = ana.create_act(ActType::StaffAdded);
    assert_eq!(
        added.details,
        [
            ("name".into(), "Ana".into()),
            ("role".into(), "clerk".into())
        ]
    );
    let disabled = ana.create_act(ActType::StaffDisabled);
    assert_eq!(
        acts,
        [
            (added, Actor::Command),
            (disabled, actor),
            (failed, Actor::Clock)
        ]
    );
}

pub(crate) async fn a_member_and_a_key_with_the_same_number_repeat_their_own_requests(
    store: AnyStore,
) {
    let key = store.create_key(new_key(1, None), act(0)).await.unwrap().id;
    let create = async |owner: RequestOwner| {
        let request = IdempotentRequest {
            caller: owner,
            lineage: owner,
            operation: "createPet",
            key: IdempotencyKey::new("a".to_owned()).unwrap(),
            fingerprint: [1; 32],
        };
        let context = WriteContext {
            idempotency: Some(request),
            ..act(0)
        };
        let pet = new_pet("Rex", 1, petstore_domain::PetStatus::Available);
        store.create_pet(pet, context, respond).await.unwrap()
    };
    let staff = StaffId(key.0);
    for owner in [RequestOwner::from(key), RequestOwner::from(staff)] {
        assert!(
            matches!(create(owner).await, CreationOutcome::New(_)),
            "{owner:?}"
        );
        assert!(
            matches!(create(owner).await, CreationOutcome::Replayed(_)),
            "{owner:?}"
        );
    }
}
