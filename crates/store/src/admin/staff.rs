//! Staff and their sessions.

use std::convert::Infallible;

use futures_util::{FutureExt, future};
use jiff::Timestamp;
use petstore_domain::{
    StaffId, StaffName, WriteContext,
    staff::{
        EndedSessions, Identity, Passkey, PasswordHash, SecondFactor, StaffChange, StaffMember,
        StaffSession, TokenDigest,
    },
    store_area::{Act, Language},
};
use serde::{Deserialize, Serialize};

use super::{Database, ONE_ADDS, Parameter, Sql, nothing, promise, record, values};
use crate::{StoreError, columns::Columns};

/// How many sessions of one member are kept; a new one replaces the oldest.
const MAX_SESSIONS: i64 = 100;

/// The columns in the order that [`member`] expects.
macro_rules! columns {
    () => {
        "staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret,
        totp_last_period, recovery, version, language, issuer, subject, passkeys"
    };
}
/// The columns in the order that [`session`] expects.
macro_rules! session_columns {
    () => {
        "digest, staff_id, begun_at, seen_at, confirmed_at, address, browser, provider_session"
    };
}

const LIST: &str = concat!("SELECT ", columns!(), " FROM staff ORDER BY id");
const BY_ID: &str = concat!("SELECT ", columns!(), " FROM staff WHERE id = $1");
const BY_NAME: &str = concat!("SELECT ", columns!(), " FROM staff WHERE name_key = $1");
const BY_LINK: &str = concat!("SELECT ", columns!(), " FROM staff WHERE link = $1");
const BY_IDENTITY: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM staff WHERE issuer = $1 AND subject = $2"
);
const COUNT: &str = "SELECT count(*) FROM staff";
const INSERT: &str =
    "INSERT INTO staff (name, name_key, role, created_at, link, link_until, version, issuer, subject)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id";
const UPDATE: &str = "UPDATE staff SET role = $1, disabled_at = $2, password = $3,
    link = $4, link_until = $5, totp_secret = $6, totp_last_period = $7, recovery = $8, version = $9,
    language = $10, issuer = $11, subject = $12, passkeys = $13 WHERE id = $14 AND version = $15";
const END: &str = "DELETE FROM staff_sessions
    WHERE staff_id = $1 AND digest IS DISTINCT FROM $2 AND digest = coalesce($3, digest)";
const BEGIN: &str = concat!(
    "INSERT INTO staff_sessions (",
    session_columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
);
const LIMIT: &str = "DELETE FROM staff_sessions WHERE staff_id = $1 AND digest NOT IN
    (SELECT digest FROM staff_sessions WHERE staff_id = $1 ORDER BY begun_at DESC LIMIT $2)";
/// The columns of the session come first, then those of the member.
const SESSION: &str = concat!(
    "SELECT ",
    session_columns!(),
    ", ",
    columns!(),
    " FROM staff_sessions JOIN staff ON staff.id = staff_id WHERE digest = $1"
);
const SESSIONS: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM staff_sessions WHERE staff_id = coalesce($1, staff_id) ORDER BY begun_at, digest"
);
const TOUCH: &str = "UPDATE staff_sessions SET seen_at = $2 WHERE digest = $1 AND seen_at < $2";
const FORGET: &str = "DELETE FROM staff_sessions WHERE seen_at <= $1 OR begun_at <= $2";

