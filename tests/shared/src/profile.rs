//! Changes of the profile of a store, as a program or a manager makes them.

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{Act, ActType, JournalSubject, NewLogo, Profile, ProfileDecision, SubjectKind},
};
use petstore_store::{Store, WriteOutcome};

/// Replaces the profile, with the logo that the store has.
pub async fn set(store: &dyn Store, context: WriteContext, profile: Profile) {
    let logo = store.profile().await.unwrap().logo;
    write(store, context, Profile { logo, ..profile }, None).await;
}

/// Gives the store a logo, or none.
pub async fn set_logo(store: &dyn Store, context: WriteContext, new: Option<NewLogo>) {
    let present = store.profile().await.unwrap();
    let profile = Profile {
        logo: new.as_ref().map(|new| new.logo),
        ..present
    };
    write(store, context, profile, new.map(|new| new.png)).await;
}

async fn write(store: &dyn Store, context: WriteContext, profile: Profile, png: Option<Vec<u8>>) {
    let version = store.profile().await.unwrap().version + 1;
    let subject = JournalSubject {
        kind: SubjectKind::Profile.into(),
        id: None,
    };
    let act = Act {
        kind: ActType::ProfileChanged.into(),
        subject,
        details: Vec::new(),
    };
    let decision = ProfileDecision {
        profile: Profile { version, ..profile },
        png,
        act: Some(act),
    };
    let written = store
        .write_profile(decision, StoredResponse::default(), context)
        .await;
    assert_eq!(written.unwrap(), WriteOutcome::Done);
}
