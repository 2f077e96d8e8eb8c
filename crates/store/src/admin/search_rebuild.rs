//! Builds the search again after another release has merged animals into it.
//!
//! The previous release does not know all spellings of a name. It can run at the same time, or after a step back. It counts
//! its merges as this release does, but not as this release's own. When it has stopped, all animals are merged again.

use super::{Parameter, Sql};
use crate::columns::Columns;

/// Counts a merge of this release, and lets merges wait for each other.
const COUNT_MERGE: &str =
    "UPDATE search_state SET merges = merges + 1, own_merges = own_merges + 1";
const OTHER_MERGES: &str = "SELECT merges - own_merges, noted_merges FROM search_state";
const NOTE_MERGES: &str = "UPDATE search_state SET noted_merges = $1";
/// SQLite has no end of the new animals; PostgreSQL notes animals that are added from now on.
const BEGIN_AGAIN: &str =
    "UPDATE search_state SET merged = 0, own_merges = merges, noted_merges = 0,
    last = CASE last WHEN 9223372036854775807 THEN last ELSE (SELECT coalesce(max(id), 0)
        FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets) AS present) END";
const CLEAR: [&str; 3] = [
    "DELETE FROM value_blocks",
    "DELETE FROM word_blocks",
    "DELETE FROM value_changes",
];

/// The merges of other releases since the search was built.
struct OtherMerges {
    count: i64,
    /// The number that was noted a minute ago.
    noted_count: i64,
}

async fn read_other_merges<S: Sql>(connection: &mut S) -> Result<OtherMerges, S::Error> {
    let row = connection.only_row(OTHER_MERGES, &[]).await?;
    Ok(OtherMerges {
        count: row.value(0)?,
        noted_count: row.value(1)?,
    })
}

/// Whether another release has merged animals.
pub(super) async fn has_other_merges<S: Sql>(connection: &mut S) -> Result<bool, S::Error> {
    Ok(read_other_merges(connection).await?.count > 0)
}

/// Counts a merge. If another release has merged animals, but none since the last call with `is_minute_over`, empties the
/// search, so that all animals are new.
pub(super) async fn begin_merge<S: Sql>(
    connection: &mut S,
    is_minute_over: bool,
) -> Result<(), S::Error> {
    connection.execute(COUNT_MERGE, &[]).await?;
    if !is_minute_over {
        return Ok(());
    }
    let merges = read_other_merges(connection).await?;
    if merges.count == 0 {
        return Ok(());
    }
    if merges.count != merges.noted_count {
        let count: &dyn Parameter = &merges.count;
        connection.execute(NOTE_MERGES, &[count]).await?;
        return Ok(());
    }
    for statement in CLEAR {
        connection.execute(statement, &[]).await?;
    }
    connection.execute(BEGIN_AGAIN, &[]).await?;
    Ok(())
}
