//! Which changes and acts are forgotten, as far as it is the same in every store.

/// The last number in `part` that is older than $2, and that none from $2 to $3 precedes. SQLite
/// numbers its parameters as they first appear.
macro_rules! last_forgotten {
    () => {
        "SELECT max(number) FROM part WHERE at < $2 AND number < coalesce(
            (SELECT min(number) FROM part WHERE at >= $2 AND at <= $3), number + 1)"
    };
}
pub(super) use last_forgotten;

/// Deletes some of the first $1 acts.
pub(super) const FORGET_ACTS: &str = concat!(
    "WITH part AS (SELECT id AS number, at FROM acts ORDER BY id LIMIT $1)
    DELETE FROM acts WHERE id <= (",
    last_forgotten!(),
    ")"
);
