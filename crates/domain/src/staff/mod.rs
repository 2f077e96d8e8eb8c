//! The staff, who use the console: names, roles, credentials and sessions.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

mod change;
mod guessable;
mod name;
mod passkey;
mod password;
mod public_key;
mod second_factor;
mod session;
mod token;

use std::borrow::Cow;

use jiff::Timestamp;

use super::{
    StaffId,
    named_enum::named_enum,
    store_area::{Act, ActType, JournalSubject, Language, SubjectKind},
};

pub use self::{
    change::{EndedSessions, StaffChange},
    name::{StaffName, parse_line},
    passkey::{Assertion, Passkey, PasskeyProblem},
    password::{Password, PasswordHash, WeakPassword},
    public_key::PublicKey,
    second_factor::{RECOVERY_CODE_COUNT, SecondFactor, TotpSecret, generate_recovery_code},
    session::StaffSession,
    token::{Token, TokenDigest},
};

/// The identity of a member at an OpenID provider: the `iss` and `sub` claims.
///
/// E-mail addresses and names are not used as identities, because a provider can reassign them to
/// another person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
}

named_enum! {
    /// The permissions of a member of the staff. Each role includes the permissions of the roles
    /// before it.
    #[derive(PartialOrd, Ord)]
    pub enum Role {
        /// Read animals and orders.
        Viewer = "viewer",
        /// Change animals and orders.
        Clerk = "clerk",
        /// Read the audit trail, and manage webhooks, API keys and the staff.
        Manager = "manager",
    }
}

/// A member of the staff, with the credentials for signing in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMember {
    /// The number of the member; 0 until the store assigns it.
    pub id: StaffId,
    pub name: StaffName,
    pub role: Role,
    /// The language of the console for this member; `None` for the language of the store.
    pub language: Option<Language>,
    pub created_at: Timestamp,
    /// When the member was disabled, and could no longer sign in; `None` for an active member.
    pub disabled_at: Option<Timestamp>,
    /// The hash of the password; `None` until the member has chosen one.
    pub password: Option<PasswordHash>,
    /// The unused link with which the member can choose a password.
    pub link: Option<PasswordLink>,
    /// The authenticator app, if the member has set one up.
    pub second_factor: Option<SecondFactor>,
    /// The passkeys. Each can be used to sign in without a password, or as the second factor after
    /// a password. Only members with a password have passkeys.
    pub passkeys: Vec<Passkey>,
    /// The identity at a provider, with which the member signs in instead of a password and a
    /// second factor. Such a member has no other way to sign in, so a person who loses the account
    /// at the provider also loses access to the console.
    pub identity: Option<Identity>,
    /// Starts at 1 and increases by one with each change.
    pub version: i64,
}

/// A link with which a member can choose a password once. It contains a secret token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordLink {
    /// The digest of the token.
    pub digest: TokenDigest,
    pub expires_at: Timestamp,
}

impl PasswordLink {
    /// The validity of a link, in seconds: 24 hours.
    const VALIDITY_SECONDS: i64 = 24 * 60 * 60;

    /// Creates a link with this token, which expires 24 hours after `now`.
    fn new(token: &Token, now: Timestamp) -> Self {
        // If the time is out of range, the link expires at once.
        let expires_at =
            Timestamp::from_second(now.as_second() + Self::VALIDITY_SECONDS).unwrap_or(now);
        Self {
            digest: token.digest(),
            expires_at,
        }
    }
}

impl StaffMember {
    /// The maximum number of members, including disabled members.
    pub const MAX: i64 = 1000;

    /// Creates a member with the version 1, who must first choose a password. `token` is the token
    /// of the link for this.
    pub fn new(name: StaffName, role: Role, token: &Token, now: Timestamp) -> Self {
        Self {
            id: StaffId(0),
            name,
            role,
            language: None,
            created_at: now,
            disabled_at: None,
            password: None,
            link: Some(PasswordLink::new(token, now)),
            second_factor: None,
            passkeys: vec![],
            identity: None,
            version: 1,
        }
    }

    /// Replaces all credentials by an identity at a provider.
    pub fn with_identity(self, identity: Identity) -> Self {
        Self {
            password: None,
            link: None,
            second_factor: None,
            passkeys: vec![],
            identity: Some(identity),
            ..self
        }
        .with_next_version()
    }

    /// Invalidates the link, after its single use.
    pub fn without_link(self) -> Self {
        Self { link: None, ..self }.with_next_version()
    }

    /// Removes all credentials, and enables a disabled member again. `token` is the token of the
    /// link with which the member must then choose a new password or a provider.
    pub fn reset(self, token: &Token, now: Timestamp) -> Self {
        Self {
            disabled_at: None,
            password: None,
            link: Some(PasswordLink::new(token, now)),
            second_factor: None,
            passkeys: vec![],
            identity: None,
            ..self
        }
        .with_next_version()
    }

    /// Sets the password, and invalidates the link by which it was chosen.
    pub fn with_password(self, hash: PasswordHash) -> Self {
        Self {
            password: Some(hash),
            link: None,
            ..self
        }
        .with_next_version()
    }

    pub fn with_second_factor(self, second_factor: Option<SecondFactor>) -> Self {
        Self {
            second_factor,
            ..self
        }
        .with_next_version()
    }

    pub fn with_passkeys(self, passkeys: Vec<Passkey>) -> Self {
        Self { passkeys, ..self }.with_next_version()
    }

    pub fn with_language(self, language: Option<Language>) -> Self {
        Self { language, ..self }.with_next_version()
    }

    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }.with_next_version()
    }

    /// Disables the member, who can then no longer sign in.
    pub fn disable(self, now: Timestamp) -> Self {
        Self {
            disabled_at: Some(now),
            link: None,
            ..self
        }
        .with_next_version()
    }

    /// Creates the change from this member to the result of `apply`. The act for the audit trail
    /// has this type.
    pub fn change(self, apply: impl FnOnce(Self) -> Self, act_type: ActType) -> StaffChange {
        StaffChange::new(self.version, apply(self), act_type)
    }

    /// Returns the member with the next version number.
    fn with_next_version(self) -> Self {
        Self {
            version: self.version + 1,
            ..self
        }
    }

    /// Whether the member needs a second factor besides the password to sign in.
    pub fn has_second_factor(&self) -> bool {
        self.second_factor.is_some() || !self.passkeys.is_empty()
    }

    /// Whether the member has a link that is still valid at `now`.
    pub fn has_link_at(&self, now: Timestamp) -> bool {
        self.link.as_ref().is_some_and(|link| now < link.expires_at)
    }

    /// Creates an act of this type on the member, for the audit trail. The details of an act that
    /// affects permissions have the name, the role and the provider.
    pub fn create_act(&self, act_type: ActType) -> Act {
        let affects_permissions = matches!(
            act_type,
            ActType::StaffAdded | ActType::StaffLinked | ActType::StaffRoleChanged
        );
        let mut details: Vec<(Cow<'static, str>, String)> = Vec::new();
        if affects_permissions {
            details.push(("name".into(), self.name.as_str().to_owned()));
            details.push(("role".into(), self.role.as_str().to_owned()));
            if let Some(identity) = &self.identity {
                details.push(("issuer".into(), identity.issuer.clone()));
            }
        }
        Act {
            kind: act_type.into(),
            subject: JournalSubject {
                kind: SubjectKind::Staff.into(),
                id: Some(self.id.0),
            },
            details,
        }
    }
}
