//! Staff members, who may use the console, and their sessions.

use std::convert::Infallible;

use futures_util::{FutureExt, future};
use jiff::Timestamp;
use petstore_domain::{
    StaffId, WriteContext,
    staff::{EndedSessions, Identity, StaffChange, StaffMember, StaffSession, TokenDigest},
    store_area::{Act, Language},
};

use super::{
    Database, LOCK_COUNTED_TABLES, NO_RESULT, Parameter, Sql, WorkOutcome,
    acts::record_act,
    no_result,
    staff_rows::{
        IdentityColumns, LinkColumns, SESSION_WIDTH, SecondFactorColumns, encode_passkeys,
        member_columns, read_member, read_session, session_columns,
    },
    store_trait, values,
};
use crate::{StoreError, columns::Columns};

/// The maximum number of sessions per member; a new session replaces the oldest.
const MAX_SESSIONS: i64 = 100;

const LIST: &str = concat!("SELECT ", member_columns!(), " FROM staff ORDER BY id");
const FIND_BY_ID: &str = concat!("SELECT ", member_columns!(), " FROM staff WHERE id = $1");
const FIND_BY_NAME: &str = concat!(
    "SELECT ",
    member_columns!(),
    " FROM staff WHERE name_key = $1"
);
const FIND_BY_LINK: &str = concat!("SELECT ", member_columns!(), " FROM staff WHERE link = $1");
const FIND_BY_IDENTITY: &str = concat!(
    "SELECT ",
    member_columns!(),
    " FROM staff WHERE issuer = $1 AND subject = $2"
);
const COUNT: &str = "SELECT count(*) FROM staff";
const INSERT: &str =
    "INSERT INTO staff (name, name_key, role, created_at, link, link_until, version, issuer, subject)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id";
const UPDATE: &str = "UPDATE staff SET role = $1, disabled_at = $2, password = $3,
    link = $4, link_until = $5, totp_secret = $6, totp_last_period = $7, recovery = $8, version = $9,
    language = $10, issuer = $11, subject = $12, passkeys = $13 WHERE id = $14 AND version = $15";
/// Ends sessions of the member $1: the session $3, or all sessions if $3 is null. Does not end the
/// session $2, which may also be null.
const END_SESSIONS: &str = "DELETE FROM staff_sessions
    WHERE staff_id = $1 AND digest IS DISTINCT FROM $2 AND digest = coalesce($3, digest)";
const BEGIN_SESSION: &str = concat!(
    "INSERT INTO staff_sessions (",
    session_columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
);
/// Ends the oldest sessions of the member $1, and keeps the newest $2.
const LIMIT_SESSIONS: &str = "DELETE FROM staff_sessions WHERE staff_id = $1 AND digest NOT IN
    (SELECT digest FROM staff_sessions WHERE staff_id = $1 ORDER BY begun_at DESC LIMIT $2)";
/// Selects the session with the digest $1: its columns, and then the columns of its member.
const FIND_SESSION: &str = concat!(
    "SELECT ",
    session_columns!(),
    ", ",
    member_columns!(),
    " FROM staff_sessions JOIN staff ON staff.id = staff_id WHERE digest = $1"
);
const LIST_SESSIONS: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM staff_sessions WHERE staff_id = coalesce($1, staff_id) ORDER BY begun_at, digest"
);
const TOUCH_SESSION: &str =
    "UPDATE staff_sessions SET seen_at = $2 WHERE digest = $1 AND seen_at < $2";
const FORGET_SESSIONS: &str = "DELETE FROM staff_sessions WHERE seen_at <= $1 OR begun_at <= $2";

/// A key that identifies a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StaffKey {
    /// The id of the member.
    Id(StaffId),
    /// The name, ignoring case and accents. See [`petstore_domain::StaffName::key`].
    Name(String),
    /// The link through which the member chooses a password.
    Link(TokenDigest),
    /// The identity of the member at an OpenID provider.
    Identity(Identity),
}

/// The result of [`Staff::write_staff`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaffWriteOutcome {
    /// The change of this member was made.
    Done(StaffId),
    /// Nothing was done: the member has changed since they were seen.
    Stale,
    /// Nothing was done: another member has this name, or this identity.
    NameTaken,
    /// Nothing was done: there are already [`StaffMember::MAX`] members.
    Full,
}

