//! The rules for the profile of the store: what a change makes of it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{
    Act, ActType, JournalSubject, NewLogo, Preconditions, Profile, ProfilePatch, SubjectKind,
};

/// A change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileChange {
    Patch(Box<ProfilePatch>),
    /// Replaces the logo, or removes it.
    Logo(Option<NewLogo>),
}

impl ProfileChange {
    /// Returns the profile with this change, in the same version.
    fn apply(&self, present: &Profile) -> Profile {
        match self {
            Self::Patch(patch) => present.with_patch(patch),
            Self::Logo(new_logo) => Profile {
                logo: new_logo.as_ref().map(|new_logo| new_logo.logo),
                ..present.clone()
            },
        }
    }

    /// Returns the content of the file of a new logo.
    fn new_png(&self) -> Option<Vec<u8>> {
        match self {
            Self::Logo(Some(new_logo)) => Some(new_logo.png.clone()),
            Self::Logo(None) | Self::Patch(_) => None,
        }
    }
}

/// The result of a change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileDecision {
    /// The profile after the change.
    pub profile: Profile,
    /// The file of a new logo.
    pub png: Option<Vec<u8>>,
    /// The act for the audit trail; `None` if nothing changes. It names the members and not their values, because the
    /// audit trail would keep a telephone number for longer than the store wants.
    pub act: Option<Act>,
}

/// The reason why a profile is not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileRefusal {
    PreconditionRequired,
    /// The profile has another version than the change requires. This is the present profile.
    PreconditionFailed(Box<Profile>),
}

/// Decides what a change of the profile makes of it. A new logo needs no precondition.
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
        act: Some(profile_act(&changed_members)),
    })
}

/// Returns the act for the audit trail, which names the changed members.
fn profile_act(changed_members: &[&str]) -> Act {
    Act {
        kind: ActType::ProfileChanged.into(),
        subject: JournalSubject {
            kind: SubjectKind::Profile.into(),
            id: None,
        },
        details: vec![("members".into(), changed_members.join(", "))],
    }
}
