//! Members of the staff and their sessions, as the rows of every store have them.

use jiff::Timestamp;

use crate::domain::{
    StaffId, StaffName,
    staff::{EndedSessions, PasswordHash, SecondFactor, StaffMember, StaffSession, TokenDigest},
};

/// How many sessions of one member are kept; a new one replaces the oldest.
pub(super) const MAX_SESSIONS: i64 = 100;

/// The columns of a member, in their order.
#[derive(Debug)]
pub(super) struct StaffRow {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) created_at: i64,
    pub(super) disabled_at: Option<i64>,
    pub(super) password: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) link_until: Option<i64>,
    pub(super) totp_secret: Option<Vec<u8>>,
    pub(super) totp_last_period: Option<i64>,
    pub(super) recovery: Option<Vec<u8>>,
    pub(super) version: i64,
}

impl From<&StaffMember> for StaffRow {
    fn from(member: &StaffMember) -> Self {
        let (link, link_until) = member
            .link
            .map(|(digest, until)| (digest.as_bytes().to_vec(), until.as_millisecond()))
            .unzip();
        let second = member.second_factor.as_ref();
        let recovery = |second: &SecondFactor| {
            second.recovery.iter().flat_map(|digest| *digest.as_bytes()).collect()
        };
        Self {
            id: member.id.0,
            name: member.name.as_str().to_owned(),
            role: member.role.as_str().to_owned(),
            created_at: member.created_at.as_millisecond(),
            disabled_at: member.disabled_at.map(Timestamp::as_millisecond),
            password: member.password.as_ref().map(|hash| hash.as_bytes().to_vec()),
            link,
            link_until,
            totp_secret: second.map(|second| second.sealed_secret.clone()),
            totp_last_period: second.map(|second| second.last_period),
            recovery: second.map(recovery),
            version: member.version,
        }
    }
}

impl StaffRow {
    /// The member; `None` if a column is invalid.
    pub(super) fn member(self) -> Option<StaffMember> {
        let second_factor = match (self.totp_secret, self.totp_last_period, self.recovery) {
            (Some(sealed_secret), Some(last_period), Some(recovery)) => {
                let recovery = recovery.chunks(32).map(digest).collect::<Option<_>>()?;
                Some(SecondFactor { sealed_secret, last_period, recovery })
            }
            _ => None,
        };
        let link = match self.link.zip(self.link_until) {
            Some((link, until)) => Some((digest(&link)?, time(until)?)),
            None => None,
        };
        let password = match self.password {
            Some(bytes) => Some(PasswordHash::from_bytes(&bytes)?),
            None => None,
        };
        Some(StaffMember {
            id: StaffId(self.id),
            name: StaffName::new(&self.name)?,
            role: self.role.parse().ok()?,
            created_at: time(self.created_at)?,
            disabled_at: match self.disabled_at {
                Some(at) => Some(time(at)?),
                None => None,
            },
            password,
            link,
            second_factor,
            version: self.version,
        })
    }
}

/// The columns of a session, in their order.
pub(super) type SessionRow = (Vec<u8>, i64, i64, i64, Option<i64>, String, String);

/// The session; `None` if a column is invalid.
pub(super) fn session(row: SessionRow) -> Option<StaffSession> {
    let (of, staff, begun_at, seen_at, confirmed_at, address, browser) = row;
    Some(StaffSession {
        digest: digest(&of)?,
        staff: StaffId(staff),
        begun_at: time(begun_at)?,
        seen_at: time(seen_at)?,
        confirmed_at: match confirmed_at {
            Some(at) => Some(time(at)?),
            None => None,
        },
        address,
        browser,
    })
}

impl EndedSessions {
    /// The session that goes on although others end, and the only one that ends; `None` if none ends.
    #[expect(clippy::type_complexity, reason = "two parameters of a statement")]
    pub(super) fn selected(&self) -> Option<(Option<&[u8]>, Option<&[u8]>)> {
        match self {
            Self::None => None,
            Self::All => Some((None, None)),
            Self::Others(kept) => Some((Some(kept.as_bytes()), None)),
            Self::One(ended) => Some((None, Some(ended.as_bytes()))),
        }
    }
}

fn digest(bytes: &[u8]) -> Option<TokenDigest> {
    bytes.try_into().ok().map(TokenDigest::from_bytes)
}

fn time(millisecond: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(millisecond).ok()
}
