//! The audit trail, which consists of the changes of the log and the acts of administration.

use petstore_domain::{
    Actor, NamedActor,
    named_enum::MaybeKnown,
    store_area::{
        AuditEntry, AuditPosition, AuditQuery, JournalEntry, JournalSubject, SubjectKind,
    },
};
use petstore_formats::json;

use super::{
    Parameter, Sql,
    acts::parse_act,
    audit_part::{AuditFilters, AuditPart, PositionedEntry, extend_for_clock_set_back},
    log_bounds::{LogBounds, read_log_bounds},
};
use crate::columns::Columns;

/// Reads a page of the audit trail. See [`crate::Journal::list_audit`].
pub(super) async fn list_audit<S: Sql>(
    connection: &mut S,
    query: &AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), S::Error> {
    let filters = AuditFilters::from(query);
    let part = find_part_to_read(connection, query, &filters).await?;
    let changes = read_changes(connection, &part, &filters).await?;
    let acts = read_acts(connection, &part, &filters).await?;
    Ok(part.merge(changes, acts, query.limit))
}

/// Reads the changes in a part of the log that match the filters.
async fn read_changes<S: Sql>(
    connection: &mut S,
    part: &AuditPart,
    filters: &AuditFilters,
) -> Result<Vec<JournalEntry>, S::Error> {
    let range: [&dyn Parameter; 2] = [&part.changes.start, &part.changes.end];
    let values = [&range[..], &filters.parameters(), &[&filters.max_rows]].concat();
    let sql = part.choose_change_statement(S::AUDIT_CHANGES);
    let rows = connection.rows(sql, &values).await?;
    rows.iter().map(read_change).collect()
}

/// Reads the acts in a part of the log that match the filters.
async fn read_acts<S: Sql>(
    connection: &mut S,
    part: &AuditPart,
    filters: &AuditFilters,
) -> Result<Vec<PositionedEntry>, S::Error> {
    let range: [&dyn Parameter; 2] = [&part.acts.start, &part.acts.end];
    let page: [&dyn Parameter; 2] = [&part.after_act, &filters.max_rows];
    let values = [&range[..], &filters.parameters(), &page].concat();
    let rows = connection
        .rows(part.choose_act_statement(), &values)
        .await?;
    rows.iter().map(read_act).collect()
}

/// Decides which part of the log to read for a page of the audit trail.
async fn find_part_to_read<S: Sql>(
    connection: &mut S,
    query: &AuditQuery,
    filters: &AuditFilters,
) -> Result<AuditPart, S::Error> {
    let LogBounds { first, last } = read_log_bounds(connection).await?;
    // Every change up to this one was on an earlier page, or is older than `filters.since`.
    let mut last_excluded = first - 1;
    if let Some(after) = query.after
        && !query.newest_first
    {
        last_excluded = last_excluded.max(after.seq);
    }
    if let Some(since) = filters.since {
        last_excluded = connection
            .number(S::LAST_OLDER, &[&last_excluded, &(last + 1), &since])
            .await?;
    }

    if query.newest_first {
        let newest = match filters.until {
            Some(until) => find_newest(connection, last_excluded, last, until).await?,
            None => last,
        };
        return Ok(AuditPart::newest_first(query, last_excluded, newest));
    }

    let part = AuditPart::oldest_first(query, last_excluded, last);
    match filters.until {
        Some(until) => end_if_too_new(connection, part, until).await,
        None => Ok(part),
    }
}

/// Ends a search that goes forwards with `part`, if all changes of `part` are too new. A change is
/// too new if it is not older than `until`, extended by [`extend_for_clock_set_back`].
///
/// All later changes are then too new as well, unless a clock was set back by more than a day.
async fn end_if_too_new<S: Sql>(
    connection: &mut S,
    part: AuditPart,
    until: i64,
) -> Result<AuditPart, S::Error> {
    let range = part.changes;
    let extended_until = extend_for_clock_set_back(until);
    let has_older_row = connection
        .only_row(S::HAS_OLDER, &[&range.start, &range.end, &extended_until])
        .await?;
    if has_older_row.value(0)? {
        Ok(part)
    } else {
        Ok(part.into_last())
    }
}

/// Finds the change from which a search for entries before `until` goes backwards. It is among the
/// changes after `last_excluded` and up to `last`.
async fn find_newest<S: Sql>(
    connection: &mut S,
    last_excluded: i64,
    last: i64,
    until: i64,
) -> Result<i64, S::Error> {
    let end = last + 1;
    let extended_until = extend_for_clock_set_back(until);
    connection
        .number(S::NEWEST_OLDER, &[&last_excluded, &end, &extended_until])
        .await
}

