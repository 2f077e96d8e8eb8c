//! The rules for changing the profile of the store.

use super::{
    Act, ActType, JournalSubject, NewLogo, Preconditions, Profile, ProfilePatch, SubjectKind,
};

/// A change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileChange {
    /// Changes members other than the logo.
    Patch(Box<ProfilePatch>),
    /// Replaces the logo; `None` removes it.
    Logo(Option<NewLogo>),
}

impl ProfileChange {
    /// Returns the changed profile. Its version does not increase yet.
    fn apply(&self, present: &Profile) -> Profile {
        match self {
            Self::Patch(patch) => present.with_patch(patch),
            Self::Logo(new_logo) => Profile {
                logo: new_logo.as_ref().map(|new_logo| new_logo.logo),
                ..present.clone()
            },
        }
    }

    /// Returns the PNG file of a new logo, if the change sets one.
    fn new_png(&self) -> Option<Vec<u8>> {
        match self {
            Self::Logo(Some(new_logo)) => Some(new_logo.png.clone()),
            Self::Logo(None) | Self::Patch(_) => None,
        }
    }
}

/// The outcome of a change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileDecision {
    /// The profile after the change.
    pub profile: Profile,
    /// The PNG file of a new logo, if the change sets one.
    pub png: Option<Vec<u8>>,
    /// The act for the audit trail; `None` if nothing changes. It names only the changed members,
    /// not their values: otherwise the audit trail would keep, for example, a telephone number that
    /// the store has removed.
    pub act: Option<Act>,
}

/// The reason why a change of the profile is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileRefusal {
    /// A patch must have a precondition.
    PreconditionRequired,
    /// The profile has a different version than the change requires. Contains the present profile.
    PreconditionFailed(Box<Profile>),
}

/// Decides how the profile changes, or why the change is rejected. Only a change of the logo needs
/// no precondition.
pub fn decide_profile(
    change: &ProfileChange,
    preconditions: &Preconditions,
    present: &Profile,
) -> Result<ProfileDecision, ProfileRefusal> {
    let needs_preconditions = matches!(change, ProfileChange::Patch(_));
    if needs_preconditions && !preconditions.are_given() {
        return Err(ProfileRefusal::PreconditionRequired);
    }
    if !preconditions.hold_for(Some(present.version)) {
        let current = Box::new(present.clone());
        return Err(ProfileRefusal::PreconditionFailed(current));
    }

    let mut profile = change.apply(present);
    let changed_members = present.differences(&profile);
    if changed_members.is_empty() {
        return Ok(ProfileDecision {
            profile,
            png: None,
            act: None,
        });
    }

    profile.version += 1;
    Ok(ProfileDecision {
        profile,
        png: change.new_png(),
        act: Some(create_profile_act(&changed_members)),
    })
}

/// Creates the act for the audit trail, with the names of the changed members.
fn create_profile_act(changed_members: &[&str]) -> Act {
    Act {
        kind: ActType::ProfileChanged.into(),
        subject: JournalSubject {
            kind: SubjectKind::Profile.into(),
            id: None,
        },
        details: vec![("members".into(), changed_members.join(", "))],
    }
}
