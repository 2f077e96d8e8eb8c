//! The confirmed time, by which the service recognizes a wrong clock. See
//! [`confirmed_clock`](crate::confirmed_clock).

use jiff::Timestamp;
use petstore_domain::{WriteContext, store_area::Act};

use super::{NO_RESULT, Sql, WorkOutcome, acts::record_act};
use crate::columns::Columns;

const READ: &str = "SELECT at FROM confirmed_time WHERE at IS NOT NULL";
const REPLACE: &str = "UPDATE confirmed_time SET at = $2 WHERE at = $1";

/// Reads the confirmed time. Returns `None` if no time has been confirmed yet.
pub(super) async fn read_time<S: Sql>(connection: &mut S) -> Result<Option<Timestamp>, S::Error> {
    match connection.row(READ, &[]).await? {
        Some(row) => row.time(0).map(Some),
        None => Ok(None),
    }
}

/// Sets the first confirmed time: the time of the newest change, or `now` if there is none. Returns
/// the confirmed time.
pub(super) async fn confirm_first_time<S: Sql>(
    connection: &mut S,
    now: Timestamp,
) -> Result<Timestamp, S::Error> {
    connection
        .execute(S::CONFIRM_FIRST, &[&now.as_millisecond()])
        .await?;
    read_time(connection).await?.ok_or_else(S::no_row)
}

/// A replacement of the confirmed time. Both times are in milliseconds.
pub(super) struct Confirmation {
    /// The confirmed time that the caller has seen.
    pub(super) seen: i64,
    /// The new confirmed time.
    pub(super) now: i64,
    /// The act of administration to record, with its context. Present if a person confirms the
    /// time.
    pub(super) act: Option<(Act, WriteContext)>,
}

/// Replaces the confirmed time, and records the act if there is one. Refuses if the present
/// confirmed time is not the one that the caller has seen.
pub(super) async fn replace_time<S: Sql>(
    connection: &mut S,
    confirmation: &Confirmation,
) -> Result<WorkOutcome<i64, ()>, S::Error> {
    let Confirmation { seen, now, act } = confirmation;
    let replaced_count = connection.execute(REPLACE, &[seen, now]).await?;
    if replaced_count == 0 {
        return Ok(WorkOutcome::Refused(()));
    }
    if let Some((act, context)) = act {
        record_act(connection, act, context).await?;
    }
    Ok(WorkOutcome::Done(NO_RESULT))
}
