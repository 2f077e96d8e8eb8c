//! Members of the staff and their sessions, as the rows of every store have them.

use jiff::Timestamp;

use super::columns::Columns;
use crate::domain::{
    StaffId, StaffName,
    staff::{EndedSessions, PasswordHash, SecondFactor, StaffMember, StaffSession, TokenDigest},
};

/// How many sessions of one member are kept; a new one replaces the oldest.
pub(super) const MAX_SESSIONS: i64 = 100;

/// The columns in the order that [`member`] expects.
macro_rules! columns {
    () => {
        "staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret,
        totp_last_period, recovery, version"
    };
}
/// The columns in the order that [`session`] expects.
macro_rules! session_columns {
    () => {
        "digest, staff_id, begun_at, seen_at, confirmed_at, address, browser"
    };
}

pub(super) const LIST: &str = concat!("SELECT ", columns!(), " FROM staff ORDER BY id");
pub(super) const BY_ID: &str = concat!("SELECT ", columns!(), " FROM staff WHERE id = $1");
pub(super) const BY_NAME: &str = concat!("SELECT ", columns!(), " FROM staff WHERE name_key = $1");
pub(super) const BY_LINK: &str = concat!("SELECT ", columns!(), " FROM staff WHERE link = $1");
pub(super) const COUNT: &str = "SELECT count(*) FROM staff";
pub(super) const UPDATE: &str = "UPDATE staff SET role = $1, disabled_at = $2, password = $3,
    link = $4, link_until = $5, totp_secret = $6, totp_last_period = $7, recovery = $8, version = $9
    WHERE id = $10 AND version = $11";
pub(super) const END: &str = "DELETE FROM staff_sessions
    WHERE staff_id = $1 AND digest IS DISTINCT FROM $2 AND digest = coalesce($3, digest)";
pub(super) const BEGIN: &str = concat!(
    "INSERT INTO staff_sessions (",
    session_columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7)"
);
pub(super) const LIMIT: &str = "DELETE FROM staff_sessions WHERE staff_id = $1 AND digest NOT IN
    (SELECT digest FROM staff_sessions WHERE staff_id = $1 ORDER BY begun_at DESC LIMIT $2)";
/// The columns of the session come first, then those of the member.
pub(super) const SESSION: &str = concat!(
    "SELECT ",
    session_columns!(),
    ", ",
    columns!(),
    " FROM staff_sessions JOIN staff ON staff.id = staff_id WHERE digest = $1"
);
pub(super) const SESSIONS: &str =
    concat!("SELECT ", session_columns!(), " FROM staff_sessions ORDER BY begun_at, digest");
pub(super) const FORGET: &str = "DELETE FROM staff_sessions WHERE seen_at <= $1 OR begun_at <= $2";

/// The values of the columns of a member that a store writes.
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

/// The member in the columns from `at` on.
pub(super) fn member<R: Columns>(row: &R, at: usize) -> Result<StaffMember, R::Error> {
    let recovery = row.optional_decoded(at + 10, |all| all.chunks(32).map(digest).collect())?;
    let second_factor = match (row.value(at + 8)?, row.value(at + 9)?, recovery) {
        (Some(sealed_secret), Some(last_period), Some(recovery)) => {
            Some(SecondFactor { sealed_secret, last_period, recovery })
        }
        _ => None,
    };
    Ok(StaffMember {
        id: StaffId(row.value(at)?),
        name: row.parsed(at + 1, StaffName::new)?,
        role: row.parsed(at + 2, |role| role.parse().ok())?,
        created_at: row.time(at + 3)?,
        disabled_at: row.optional_time(at + 4)?,
        password: row.optional_decoded(at + 5, PasswordHash::from_bytes)?,
        link: row.optional_decoded(at + 6, digest)?.zip(row.optional_time(at + 7)?),
        second_factor,
        version: row.value(at + 11)?,
    })
}

/// The session in a row.
pub(super) fn session<R: Columns>(row: &R) -> Result<StaffSession, R::Error> {
    Ok(StaffSession {
        digest: TokenDigest::from_bytes(row.bytes(0)?),
        staff: StaffId(row.value(1)?),
        begun_at: row.time(2)?,
        seen_at: row.time(3)?,
        confirmed_at: row.optional_time(4)?,
        address: row.value(5)?,
        browser: row.value(6)?,
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