store_trait! {
/// Stores the people who may use the console.
Staff {
    /// Reads all members, including disabled ones, in ascending order of id.
    async fn list_staff(&self) -> Result<Vec<StaffMember>, StoreError> {
        self.list(LIST, values![], |row| read_member(row, 0)).await
    }

    /// Finds a member, disabled or not.
    async fn find_staff(&self, key: StaffKey) -> Result<Option<StaffMember>, StoreError> {
        let (sql, values) = match key {
            StaffKey::Id(StaffId(id)) => (FIND_BY_ID, values![id]),
            StaffKey::Name(key) => (FIND_BY_NAME, values![key]),
            StaffKey::Link(digest) => (FIND_BY_LINK, values![digest.as_bytes().to_vec()]),
            StaffKey::Identity(Identity { issuer, subject }) => {
                (FIND_BY_IDENTITY, values![issuer, subject])
            }
        };
        self.find(sql, values, |row| read_member(row, 0)).await
    }

    /// Writes a change of a member and of their sessions, atomically.
    async fn write_staff(
        &self,
        change: StaffChange,
        context: WriteContext,
    ) -> Result<StaffWriteOutcome, StoreError> {
        self.assign_change_numbers().await?;
        let result = self.write_once(
            (change, context),
            |connection, (change, context)| write_change(connection, change, context).boxed(),
            // The outcome has only the id, so there is nothing to read.
            |_, id| future::ready(Ok(StaffWriteOutcome::Done(StaffId(*id)))).boxed(),
        );
        match result.await? {
            WorkOutcome::Done(outcome) | WorkOutcome::Refused(outcome) => Ok(outcome),
        }
    }

    /// Finds a session that has not been ended, with its member. The session may have expired.
    async fn find_session(
        &self,
        digest: TokenDigest,
    ) -> Result<Option<(StaffSession, StaffMember)>, StoreError> {
        self.find(FIND_SESSION, values![digest.as_bytes().to_vec()], |row| {
            Ok((read_session(row)?, read_member(row, SESSION_WIDTH)?))
        })
        .await
    }

    /// Reads the sessions of one member, or of all members, oldest first. Omits ended sessions.
    async fn list_sessions(
        &self,
        member: Option<StaffId>,
    ) -> Result<Vec<StaffSession>, StoreError> {
        let member = member.map(|StaffId(id)| id);
        self.list(LIST_SESSIONS, values![member], read_session).await
    }

    /// Records when a session was last used. Does nothing if a later time is recorded, or if the
    /// session has ended.
    async fn touch_session(
        &self,
        digest: TokenDigest,
        seen_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write((digest, seen_at), |connection, (digest, seen_at)| {
            touch_session(connection, digest, *seen_at).boxed()
        })
        .await
    }

    /// Ends the sessions that were last used at or before `seen_until`, or began at or before
    /// `begun_until`. Returns the number of ended sessions.
    async fn forget_sessions(
        &self,
        seen_until: Timestamp,
        begun_until: Timestamp,
    ) -> Result<usize, StoreError> {
        self.write((seen_until, begun_until), |connection, (seen_until, begun_until)| {
            forget_sessions(connection, *seen_until, *begun_until).boxed()
        })
        .await
    }

    /// Records an act that changes nothing, such as a failed attempt to sign in.
    async fn record_act(&self, act: Act, context: WriteContext) -> Result<(), StoreError> {
        self.assign_change_numbers().await?;
        let result = self.write_once(
            (act, context),
            |connection, (act, context)| {
                async {
                    record_act(connection, act, context).await?;
                    Ok(WorkOutcome::Done(NO_RESULT))
                }
                .boxed()
            },
            no_result,
        );
        let WorkOutcome::<_, Infallible>::Done(()) = result.await?;
        Ok(())
    }
}
}

/// Writes a change of a member and of their sessions. Returns the id of the member. If the change
/// cannot be made, refuses with the outcome.
async fn write_change<S: Sql>(
    connection: &mut S,
    change: &StaffChange,
    context: &WriteContext,
) -> Result<WorkOutcome<i64, StaffWriteOutcome>, S::Error> {
    let StaffChange {
        seen_version,
        after,
        ended_sessions,
        new_session,
        act,
    } = change;
    let is_new_member = *seen_version == 0;
    let result = if is_new_member {
        add_member(connection, after).await?
    } else {
        update_member(connection, *seen_version, after).await?
    };
    let id = match result {
        WorkOutcome::Done(id) => id,
        WorkOutcome::Refused(outcome) => return Ok(WorkOutcome::Refused(outcome)),
    };

    end_sessions(connection, id, ended_sessions).await?;
    if let Some(session) = new_session {
        begin_session(connection, id, session).await?;
    }
    if let Some(act) = act {
        // The id of a new member was not known when the act was made.
        let mut act_with_id = act.clone();
        act_with_id.subject.id = Some(id);
        record_act(connection, &act_with_id, context).await?;
    }
    Ok(WorkOutcome::Done(id))
}

