//! The audit trail, and the confirmed time.

use jiff::Timestamp;
use petstore_domain::{
    Actor, NamedActor, WriteContext,
    store_area::{
        Act, AuditEntry, AuditPosition, AuditQuery, JournalEntry, JournalSubject, SubjectKind,
    },
    words::Word,
};
use petstore_formats::json;

use super::{Parameter, Sql, record};
use crate::{
    columns::Columns,
    journal_rows::{self, Part, Selection},
};

const CONFIRMED: &str = "SELECT at FROM confirmed_time WHERE at IS NOT NULL";
const CONFIRM: &str = "UPDATE confirmed_time SET at = $2 WHERE at = $1";

pub(super) async fn confirmed<S: Sql>(connection: &mut S) -> Result<Option<Timestamp>, S::Error> {
    connection
        .row(CONFIRMED, &[])
        .await?
        .map(|row| row.time(0))
        .transpose()
}

pub(super) async fn confirm_first<S: Sql>(
    connection: &mut S,
    now: Timestamp,
) -> Result<Timestamp, S::Error> {
    connection
        .execute(S::CONFIRM_FIRST, &[&now.as_millisecond()])
        .await?;
    confirmed(connection).await?.ok_or_else(S::no_row)
}

pub(super) async fn confirm<S: Sql>(
    connection: &mut S,
    [seen, now]: [i64; 2],
    act: Option<&(Act, WriteContext)>,
) -> Result<Result<i64, ()>, S::Error> {
    if connection.execute(CONFIRM, &[&seen, &now]).await? == 0 {
        return Ok(Err(()));
    }
    if let Some((act, context)) = act {
        record(connection, act, context).await?;
    }
    Ok(Ok(0))
}

/// See [`crate::Journal::list_audit`].
pub(super) async fn list<S: Sql>(
    connection: &mut S,
    query: &AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), S::Error> {
    let Selection {
        kind,
        subject_kind,
        subject,
        actor,
        actor_id,
        since,
        until,
        limit,
    } = query.into();
    let bounds = connection
        .row(S::LOG_BOUNDS, &[])
        .await?
        .ok_or_else(S::no_row)?;
    let (first, last): (i64, i64) = (bounds.value(0)?, bounds.value(1)?);
    let mut from = first - 1;
    if let Some(after) = query.after.filter(|_| !query.newest_first) {
        from = from.max(after.seq);
    }
    if let Some(since) = since {
        from = connection
            .number(S::LAST_OLDER, &[&from, &(last + 1), &since])
            .await?;
    }
    let part = match until {
        Some(until) if query.newest_first => {
            let until = journal_rows::with_clock_set_back(until);
            let newest = connection
                .number(S::NEWEST_OLDER, &[&from, &(last + 1), &until])
                .await?;
            Part::newest(query, from, newest)
        }
        None if query.newest_first => Part::newest(query, from, last),
        None => Part::oldest(query, from, last),
        Some(until) => {
            let part = Part::oldest(query, from, last);
            let [from, to] = part.changes;
            let has_older = connection.row(S::HAS_OLDER, &[&from, &to, &until]).await?;
            let has_older = has_older.ok_or_else(S::no_row)?.value(0)?;
            if has_older { part } else { part.ended() }
        }
    };
    let [of_changes, of_acts] = part.statements(S::AUDIT_CHANGES);
    let selected: [&dyn Parameter; 7] = [
        &kind,
        &subject_kind,
        &subject,
        &actor,
        &actor_id,
        &since,
        &until,
    ];
    let bounds: [&dyn Parameter; 2] = [&part.changes[0], &part.changes[1]];
    let rows = connection
        .rows(of_changes, &[&bounds[..], &selected, &[&limit]].concat())
        .await?;
    let changes = rows.iter().map(change).collect::<Result<_, _>>()?;
    let bounds: [&dyn Parameter; 2] = [&part.acts[0], &part.acts[1]];
    let rows = connection
        .rows(
            of_acts,
            &[&bounds[..], &selected, &[&part.act, &limit]].concat(),
        )
        .await?;
    let acts = rows.iter().map(act).collect::<Result<_, _>>()?;
    Ok(journal_rows::merged(&part, changes, acts, query.limit))
}

fn act<R: Columns>(row: &R) -> Result<(AuditPosition, AuditEntry), R::Error> {
    let position = AuditPosition {
        seq: row.value(0)?,
        act: row.value(4)?,
    };
    let (subject, details) = (row.value(3)?, row.text(5)?.unwrap_or_default());
    let entry = AuditEntry::Act {
        id: position.act,
        at: row.time(1)?,
        act: row.parsed(2, |kind| journal_rows::read(kind, subject, details))?,
        actor: actor(row, 6)?,
        request_id: text(row, 9)?,
    };
    Ok((position, entry))
}

/// The change in a row of the log.
pub(super) fn change<R: Columns>(row: &R) -> Result<JournalEntry, R::Error> {
    let id = row.value(3)?;
    let subject: JournalSubject = row.parsed(2, |kind| JournalSubject::of_type(kind, id))?;
    let is_of_order = subject.kind == SubjectKind::Order;
    let representation = |at| -> Result<Option<Box<str>>, R::Error> {
        let Some(mut shown) = text::<R, String>(row, at)? else {
            return Ok(None);
        };
        if is_of_order {
            complete_order(&mut shown);
        }
        Ok(Some(shown.into()))
    };
    Ok(JournalEntry {
        seq: row.value(0)?,
        at: row.time(1)?,
        kind: row.parsed(2, |kind| Some(Word::of(kind)))?,
        subject,
        version: row.value(4)?,
        pet: row.value(5)?,
        actor: actor(row, 6)?,
        request_id: text(row, 9)?,
        before: representation(10)?,
        after: representation(11)?,
    })
}

/// Adds the members that an older representation of an order does not have.
fn complete_order(order: &mut String) {
    for [name, null] in json::ADDED_TO_ORDERS {
        // In a text, the quotes are escaped.
        if !order.contains(name) && order.pop().is_some() {
            order.push_str(null);
            order.push('}');
        }
    }
}

/// The actor in three columns.
fn actor<R: Columns>(row: &R, at: usize) -> Result<NamedActor, R::Error> {
    let id = row.value(at + 1)?;
    let actor = row.parsed(at, |kind| Actor::of(kind, id))?;
    Ok(NamedActor {
        actor,
        name: text(row, at + 2)?,
    })
}

fn text<R: Columns, T: for<'r> From<&'r str>>(row: &R, at: usize) -> Result<Option<T>, R::Error> {
    Ok(row.text(at)?.map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_was_logged_before_it_had_a_price_or_a_contact_has_null() {
        let complete = |order: &str| {
            let mut order = order.to_owned();
            complete_order(&mut order);
            order
        };
        let older = r#"{"id":1,"note":"{\"price\":\"1\"}","version":1}"#;
        let shown =
            r#"{"id":1,"note":"{\"price\":\"1\"}","version":1,"price":null,"contact":null}"#;
        assert_eq!(complete(older), shown);
        assert_eq!(complete(shown), shown);
    }
}
