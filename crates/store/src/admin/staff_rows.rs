//! The rows of staff members and of their sessions.

use jiff::Timestamp;
use petstore_domain::{
    StaffId, StaffName,
    staff::{
        Identity, Passkey, PasswordHash, PasswordLink, SecondFactor, StaffMember, StaffSession,
        TokenDigest,
    },
};
use serde::{Deserialize, Serialize};

use crate::columns::Columns;

/// Expands to the columns in the order that [`read_member`] expects. This is a macro because
/// `concat!` takes no constants.
macro_rules! member_columns {
    () => {
        "staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret,
        totp_last_period, recovery, version, language, issuer, subject, passkeys"
    };
}
/// Expands to the columns in the order that [`read_session`] expects. This is a macro because
/// `concat!` takes no constants.
macro_rules! session_columns {
    () => {
        "digest, staff_id, begun_at, seen_at, confirmed_at, address, browser, provider_session"
    };
}
pub(super) use {member_columns, session_columns};

/// The number of columns that [`read_session`] reads.
pub(super) const SESSION_WIDTH: usize = 8;

/// The length of a digest in bytes.
const DIGEST_LENGTH: usize = 32;

/// The columns of the link through which a member chooses a password.
pub(super) struct LinkColumns<'m> {
    pub(super) digest: Option<&'m [u8]>,
    /// When the link expires, in milliseconds.
    pub(super) until: Option<i64>,
}

impl<'m> From<&'m StaffMember> for LinkColumns<'m> {
    fn from(member: &'m StaffMember) -> Self {
        match &member.link {
            Some(link) => Self {
                digest: Some(link.digest.as_bytes()),
                until: Some(link.expires_at.as_millisecond()),
            },
            None => Self {
                digest: None,
                until: None,
            },
        }
    }
}

/// The columns of a member's identity at an OpenID provider.
pub(super) struct IdentityColumns<'m> {
    pub(super) issuer: Option<&'m str>,
    pub(super) subject: Option<&'m str>,
}

impl<'m> From<&'m StaffMember> for IdentityColumns<'m> {
    fn from(member: &'m StaffMember) -> Self {
        let identity = member.identity.as_ref();
        Self {
            issuer: identity.map(|identity| &*identity.issuer),
            subject: identity.map(|identity| &*identity.subject),
        }
    }
}

/// The columns of a member's second factor.
pub(super) struct SecondFactorColumns<'m> {
    pub(super) sealed_secret: Option<&'m [u8]>,
    pub(super) last_period: Option<i64>,
    /// The concatenated digests of the recovery codes.
    pub(super) recovery: Option<Vec<u8>>,
}

impl<'m> From<&'m StaffMember> for SecondFactorColumns<'m> {
    fn from(member: &'m StaffMember) -> Self {
        let Some(factor) = &member.second_factor else {
            return Self {
                sealed_secret: None,
                last_period: None,
                recovery: None,
            };
        };
        let recovery = factor.recovery.iter().flat_map(|digest| *digest.as_bytes());
        Self {
            sealed_secret: Some(&factor.sealed_secret),
            last_period: Some(factor.last_period),
            recovery: Some(recovery.collect()),
        }
    }
}

/// The JSON form of a passkey.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Passkey")]
struct PasskeyMembers {
    id: Vec<u8>,
    user: Vec<u8>,
    algorithm: i32,
    key: Vec<u8>,
    count: u32,
    /// Absent in rows that releases before 0.4.0 wrote. These releases ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_backup_eligible: Option<bool>,
    name: String,
    created_at: Timestamp,
    used_at: Option<Timestamp>,
}

