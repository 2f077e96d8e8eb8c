//! Changes of the profile of a store, as a program or a manager makes them.

use petstore::{
    domain::{
        StoredResponse, WriteContext,
        store_area::{Act, ActType, JournalSubject, Profile, ProfileDecision, SubjectKind},
    },
    store::{Store, Written},
};

/// Replaces the profile.
pub(crate) async fn set(store: &dyn Store, context: WriteContext, profile: Profile) {
    let version = store.profile().await.unwrap().version + 1;
    let subject = JournalSubject { kind: SubjectKind::Profile.into(), id: None };
    let act = Act { kind: ActType::ProfileChanged.into(), subject, details: Vec::new() };
    let decision = ProfileDecision { profile: Profile { version, ..profile }, act: Some(act) };
    let written = store.write_profile(decision, StoredResponse::default(), context).await;
    assert_eq!(written.unwrap(), Written::Done);
}
