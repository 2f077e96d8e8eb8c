//! A page, put together inside of SQLite.
//!
//! Handing a row out and asking for its columns one by one costs more than finding
//! it. So the statement that looks for a page calls a function with each animal,
//! which puts it on the page, and hands out no row but the first one for which
//! there is no room.

use std::{cell::RefCell, sync::LazyLock};

use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
};

use super::pets::{self, identifier};
use crate::{
    domain::{PageRequest, PetId, PetRef, PetStatus},
    store::ShowPet,
};

// The function has an effect, so it must be the last condition to be looked at,
// with the animals of the page and no others, in their order. It is the only one
// that the index does not decide, if that is the one which is named.
const BEYOND: &str = "SELECT 1 FROM pets NOT INDEXED
    WHERE id > ?1 AND NOT goes_on_page(id, name, category_id, status) ORDER BY id LIMIT 1";
static BEYOND_OF_STATUS: LazyLock<[String; 3]> = LazyLock::new(|| {
    PetStatus::ALL.map(|status| {
        let pets = pets::of_status(status);
        format!("SELECT 1 {pets} AND id > ?1 AND NOT goes_on_page(id, name, category_id) ORDER BY id LIMIT 1")
    })
});

thread_local! {
    /// The page that this thread is looking for. SQLite calls a function on the
    /// thread that runs the statement.
    static PAGE: RefCell<Page> = RefCell::default();
}

/// The most bytes of names for which memory is kept until the next page.
const USUAL_NAMES: usize = 64 << 10;

#[derive(Default)]
struct Page {
    /// How many more animals go on it.
    room: u8,
    /// The status of all, if the statement asks for one.
    status: Option<PetStatus>,
    animals: Vec<Animal>,
    /// The names of all, one after the other.
    names: String,
}

struct Animal {
    id: PetId,
    /// Where its name ends, and that of the next one begins.
    name_end: usize,
    category_id: i64,
    status: PetStatus,
}

/// Makes the function known to a connection that reads.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    let goes_on_page = |row: &Context<'_>| PAGE.with_borrow_mut(|page| page.take(row));
    connection.create_scalar_function("goes_on_page", 3, flags, goes_on_page)?;
    connection.create_scalar_function("goes_on_page", 4, flags, goes_on_page)
}

/// Shows a page, and returns whether more follow.
pub(super) fn list(
    connection: &Connection,
    request: &PageRequest,
    show: &mut ShowPet<'_>,
) -> rusqlite::Result<bool> {
    PAGE.with_borrow_mut(|page| page.begin(request));
    let after = request.after.map_or(0, PetId::get);
    let more_follow = connection.prepare_cached(beyond(request.status))?.exists([after])?;
    PAGE.with_borrow(|page| page.show(show));
    Ok(more_follow)
}

fn beyond(status: Option<PetStatus>) -> &'static str {
    match status {
        None => BEYOND,
        Some(status) => &BEYOND_OF_STATUS[status as usize],
    }
}

impl Page {
    fn begin(&mut self, request: &PageRequest) {
        self.room = request.limit.get();
        self.status = request.status;
        self.animals.clear();
        self.names.clear();
        self.names.shrink_to(USUAL_NAMES);
    }

    /// Takes the animal of a row, if there is room.
    fn take(&mut self, row: &Context<'_>) -> rusqlite::Result<bool> {
        let Some(room) = self.room.checked_sub(1) else {
            return Ok(false);
        };
        self.room = room;
        self.names.push_str(row.get_raw(1).as_str()?);
        self.animals.push(Animal {
            id: identifier(row.get(0)?)?,
            name_end: self.names.len(),
            category_id: row.get(2)?,
            status: self.status.map_or_else(|| pets::status(row.get_raw(3)), Ok)?,
        });
        Ok(true)
    }

    fn show(&self, show: &mut ShowPet<'_>) {
        let mut name_begin = 0;
        for &Animal { id, name_end, category_id, status } in &self.animals {
            let name = &self.names[name_begin..name_end];
            show(PetRef { id, name, category_id, status });
            name_begin = name_end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{OpenMode, sqlite::connection};

    #[test]
    fn a_page_is_one_walk_along_one_index_whatever_the_statistics_say() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (writing, _) = connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        writing
            .execute_batch(
                "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 2010)
                 INSERT INTO pets (name, category_id, status)
                 SELECT 'Frank', 1, iif(n < 2000, 'available', 'sold') FROM n;
                 ANALYZE;",
            )
            .unwrap();
        let reading = connection::open_for_reading(&path).unwrap();
        let plan = |status| {
            let sql = format!("EXPLAIN QUERY PLAN {}", beyond(status));
            let mut statement = reading.prepare(&sql).unwrap();
            let steps = statement.query_map([1], |row| row.get::<_, String>("detail")).unwrap();
            steps.map(Result::unwrap).collect::<Vec<_>>()
        };
        assert_eq!(plan(None), ["SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)"]);
        for status in PetStatus::ALL {
            let expected = format!("SEARCH pets USING COVERING INDEX pets_{status} (id>?)");
            assert_eq!(plan(Some(status)), [expected]);
        }
    }
}