/// A passkey that is stored as JSON.
#[derive(Serialize, Deserialize)]
struct StoredPasskey(#[serde(with = "PasskeyMembers")] Passkey);

/// Returns the passkeys of a member as JSON. Returns `None` if there are none.
pub(super) fn encode_passkeys(member: &StaffMember) -> Option<String> {
    if member.passkeys.is_empty() {
        return None;
    }
    let passkeys: Vec<_> = member.passkeys.iter().cloned().map(StoredPasskey).collect();
    Some(serde_json::json!(passkeys).to_string())
}

/// Parses the passkeys of a member from JSON. Returns `None` if the text is invalid.
fn parse_passkeys(text: &str) -> Option<Vec<Passkey>> {
    let stored_passkeys: Vec<StoredPasskey> = serde_json::from_str(text).ok()?;
    let passkeys = stored_passkeys
        .into_iter()
        .map(|StoredPasskey(passkey)| passkey);
    Some(passkeys.collect())
}

/// Reads the link of a member from two columns. Returns `None` if either is null.
fn read_link<R: Columns>(row: &R, first_column: usize) -> Result<Option<PasswordLink>, R::Error> {
    let digest = row.optional_decoded(first_column, parse_digest)?;
    let expires_at = row.optional_time(first_column + 1)?;
    match (digest, expires_at) {
        (Some(digest), Some(expires_at)) => Ok(Some(PasswordLink { digest, expires_at })),
        _ => Ok(None),
    }
}

/// Reads a member from the columns [`member_columns!`], which begin at `first_column`.
pub(super) fn read_member<R: Columns>(
    row: &R,
    first_column: usize,
) -> Result<StaffMember, R::Error> {
    let column = |number: usize| first_column + number;
    Ok(StaffMember {
        id: StaffId(row.value(first_column)?),
        name: row.parsed(column(1), StaffName::new)?,
        role: row.parsed(column(2), |role| role.parse().ok())?,
        created_at: row.time(column(3))?,
        disabled_at: row.optional_time(column(4))?,
        password: row.optional_decoded(column(5), PasswordHash::from_bytes)?,
        link: read_link(row, column(6))?,
        second_factor: read_second_factor(row, column(8))?,
        version: row.value(column(11))?,
        language: row.optional_parsed(column(12), |code| code.parse().ok())?,
        identity: read_identity(row, column(13))?,
        passkeys: row
            .optional_parsed(column(15), parse_passkeys)?
            .unwrap_or_default(),
    })
}

/// Reads the second factor from three columns. Returns `None` if any of the columns is null.
fn read_second_factor<R: Columns>(
    row: &R,
    first_column: usize,
) -> Result<Option<SecondFactor>, R::Error> {
    let sealed_secret: Option<Vec<u8>> = row.value(first_column)?;
    let last_period: Option<i64> = row.value(first_column + 1)?;
    let recovery_digests: Option<Vec<TokenDigest>> = row
        .optional_decoded(first_column + 2, |bytes| {
            bytes.chunks(DIGEST_LENGTH).map(parse_digest).collect()
        })?;
    let (Some(sealed_secret), Some(last_period), Some(recovery_digests)) =
        (sealed_secret, last_period, recovery_digests)
    else {
        return Ok(None);
    };
    Ok(Some(SecondFactor {
        sealed_secret,
        last_period,
        recovery: recovery_digests,
    }))
}

/// Reads the identity from two columns. Returns `None` if either is null.
fn read_identity<R: Columns>(row: &R, first_column: usize) -> Result<Option<Identity>, R::Error> {
    let issuer: Option<String> = row.value(first_column)?;
    let subject: Option<String> = row.value(first_column + 1)?;
    match (issuer, subject) {
        (Some(issuer), Some(subject)) => Ok(Some(Identity { issuer, subject })),
        _ => Ok(None),
    }
}

/// Reads a session from a row that begins with the columns [`session_columns!`].
pub(super) fn read_session<R: Columns>(row: &R) -> Result<StaffSession, R::Error> {
    Ok(StaffSession {
        digest: TokenDigest::from_bytes(row.bytes(0)?),
        staff: StaffId(row.value(1)?),
        begun_at: row.time(2)?,
        seen_at: row.time(3)?,
        confirmed_at: row.optional_time(4)?,
        address: row.value(5)?,
        browser: row.value(6)?,
        provider_session: row.value(7)?,
    })
}

/// Converts the bytes of a digest. Returns `None` if there are not [`DIGEST_LENGTH`] of them.
fn parse_digest(bytes: &[u8]) -> Option<TokenDigest> {
    bytes.try_into().ok().map(TokenDigest::from_bytes)
}