promise! {
/// Stores who may use the console.
Staff {
    /// Every member, also disabled ones, in ascending order of number.
    async fn list_staff(&self) -> Vec<StaffMember> {
        self.list(LIST, values![], |row| member(row, 0)).await
    }

    /// A member, disabled or not.
    async fn find_staff(&self, by: StaffKey) -> Option<StaffMember> {
        let (sql, key) = match by {
            StaffKey::Id(StaffId(id)) => (BY_ID, values![id]),
            StaffKey::Name(key) => (BY_NAME, values![key]),
            StaffKey::Link(digest) => (BY_LINK, values![digest.as_bytes().to_vec()]),
            StaffKey::Identity(of) => (BY_IDENTITY, values![of.issuer, of.subject]),
        };
        self.find(sql, key, |row| member(row, 0)).await
    }

    /// Makes a change of a member and their sessions, completely or not at all.
    async fn write_staff(&self, change: StaffChange, context: WriteContext) -> StaffWriteOutcome {
        self.number_changes().await?;
        let written = self.once(
            (change, context),
            |connection, (change, context)| write(connection, change, context).boxed(),
            |_, id| future::ready(Ok(StaffWriteOutcome::Done(StaffId(*id)))).boxed(),
        );
        Ok(written.await?.unwrap_or_else(|refused| refused))
    }

    /// A session that has not been ended, with its member. It may have expired.
    async fn find_session(&self, digest: TokenDigest) -> Option<(StaffSession, StaffMember)> {
        let digest = values![digest.as_bytes().to_vec()];
        self.find(SESSION, digest, |row| Ok((session(row)?, member(row, 8)?))).await
    }

    /// The sessions of a member, or of all, that have not been ended, in the order in which they began.
    async fn list_sessions(&self, of: Option<StaffId>) -> Vec<StaffSession> {
        self.list(SESSIONS, values![of.map(|of| of.0)], session).await
    }

    /// Records when a session was used. Ignores an earlier time, and an ended session.
    async fn touch_session(&self, digest: TokenDigest, at: Timestamp) -> () {
        self.write((digest, at), |connection, (digest, at)| touch(connection, digest, *at).boxed()).await
    }

    /// Ends sessions that were last used, or began, at or before these times, and returns how many.
    async fn forget_sessions(&self, seen: Timestamp, begun: Timestamp) -> usize {
        let before = (seen.as_millisecond(), begun.as_millisecond());
        self.write(before, |connection, before| forget(connection, *before).boxed()).await
    }

    /// Records an act that changes nothing, such as a failed attempt to sign in.
    async fn record_act(&self, act: Act, context: WriteContext) -> () {
        self.number_changes().await?;
        let recorded = self.once(
            (act, context),
            |connection, (act, context)| {
                async { Ok(Ok(record(connection, act, context).await.map(|()| 0)?)) }.boxed()
            },
            nothing,
        );
        let Ok::<_, Infallible>(()) = recorded.await?;
        Ok(())
    }
}
}

/// By what a member is found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "a comment says what a name does not")]
pub enum StaffKey {
    Id(StaffId),
    /// The name without regard to case and accents. See [`petstore_domain::StaffName::key`].
    Name(String),
    /// The link with which the member chooses a password.
    Link(TokenDigest),
    Identity(Identity),
}

/// The result of [`Staff::write_staff`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "a comment says what a name does not")]
pub enum StaffWriteOutcome {
    Done(StaffId),
    /// Nothing was done: the member has another version.
    Stale,
    /// Nothing was done: another member has this name, or this identity.
    NameTaken,
    /// Nothing was done: there are [`StaffMember::MAX`] members.
    Full,
}

async fn write<S: Sql>(
    connection: &mut S,
    change: &StaffChange,
    context: &WriteContext,
) -> Result<Result<i64, StaffWriteOutcome>, S::Error> {
    let StaffChange {
        seen,
        after,
        ends,
        begins,
        act,
    } = change;
    let written = if *seen == 0 {
        add(connection, after).await?
    } else {
        update(connection, *seen, after).await?
    };
    let id = match written {
        Ok(id) => id,
        Err(refused) => return Ok(Err(refused)),
    };
    let (kept, ended) = match ends {
        EndedSessions::Others(kept) => (Some(&kept.as_bytes()[..]), None),
        EndedSessions::One(ended) => (None, Some(&ended.as_bytes()[..])),
        EndedSessions::None | EndedSessions::All => (None, None),
    };
    if *ends != EndedSessions::None {
        connection.execute(END, &[&id, &kept, &ended]).await?;
    }
    if let Some(session) = begins {
        begin(connection, id, session).await?;
    }
    if let Some(act) = act {
        let mut act = act.clone();
        act.subject.id = Some(id);
        record(connection, &act, context).await?;
    }
    Ok(Ok(id))
}

async fn add<S: Sql>(
    connection: &mut S,
    member: &StaffMember,
) -> Result<Result<i64, StaffWriteOutcome>, S::Error> {
    connection.execute(ONE_ADDS, &[]).await?;
    if connection.number(COUNT, &[]).await? >= StaffMember::MAX {
        return Ok(Err(StaffWriteOutcome::Full));
    }
    let (link, until) = link(member);
    let (issuer, subject) = identity(member);
    let added = connection
        .row(
            INSERT,
            &[
                &member.name.as_str(),
                &member.name.key(),
                &member.role.as_str(),
                &member.created_at.as_millisecond(),
                &link,
                &until,
                &member.version,
                &issuer,
                &subject,
            ],
        )
        .await?;
    added.map_or(Ok(Err(StaffWriteOutcome::NameTaken)), |row| {
        row.value(0).map(Ok)
    })
}