/// Adds a member, and returns their id. Refuses if there are too many members, or if the name or
/// identity is taken.
async fn add_member<S: Sql>(
    connection: &mut S,
    member: &StaffMember,
) -> Result<WorkOutcome<i64, StaffWriteOutcome>, S::Error> {
    connection.execute(LOCK_COUNTED_TABLES, &[]).await?;
    if connection.number(COUNT, &[]).await? >= StaffMember::MAX {
        return Ok(WorkOutcome::Refused(StaffWriteOutcome::Full));
    }

    let link = LinkColumns::from(member);
    let identity = IdentityColumns::from(member);
    let id_row = connection
        .row(
            INSERT,
            &[
                &member.name.as_str(),
                &member.name.key(),
                &member.role.as_str(),
                &member.created_at.as_millisecond(),
                &link.digest,
                &link.until,
                &member.version,
                &identity.issuer,
                &identity.subject,
            ],
        )
        .await?;
    match id_row {
        Some(row) => Ok(WorkOutcome::Done(row.value(0)?)),
        None => Ok(WorkOutcome::Refused(StaffWriteOutcome::NameTaken)),
    }
}

/// Replaces a member, and returns their id. Refuses if the member no longer has the version
/// `seen_version`.
async fn update_member<S: Sql>(
    connection: &mut S,
    seen_version: i64,
    member: &StaffMember,
) -> Result<WorkOutcome<i64, StaffWriteOutcome>, S::Error> {
    let StaffId(id) = member.id;
    let password = member.password.as_ref();
    let link = LinkColumns::from(member);
    let second_factor = SecondFactorColumns::from(member);
    let identity = IdentityColumns::from(member);
    let updated_count = connection
        .execute(
            UPDATE,
            &[
                &member.role.as_str(),
                &member.disabled_at.map(Timestamp::as_millisecond),
                &password.map(|hash| hash.as_bytes().to_vec()),
                &link.digest,
                &link.until,
                &second_factor.sealed_secret,
                &second_factor.last_period,
                &second_factor.recovery,
                &member.version,
                &member.language.map(Language::as_str),
                &identity.issuer,
                &identity.subject,
                &encode_passkeys(member),
                &id,
                &seen_version,
            ],
        )
        .await?;
    if updated_count == 0 {
        Ok(WorkOutcome::Refused(StaffWriteOutcome::Stale))
    } else {
        Ok(WorkOutcome::Done(id))
    }
}

/// Ends the given sessions of a member.
async fn end_sessions<S: Sql>(
    connection: &mut S,
    member: i64,
    ended_sessions: &EndedSessions,
) -> Result<(), S::Error> {
    let (kept_session, ended_session) = match ended_sessions {
        EndedSessions::None => return Ok(()),
        EndedSessions::All => (None, None),
        EndedSessions::Others(digest) => (Some(&digest.as_bytes()[..]), None),
        EndedSessions::One(digest) => (None, Some(&digest.as_bytes()[..])),
    };
    connection
        .execute(END_SESSIONS, &[&member, &kept_session, &ended_session])
        .await?;
    Ok(())
}

/// Begins a session of a member, and ends the oldest ones beyond [`MAX_SESSIONS`].
async fn begin_session<S: Sql>(
    connection: &mut S,
    member: i64,
    session: &StaffSession,
) -> Result<(), S::Error> {
    connection
        .execute(
            BEGIN_SESSION,
            &[
                &&session.digest.as_bytes()[..],
                &member,
                &session.begun_at.as_millisecond(),
                &session.seen_at.as_millisecond(),
                &session.confirmed_at.map(Timestamp::as_millisecond),
                &session.address,
                &session.browser,
                &session.provider_session,
            ],
        )
        .await?;
    connection
        .execute(LIMIT_SESSIONS, &[&member, &MAX_SESSIONS])
        .await?;
    Ok(())
}

/// Records when a session was last used. See [`Staff::touch_session`].
async fn touch_session<S: Sql>(
    connection: &mut S,
    digest: &TokenDigest,
    seen_at: Timestamp,
) -> Result<(), S::Error> {
    let digest = &digest.as_bytes()[..];
    connection
        .execute(TOUCH_SESSION, &[&digest, &seen_at.as_millisecond()])
        .await?;
    Ok(())
}

/// Ends old sessions. See [`Staff::forget_sessions`].
async fn forget_sessions<S: Sql>(
    connection: &mut S,
    seen_until: Timestamp,
    begun_until: Timestamp,
) -> Result<usize, S::Error> {
    let count = connection
        .execute(
            FORGET_SESSIONS,
            &[&seen_until.as_millisecond(), &begun_until.as_millisecond()],
        )
        .await?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}
