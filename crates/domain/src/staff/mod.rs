//! The people who work in the store with the console: their names and roles, how they sign in, and
//! their sessions.

#![expect(missing_docs, reason = "a comment says what a name does not")]

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
    store_area::{Act, ActType, JournalSubject, Language, SubjectKind},
    words::words,
};

pub use self::{
    change::{EndedSessions, StaffChange},
    name::{StaffName, parse_line},
    passkey::{Assertion, Passkey},
    password::{Password, PasswordHash, WeakPassword},
    public_key::PublicKey,
    second_factor::{RECOVERY_CODE_COUNT, SecondFactor, TotpSecret, generate_recovery_code},
    session::StaffSession,
    token::{Token, TokenDigest},
};

/// The identity of a member at an OpenID provider. An e-mail address or a name is no identity, because a provider
/// can give it to another person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
}

words! {
    /// The rights of a member of the staff. Each role includes those before it.
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

/// A member of the staff, with the secrets with which the member signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMember {
    /// 0 for a new member, until the store gives a number.
    pub id: StaffId,
    pub name: StaffName,
    pub role: Role,
    /// The language of the pages; `None` for the language of the store.
    pub language: Option<Language>,
    pub created_at: Timestamp,
    /// The time since which the member cannot sign in; `None` for a member who can.
    pub disabled_at: Option<Timestamp>,
    /// The hash of the password; `None` until the member has chosen one.
    pub password: Option<PasswordHash>,
    /// The open link with which the member can choose a password, and the time at which the link expires.
    pub link: Option<(TokenDigest, Timestamp)>,
    /// The app that shows codes, if the member has one.
    pub second_factor: Option<SecondFactor>,
    /// The passkeys. Each signs in without a password, and is a second factor after a password. Only members with a password
    /// have passkeys.
    pub passkeys: Vec<Passkey>,
    /// The identity with which the member signs in, in place of a password and a second factor. A person who leaves the
    /// provider must have no other way in.
    pub identity: Option<Identity>,
    /// From 1. Each change gives the next one.
    pub version: i64,
}

/// The time for which a link is valid, in seconds: 24 hours.
const LINK_SECONDS: i64 = 24 * 60 * 60;

impl StaffMember {
    /// The maximum number of members, including disabled members.
    pub const MAX: i64 = 1000;

    /// Returns a new member, who must choose a password by this link.
    pub fn new(name: StaffName, role: Role, link: &Token, now: Timestamp) -> Self {
        let member = Self {
            id: StaffId(0),
            name,
            role,
            language: None,
            created_at: now,
            disabled_at: None,
            password: None,
            link: None,
            second_factor: None,
            passkeys: vec![],
            identity: None,
            version: 0,
        };
        member.reset(link, now)
    }

    /// Returns the member, who signs in at a provider from now on.
    pub fn with_identity(self, identity: Identity) -> Self {
        Self {
            password: None,
            link: None,
            second_factor: None,
            passkeys: vec![],
            identity: Some(identity),
            ..self
        }
        .next()
    }

    /// Returns the member after the only use of the link.
    pub fn without_link(self) -> Self {
        Self { link: None, ..self }.next()
    }

    /// Returns the member, who must choose another password or a provider by this link, and then
    /// set up the second factor and passkeys again. A disabled member can sign in again.
    pub fn reset(self, link: &Token, now: Timestamp) -> Self {
        let expires_at = Timestamp::from_second(now.as_second() + LINK_SECONDS).unwrap_or(now);
        Self {
            disabled_at: None,
            password: None,
            link: Some((link.digest(), expires_at)),
            second_factor: None,
            passkeys: vec![],
            identity: None,
            ..self
        }
        .next()
    }

    pub fn with_password(self, hash: PasswordHash) -> Self {
        Self {
            password: Some(hash),
            link: None,
            ..self
        }
        .next()
    }

    pub fn with_second_factor(self, second_factor: Option<SecondFactor>) -> Self {
        Self {
            second_factor,
            ..self
        }
        .next()
    }

    pub fn with_passkeys(self, passkeys: Vec<Passkey>) -> Self {
        Self { passkeys, ..self }.next()
    }

    pub fn with_language(self, language: Option<Language>) -> Self {
        Self { language, ..self }.next()
    }

    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }.next()
    }

    /// Returns the member, who cannot sign in any more.
    pub fn disable(self, now: Timestamp) -> Self {
        Self {
            disabled_at: Some(now),
            link: None,
            ..self
        }
        .next()
    }

    /// Returns the change that `apply` makes, with an act in the audit trail.
    pub fn change(self, apply: impl FnOnce(Self) -> Self, act: ActType) -> StaffChange {
        StaffChange::new(self.version, apply(self), act)
    }

    /// Returns the member in the next version.
    fn next(self) -> Self {
        Self {
            version: self.version + 1,
            ..self
        }
    }

    /// Whether a password is not enough to sign in.
    pub fn has_second_factor(&self) -> bool {
        self.second_factor.is_some() || !self.passkeys.is_empty()
    }

    pub fn has_link_at(&self, now: Timestamp) -> bool {
        self.link
            .as_ref()
            .is_some_and(|(_, expires_at)| now < *expires_at)
    }

    /// Returns an act on the member. If it decides who may do what, it has the name, the role and the provider.
    pub fn act(&self, kind: ActType) -> Act {
        let names_member = matches!(
            kind,
            ActType::StaffAdded | ActType::StaffLinked | ActType::StaffRoleChanged
        );
        let mut details: Vec<(Cow<'static, str>, String)> = Vec::new();
        if names_member {
            details.push(("name".into(), self.name.as_str().to_owned()));
            details.push(("role".into(), self.role.as_str().to_owned()));
            if let Some(identity) = &self.identity {
                details.push(("issuer".into(), identity.issuer.clone()));
            }
        }
        Act {
            kind: kind.into(),
            subject: JournalSubject {
                kind: SubjectKind::Staff.into(),
                id: Some(self.id.0),
            },
            details,
        }
    }
}
