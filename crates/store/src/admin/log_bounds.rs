//! The bounds of the log of changes.

use super::Sql;
use crate::columns::Columns;

/// The numbers of the first and the last change of the log.
pub(super) struct LogBounds {
    pub(super) first: i64,
    pub(super) last: i64,
}

/// Reads the bounds of the log.
pub(super) async fn read_log_bounds<S: Sql>(connection: &mut S) -> Result<LogBounds, S::Error> {
    let row = connection.only_row(S::LOG_BOUNDS, &[]).await?;
    Ok(LogBounds {
        first: row.value(0)?,
        last: row.value(1)?,
    })
}
