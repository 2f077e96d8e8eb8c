//! Writes the changes of a decision.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::super::requests;
use crate::domain::store_area::{
    Category, Change, Decision, Order, Resource, StorePet, Text, Withdrawal,
};

const INSERT_PET: &str = "INSERT INTO pets
    (id, name, category_id, status, version, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const UPDATE_PET: &str = "UPDATE pets
    SET name = ?3, category_id = ?4, status = ?5, version = ?6, updated_at = ?7
    WHERE id = ?1 AND version = ?2";
const UPDATE_STATUS: &str = "UPDATE pets SET status = ?3, version = ?4, updated_at = ?5
    WHERE id = ?1 AND version = ?2";
const DELETE_PET: &str = "DELETE FROM pets WHERE id = ?1 AND version = ?2";
const INSERT_WITHDRAWN: &str = "INSERT INTO withdrawn_pets
    (id, name, category_id, status, version, created_at, updated_at, withdrawn_at, reason, note)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const DELETE_WITHDRAWN: &str = "DELETE FROM withdrawn_pets WHERE id = ?1 AND version = ?2";
const INSERT_ORDER: &str = "INSERT INTO orders
    (id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
/// Without the columns that stay, so that SQLite does not write to their indexes.
macro_rules! close_order {
    ($holds:literal) => {
        concat!(
            "UPDATE orders SET status = ?3, reason = ?4, closed_at = ?5, version = ?6",
            $holds,
            " WHERE id = ?1 AND version = ?2"
        )
    };
}
const COMPLETE_ORDER: &str = close_order!("");
const CLOSE_ORDER: &str = close_order!(", holds = 0");
const UPDATE_ORDER: &str =
    "UPDATE orders SET status = ?3, reason = ?4, closed_at = ?5, version = ?6,
    holds = ?7, reference = ?8, note = ?9, expires_at = ?10 WHERE id = ?1 AND version = ?2";
const RELEASE: &str = "UPDATE orders SET holds = 0 WHERE id = ?1 AND holds = 1";
const INSERT_CATEGORY: &str = "INSERT INTO categories (id, label, version) VALUES (?1, ?2, ?3)";
const UPDATE_CATEGORY: &str =
    "UPDATE categories SET label = ?3, version = ?4 WHERE id = ?1 AND version = ?2";
const DELETE_CATEGORY: &str = "DELETE FROM categories WHERE id = ?1 AND version = ?2";

/// Writes a decision about what this transaction has read, so each change is of exactly one row.
pub(super) fn write(connection: &Connection, decision: &Decision) -> rusqlite::Result<()> {
    for Change { before, after, .. } in &decision.changes {
        let written = match (before, after) {
            (before, Some(Resource::Pet(after))) => match before {
                None => insert_pet(connection, after)?,
                Some(Resource::Pet(before)) => change_pet(connection, before, after)?,
                Some(_) => 0,
            },
            (before, Some(Resource::Order(after))) => match before {
                None => insert_order(connection, after)?,
                Some(Resource::Order(before)) => change_order(connection, before, after)?,
                Some(_) => 0,
            },
            (before, Some(Resource::Category(after))) => {
                put_category(connection, before.as_ref().map(Resource::version), after)?
            }
            (Some(Resource::Category(before)), None) => {
                connection.prepare_cached(DELETE_CATEGORY)?.execute([before.id, before.version])?
            }
            (_, None) => 0,
        };
        expect_one(written)?;
    }
    if let Some(order) = decision.releases {
        expect_one(connection.prepare_cached(RELEASE)?.execute([order.get()])?)?;
    }
    Ok(())
}

/// Adds what another database has, as it is.
pub(in super::super) fn insert(
    connection: &Connection,
    resource: &Resource,
) -> rusqlite::Result<()> {
    let inserted = match resource {
        Resource::Pet(pet) => match &pet.withdrawn {
            None => insert_pet(connection, pet)?,
            Some(withdrawal) => insert_withdrawn(connection, pet, withdrawal)?,
        },
        Resource::Order(order) => insert_order(connection, order)?,
        Resource::Category(category) => put_category(connection, None, category)?,
    };
    expect_one(inserted)
}

/// Only one process writes at a time, so no other number is possible.
fn expect_one(written: usize) -> rusqlite::Result<()> {
    if written == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(written)) }
}

fn insert_pet(connection: &Connection, pet: &StorePet) -> rusqlite::Result<usize> {
    connection.prepare_cached(INSERT_PET)?.execute(params![
        pet.id.get(),
        pet.name.as_str(),
        pet.category_id,
        pet.status.as_str(),
        pet.version,
        pet.created_at.map(Timestamp::as_millisecond),
        pet.updated_at.map(Timestamp::as_millisecond)
    ])
}

fn change_pet(
    connection: &Connection,
    before: &StorePet,
    after: &StorePet,
) -> rusqlite::Result<usize> {
    if before.version == 1 {
        requests::keep_responses(connection, before.id)?;
    }
    let (id, version) = (before.id.get(), before.version);
    match (&before.withdrawn, &after.withdrawn) {
        (None, None) => update_pet(connection, before, after),
        (None, Some(withdrawal)) => {
            expect_one(connection.prepare_cached(DELETE_PET)?.execute([id, version])?)?;
            insert_withdrawn(connection, after, withdrawal)
        }
        (Some(_), None) => {
            expect_one(connection.prepare_cached(DELETE_WITHDRAWN)?.execute([id, version])?)?;
            insert_pet(connection, after)
        }
        (Some(_), Some(_)) => Ok(0),
    }
}

