//! Rebuilds the search index after another release has merged animals into it.
//!
//! The previous release does not know all spellings of a name, so its merges leave the index
//! incomplete. It can run at the same time, or after a downgrade. It increments `merges` with each
//! merge, but not `own_merges`. Once it has stopped, this release merges all animals again.

use super::Sql;
use crate::columns::Columns;

const COUNT_MERGE: &str =
    "UPDATE search_state SET merges = merges + 1, own_merges = own_merges + 1";
const OTHER_MERGES: &str = "SELECT merges - own_merges, noted_merges FROM search_state";
const NOTE_MERGES: &str = "UPDATE search_state SET noted_merges = $1";
/// Makes all animals new, so that they are merged again. Animals above `merged` and up to `last`
/// are new. In SQLite, `last` is always the highest integer, so that all later animals are new,
/// too. In PostgreSQL, it becomes the present highest id, and triggers record the animals that are
/// added later.
const RESTART: &str = "UPDATE search_state SET merged = 0, own_merges = merges, noted_merges = 0,
    last = CASE last WHEN 9223372036854775807 THEN last ELSE (SELECT coalesce(max(id), 0)
        FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets) AS present) END";
const CLEAR: [&str; 3] = [
    "DELETE FROM value_blocks",
    "DELETE FROM word_blocks",
    "DELETE FROM value_changes",
];

/// The merges of other releases since the index was last rebuilt.
struct OtherMerges {
    count: i64,
    /// The count as it was last noted, about a minute ago.
    noted_count: i64,
}

/// Reads the present and the last noted number of merges of other releases.
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

/// Counts a merge of this release. Waits until no other merge is running, because the count locks a
/// row.
pub(super) async fn count_merge<S: Sql>(connection: &mut S) -> Result<(), S::Error> {
    connection.execute(COUNT_MERGE, &[]).await?;
    Ok(())
}

/// Empties the index if another release has merged animals into it and has stopped. Makes all
/// animals new, so that they are merged again.
///
/// This runs once a minute, and notes the number of merges of other releases. If there were some,
/// but none since the last run, the other release has stopped.
pub(super) async fn restart_after_other_merges<S: Sql>(connection: &mut S) -> Result<(), S::Error> {
    let merges = read_other_merges(connection).await?;
    if merges.count == 0 {
        return Ok(());
    }
    if merges.count != merges.noted_count {
        connection.execute(NOTE_MERGES, &[&merges.count]).await?;
        return Ok(());
    }
    for statement in CLEAR {
        connection.execute(statement, &[]).await?;
    }
    connection.execute(RESTART, &[]).await?;
    Ok(())
}
