//! Appends changes to the log.

use petstore_store::{
    columns::Value,
    journal_rows::{LogEntry, Origin},
};

use super::{
    rows::{integer_or_null, text_or_null},
    writes::Write,
};

/// The statement that appends changes in the given order.
///
/// It must be the last statement of the transaction that makes the changes. The ids of the changes
/// are then drawn while the transaction holds the locks on all rows that it changes. A later change
/// of the same animal waits for these locks, so it gets a higher id, and becomes visible later.
const APPEND: &str = "INSERT INTO changes
    (at, actor, actor_id, actor_name, request_id, type, subject_id, version, pet_id, before, after)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[],
        $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[])";

/// Builds the statement that appends `entries` in the given order. Returns `None` if there are
/// none.
pub(super) fn build_append_write<'v>(
    entries: impl IntoIterator<Item = (&'v LogEntry, Origin<'v>)>,
) -> Option<Write<'v>> {
    let rows = entries
        .into_iter()
        .map(|(entry, origin)| append_parameters(entry, &origin));
    Write::from_rows(APPEND, rows)
}

/// Returns the parameters of one change, in the order of the columns of [`APPEND`].
fn append_parameters<'v>(entry: &'v LogEntry, origin: &Origin<'v>) -> Vec<Value<'v>> {
    let named_actor = origin.actor;
    vec![
        Value::Integer(origin.at),
        Value::Text(named_actor.actor.kind()),
        integer_or_null(named_actor.actor.id()),
        text_or_null(named_actor.name.as_deref()),
        text_or_null(origin.request_id),
        Value::Text(entry.kind.as_str()),
        integer_or_null(entry.subject),
        integer_or_null(entry.version),
        integer_or_null(entry.pet),
        text_or_null(entry.before.as_deref()),
        text_or_null(entry.after.as_deref()),
    ]
}