fn update_pet(
    connection: &Connection,
    before: &StorePet,
    after: &StorePet,
) -> rusqlite::Result<usize> {
    let (id, updated_at) = (before.id.get(), after.updated_at.map(Timestamp::as_millisecond));
    let status = after.status.as_str();
    if (&before.name, before.category_id) == (&after.name, after.category_id) {
        let mut update = connection.prepare_cached(UPDATE_STATUS)?;
        return update.execute(params![id, before.version, status, after.version, updated_at]);
    }
    connection.prepare_cached(UPDATE_PET)?.execute(params![
        id,
        before.version,
        after.name.as_str(),
        after.category_id,
        status,
        after.version,
        updated_at
    ])
}

fn insert_withdrawn(
    connection: &Connection,
    pet: &StorePet,
    withdrawal: &Withdrawal,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(INSERT_WITHDRAWN)?.execute(params![
        pet.id.get(),
        pet.name.as_str(),
        pet.category_id,
        pet.status.as_str(),
        pet.version,
        pet.created_at.map(Timestamp::as_millisecond),
        pet.updated_at.map(Timestamp::as_millisecond),
        withdrawal.at.as_millisecond(),
        withdrawal.reason.as_str(),
        withdrawal.note.as_ref().map(Text::as_str)
    ])
}

fn insert_order(connection: &Connection, order: &Order) -> rusqlite::Result<usize> {
    connection.prepare_cached(INSERT_ORDER)?.execute(params![
        order.id.get(),
        order.pet_id.get(),
        order.status.as_str(),
        order.holds,
        order.reference.as_ref().map(Text::as_str),
        order.note.as_ref().map(Text::as_str),
        order.reason.as_ref().map(Text::as_str),
        order.expires_at.map(Timestamp::as_millisecond),
        order.created_at.as_millisecond(),
        order.closed_at.map(Timestamp::as_millisecond),
        order.version
    ])
}

fn change_order(connection: &Connection, before: &Order, after: &Order) -> rusqlite::Result<usize> {
    let (status, closed_at) =
        (after.status.as_str(), after.closed_at.map(Timestamp::as_millisecond));
    let reason = after.reason.as_ref().map(Text::as_str);
    let (id, version) = (after.id.get(), before.version);
    let keeps_terms = (&before.reference, &before.note, before.expires_at)
        == (&after.reference, &after.note, after.expires_at);
    if keeps_terms && (before.holds || !after.holds) {
        // A completed order goes on holding its animal.
        let close = if after.holds { COMPLETE_ORDER } else { CLOSE_ORDER };
        let values = params![id, version, status, reason, closed_at, after.version];
        return connection.prepare_cached(close)?.execute(values);
    }
    connection.prepare_cached(UPDATE_ORDER)?.execute(params![
        id,
        version,
        status,
        reason,
        closed_at,
        after.version,
        after.holds,
        after.reference.as_ref().map(Text::as_str),
        after.note.as_ref().map(Text::as_str),
        after.expires_at.map(Timestamp::as_millisecond)
    ])
}

fn put_category(
    connection: &Connection,
    before: Option<i64>,
    after: &Category,
) -> rusqlite::Result<usize> {
    let Category { id, label, version } = after;
    match before {
        None => {
            let mut insert = connection.prepare_cached(INSERT_CATEGORY)?;
            insert.execute(params![id, label.as_str(), version])
        }
        Some(before) => {
            let mut update = connection.prepare_cached(UPDATE_CATEGORY)?;
            update.execute(params![id, before, label.as_str(), version])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{super::migrations, rows},
        *,
    };
    use crate::domain::{
        PetId,
        store_area::{ChangeType, OrderId, OrderStatus},
    };

    #[test]
    fn a_change_of_an_order_writes_every_member_whatever_its_type_is() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let before = Order {
            id: OrderId::new(1).unwrap(),
            pet_id: PetId::new(1).unwrap(),
            status: OrderStatus::Reserved,
            reference: None,
            note: Text::new("a".to_owned()),
            reason: None,
            expires_at: Some(time(1)),
            created_at: time(0),
            closed_at: None,
            version: 1,
            holds: true,
        };
        let extended = Order { expires_at: Some(time(2)), version: 2, ..before.clone() };
        // A later release may change all of it at once.
        let with_terms = Order {
            status: OrderStatus::Completed,
            reference: Text::new("b".to_owned()),
            note: None,
            reason: Text::new("c".to_owned()),
            expires_at: None,
            closed_at: Some(time(3)),
            version: 3,
            ..extended.clone()
        };
        let returned = Order {
            status: OrderStatus::Returned,
            closed_at: Some(time(4)),
            holds: false,
            version: 4,
            ..with_terms.clone()
        };
        for kind in ChangeType::ALL {
            let connection = Connection::open_in_memory().unwrap();
            migrations::create(&connection).unwrap();
            insert(&connection, &before.clone().into()).unwrap();
            let versions = [&before, &extended, &with_terms, &returned];
            for (before, after) in versions.into_iter().zip(&versions[1..]) {
                let after = (*after).clone();
                let change = Change {
                    kind,
                    before: Some(before.clone().into()),
                    after: Some(after.clone().into()),
                };
                let decision = Decision { changes: vec![change], releases: None, result: None };
                write(&connection, &decision).unwrap();
                let stored = rows::get_order(&connection, after.id).unwrap();
                assert_eq!(stored, Some(after), "{kind}");
            }
        }
    }
}