async fn update<S: Sql>(
    connection: &mut S,
    seen: i64,
    member: &StaffMember,
) -> Result<Result<i64, StaffWriteOutcome>, S::Error> {
    let (link, until) = link(member);
    let (issuer, subject) = identity(member);
    let (second, passkeys) = (member.second_factor.as_ref(), &member.passkeys);
    let passkeys: Vec<_> = passkeys.iter().cloned().map(Stored).collect();
    let passkeys = (!passkeys.is_empty()).then(|| serde_json::json!(passkeys).to_string());
    let recovery = |second: &SecondFactor| -> Vec<u8> {
        second
            .recovery
            .iter()
            .flat_map(|digest| *digest.as_bytes())
            .collect()
    };
    let changed = connection
        .execute(
            UPDATE,
            &[
                &member.role.as_str(),
                &member.disabled_at.map(Timestamp::as_millisecond),
                &member
                    .password
                    .as_ref()
                    .map(|hash| hash.as_bytes().to_vec()),
                &link,
                &until,
                &second.map(|second| &second.sealed_secret[..]),
                &second.map(|second| second.last_period),
                &second.map(recovery),
                &member.version,
                &member.language.map(Language::as_str),
                &issuer,
                &subject,
                &passkeys,
                &member.id.0,
                &seen,
            ],
        )
        .await?;
    Ok(if changed == 0 {
        Err(StaffWriteOutcome::Stale)
    } else {
        Ok(member.id.0)
    })
}

/// The columns of the link.
fn link(member: &StaffMember) -> (Option<&[u8]>, Option<i64>) {
    let link = member.link.as_ref();
    link.map(|(digest, until)| (&digest.as_bytes()[..], until.as_millisecond()))
        .unzip()
}

/// A passkey as JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Passkey")]
struct AsJson {
    id: Vec<u8>,
    user: Vec<u8>,
    algorithm: i32,
    key: Vec<u8>,
    count: u32,
    /// Absent in rows of releases before 0.4.0, which ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_backup_eligible: Option<bool>,
    name: String,
    created_at: Timestamp,
    used_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
struct Stored(#[serde(with = "AsJson")] Passkey);

/// The columns of the identity.
fn identity(member: &StaffMember) -> (Option<&str>, Option<&str>) {
    member
        .identity
        .as_ref()
        .map(|of| (&*of.issuer, &*of.subject))
        .unzip()
}

async fn begin<S: Sql>(
    connection: &mut S,
    id: i64,
    session: &StaffSession,
) -> Result<(), S::Error> {
    connection
        .execute(
            BEGIN,
            &[
                &&session.digest.as_bytes()[..],
                &id,
                &session.begun_at.as_millisecond(),
                &session.seen_at.as_millisecond(),
                &session.confirmed_at.map(Timestamp::as_millisecond),
                &session.address,
                &session.browser,
                &session.provider_session,
            ],
        )
        .await?;
    connection.execute(LIMIT, &[&id, &MAX_SESSIONS]).await?;
    Ok(())
}

async fn touch<S: Sql>(
    connection: &mut S,
    digest: &TokenDigest,
    at: Timestamp,
) -> Result<(), S::Error> {
    connection
        .execute(TOUCH, &[&&digest.as_bytes()[..], &at.as_millisecond()])
        .await?;
    Ok(())
}

async fn forget<S: Sql>(connection: &mut S, (seen, begun): (i64, i64)) -> Result<usize, S::Error> {
    let forgotten = connection.execute(FORGET, &[&seen, &begun]).await?;
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}

/// The member in the columns from `at` on.
fn member<R: Columns>(row: &R, at: usize) -> Result<StaffMember, R::Error> {
    let recovery = row.optional_decoded(at + 10, |all| all.chunks(32).map(digest).collect())?;
    let second_factor = match (row.value(at + 8)?, row.value(at + 9)?, recovery) {
        (Some(sealed_secret), Some(last_period), Some(recovery)) => Some(SecondFactor {
            sealed_secret,
            last_period,
            recovery,
        }),
        _ => None,
    };
    Ok(StaffMember {
        id: StaffId(row.value(at)?),
        name: row.parsed(at + 1, StaffName::new)?,
        role: row.parsed(at + 2, |role| role.parse().ok())?,
        created_at: row.time(at + 3)?,
        disabled_at: row.optional_time(at + 4)?,
        password: row.optional_decoded(at + 5, PasswordHash::from_bytes)?,
        link: row
            .optional_decoded(at + 6, digest)?
            .zip(row.optional_time(at + 7)?),
        second_factor,
        identity: row
            .value::<Option<String>>(at + 13)?
            .zip(row.value(at + 14)?)
            .map(|(issuer, subject)| Identity { issuer, subject }),
        passkeys: row
            .optional_parsed(at + 15, |text| {
                serde_json::from_str::<Vec<Stored>>(text).ok()
            })?
            .map_or_else(Vec::new, |all| {
                all.into_iter().map(|Stored(passkey)| passkey).collect()
            }),
        version: row.value(at + 11)?,
        language: row.optional_parsed(at + 12, |code| code.parse().ok())?,
    })
}

/// The session in a row.
fn session<R: Columns>(row: &R) -> Result<StaffSession, R::Error> {
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

fn digest(bytes: &[u8]) -> Option<TokenDigest> {
    bytes.try_into().ok().map(TokenDigest::from_bytes)
}
