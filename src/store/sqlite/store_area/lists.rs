//! Animals in order of identifier, and everything.

use rusqlite::Connection;

use super::{super::rows::of_status, rows::SELECT};
use crate::{
    domain::{
        PetId, PetStatus,
        store_area::{PetQuery, StorePet},
    },
    store::tables::{Table, pet_with_order},
};

/// Reads everything in a table.
pub(in super::super) fn everything(table: Table) -> String {
    let by_id = if table == Table::Pets { "NOT INDEXED ORDER BY id" } else { "ORDER BY id" };
    format!("{} {by_id}", SELECT[table as usize])
}

/// The animals of a page without a search, and one more if more follow. `None` if their names have more
/// than about `longest` bytes.
pub(super) fn pets(
    connection: &Connection,
    query: &PetQuery,
    longest: usize,
) -> rusqlite::Result<Option<Vec<StorePet>>> {
    let table = if query.withdrawn { Table::WithdrawnPets } else { Table::Pets };
    let (start, behind, order) =
        if query.newest_first { (i64::MAX, "<", "DESC") } else { (0, ">", "ASC") };
    let of = |of_status: &str| format!("{} {of_status} id {behind} ?1", SELECT[table as usize]);
    let list = match query.status {
        None if query.on_offer => [PetStatus::Available, PetStatus::Pending]
            .map(|of_one| of(&(of_status(of_one) + " AND")))
            .join(" UNION ALL "),
        None => of("NOT INDEXED WHERE"),
        Some(status) if query.withdrawn => {
            of(&format!("INDEXED BY withdrawn_pets_by_status WHERE status = '{status}' AND"))
        }
        Some(status) => of(&(of_status(status) + " AND")),
    };
    let list = format!("{list} ORDER BY id {order} LIMIT ?2");
    let mut statement = connection.prepare_cached(&list)?;
    let after = query.after.map_or(start, PetId::get);
    let mut rows = statement.query([after, i64::from(query.limit.get()) + 1])?;
    let (mut found, mut length) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let pet = pet_with_order(row)?;
        length += pet.length();
        if length > longest {
            return Ok(None);
        }
        found.push(pet);
    }
    Ok(Some(found))
}