/// Reads an act of the audit trail.
fn read_act<R: Columns>(row: &R) -> Result<PositionedEntry, R::Error> {
    let position = AuditPosition {
        seq: row.value(0)?,
        act: row.value(4)?,
    };
    let subject = row.value(3)?;
    let details = row.text(5)?.unwrap_or_default();
    let entry = AuditEntry::Act {
        id: position.act,
        at: row.time(1)?,
        act: row.parsed(2, |kind| parse_act(kind, subject, details))?,
        actor: read_actor(row, 6)?,
        request_id: read_text(row, 9)?,
    };
    Ok(PositionedEntry { position, entry })
}

/// Reads a change in a row with the columns [`crate::journal_rows::change_columns!`].
pub(super) fn read_change<R: Columns>(row: &R) -> Result<JournalEntry, R::Error> {
    let id = row.value(3)?;
    let subject: JournalSubject = row.parsed(2, |kind| JournalSubject::from_type(kind, id))?;
    let kind = subject.kind.value();
    Ok(JournalEntry {
        seq: row.value(0)?,
        at: row.time(1)?,
        kind: row.parsed(2, |kind| Some(MaybeKnown::from_name(kind)))?,
        subject,
        version: row.value(4)?,
        pet: row.value(5)?,
        actor: read_actor(row, 6)?,
        request_id: read_text(row, 9)?,
        before: read_representation(row, 10, kind)?,
        after: read_representation(row, 11, kind)?,
    })
}

/// Reads the representation of a subject. Returns `None` if the column is null. If an earlier
/// release logged the representation, adds the members that it lacks.
fn read_representation<R: Columns>(
    row: &R,
    column: usize,
    kind: Option<SubjectKind>,
) -> Result<Option<Box<str>>, R::Error> {
    let Some(mut representation) = read_text::<R, String>(row, column)? else {
        return Ok(None);
    };
    match kind {
        Some(SubjectKind::Order) => complete_order(&mut representation),
        Some(SubjectKind::Pet) => json::complete_store_pet(&mut representation),
        _ => {}
    }
    Ok(Some(representation.into()))
}

/// Adds the members that a representation of an order lacks if an earlier release logged it. Each
/// of them gets the value `null`.
fn complete_order(order: &mut String) {
    for member in json::MEMBERS_ADDED_TO_ORDERS {
        // `start` includes the quotes, which are escaped in text values, so it matches only a
        // member. `pop` removes the closing brace, which then follows the new member.
        if !order.contains(member.start) && order.pop().is_some() {
            order.push_str(member.null_member);
            order.push('}');
        }
    }
}

/// Reads an actor from three columns: its kind, id and name.
fn read_actor<R: Columns>(row: &R, first_column: usize) -> Result<NamedActor, R::Error> {
    let id = row.value(first_column + 1)?;
    let actor = row.parsed(first_column, |kind| Actor::from_kind_and_id(kind, id))?;
    Ok(NamedActor {
        actor,
        name: read_text(row, first_column + 2)?,
    })
}

/// Reads a text column. Returns `None` if the column is null.
fn read_text<R: Columns, T: for<'r> From<&'r str>>(
    row: &R,
    column: usize,
) -> Result<Option<T>, R::Error> {
    Ok(row.text(column)?.map(Into::into))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use petstore_domain::{NewPet, PetId, PetName, PetStatus, store_area::StorePet};

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

    #[test]
    fn an_animal_as_it_is_logged_today_lacks_no_member() {
        let new_pet = NewPet {
            name: PetName::new("Luna".to_owned()).unwrap(),
            category_id: 1,
            status: PetStatus::Available,
            is_listed: false,
        };
        let mut pet = StorePet::new(PetId::new(1).unwrap(), new_pet, Timestamp::UNIX_EPOCH);
        for is_listed in [true, false] {
            pet.is_listed = is_listed;
            let mut representation = Vec::new();
            json::write_store_pet(&mut representation, &pet);
            let logged = String::from_utf8(representation).unwrap();
            let mut completed = logged.clone();
            json::complete_store_pet(&mut completed);
            assert_eq!(completed, logged, "it recognizes the last member");
        }
    }

    #[test]
    fn an_animal_that_was_logged_before_it_could_be_off_the_website_is_on_it() {
        let complete = |pet: &str| {
            let mut pet = pet.to_owned();
            json::complete_store_pet(&mut pet);
            pet
        };
        let older = r#"{"id":1,"fields":{"listed":false},"photos":[]}"#;
        let shown = r#"{"id":1,"fields":{"listed":false},"photos":[],"listed":true}"#;
        assert_eq!(complete(older), shown);
        assert_eq!(complete(shown), shown);
        let unlisted = shown.replace("true}", "false}");
        assert_eq!(complete(&unlisted), unlisted);
    }
}
