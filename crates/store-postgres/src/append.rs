//! Appends changes to the log.

use petstore_store::{
    columns::Value,
    journal_rows::{LogEntry, Origin},
};

use super::writes::Write;

/// Adds changes in this order, in the transaction that makes them and after its other statements. So
/// the ids are drawn while the transaction holds the locks of all rows that it changes: a later change
/// of the same animal waits for this commit, gets a higher id, and is never visible without these.
const APPEND: &str = "INSERT INTO changes
    (at, actor, actor_id, actor_name, request_id, type, subject_id, version, pet_id, before, after)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[],
        $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[])";

/// Adds these changes. See [`APPEND`].
pub(super) fn append<'v>(
    entries: impl IntoIterator<Item = (&'v LogEntry, Origin<'v>)>,
) -> Option<Write<'v>> {
    let rows = entries.into_iter().map(
        |(
            entry,
            Origin {
                at,
                actor,
                request_id,
            },
        )| {
            let text = |text: Option<&'v str>| text.map_or(Value::Null, Value::Text);
            let number = |number: Option<i64>| number.map_or(Value::Null, Value::Integer);
            vec![
                Value::Integer(at),
                Value::Text(actor.actor.kind()),
                number(actor.actor.id()),
                text(actor.name.as_deref()),
                text(request_id),
                Value::Text(entry.kind.as_str()),
                number(entry.subject),
                number(entry.version),
                number(entry.pet),
                text(entry.before.as_deref()),
                text(entry.after.as_deref()),
            ]
        },
    );
    Write::of_rows(APPEND, rows)
}
