//! Reads a page.
//!
//! Returning a row from SQLite and reading its columns costs more than finding it. So the statement
//! calls a function with each animal, and the function copies the animal. The statement returns
//! only the first row that no longer fits on the page. [`read_by_row`] does without the function.

use std::{cell::RefCell, sync::LazyLock};

use petstore_domain::{PageRequest, PetId, PetStatus};
use petstore_store::{
    page::{Entry, Page},
    tables::read_contract_pet,
};
use rusqlite::{
    functions::{Context, FunctionFlags},
    types::{FromSqlError, ValueRef},
};

use super::{
    connection::Connection,
    rows::{self, identifier},
};

// The function has a side effect, so SQLite must evaluate it after all other conditions, for the
// animals of the page only, and in their order. The named index decides all other conditions.
const BEYOND: &str = "SELECT 1 FROM pets NOT INDEXED
    WHERE id > ?1 AND NOT goes_on_page(id, name, category_id, status) ORDER BY id LIMIT 1";
static BEYOND_OF_STATUS: LazyLock<[String; 3]> = LazyLock::new(|| {
    PetStatus::ALL.map(|status| {
        let pets = rows::of_status(status);
        format!("SELECT 1 FROM pets {pets} AND id > ?1 AND NOT goes_on_page(id, name, category_id) ORDER BY id LIMIT 1")
    })
});

const ROWS: &str = "SELECT id, name, category_id, status FROM pets NOT INDEXED
    WHERE id > ?1 ORDER BY id LIMIT ?2";
static ROWS_OF_STATUS: LazyLock<[String; 3]> = LazyLock::new(|| {
    PetStatus::ALL.map(|status| {
        let pets = rows::of_status(status);
        format!(
            "SELECT id, name, category_id, status FROM pets {pets} AND id > ?1 ORDER BY id LIMIT ?2"
        )
    })
});

/// The approximate length of a name, in bytes.
const USUAL_NAME: usize = 16;

thread_local! {
    /// The page that this thread is reading. SQLite calls a function on the thread that runs the
    /// statement.
    static READING: RefCell<Reading> = const { RefCell::new(Reading::NOTHING) };
}

struct Reading {
    /// How many more animals the page can take.
    room: u8,
    /// The status of all animals, if the statement selects one.
    status: Option<PetStatus>,
    pets: Vec<Entry>,
    /// All names, one after the other. Not validated: that costs less for all of them at once.
    names: Vec<u8>,
    /// A page whose names are longer than this, in bytes, takes no more animals.
    longest: usize,
    is_too_long: bool,
}

/// Registers the function in a connection that reads.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    let goes_on_page = |row: &Context<'_>| READING.with_borrow_mut(|page| page.take(row));
    connection.create_scalar_function("goes_on_page", 3, flags, goes_on_page)?;
    connection.create_scalar_function("goes_on_page", 4, flags, goes_on_page)
}

/// Reads a page. Returns `None` if its names have more than about `longest` bytes.
pub(super) fn read(
    connection: &Connection,
    request: &PageRequest,
    longest: usize,
) -> rusqlite::Result<Option<Page>> {
    let mut statement = connection.prepare_cached(beyond(request.status))?;
    let room = request.limit.get();
    READING.set(Reading {
        room,
        status: request.status,
        pets: Vec::with_capacity(room.into()),
        names: Vec::with_capacity(usize::from(room) * USUAL_NAME),
        longest,
        is_too_long: false,
    });
    let more_follow = statement.exists([after(request)]);
    let read = READING.replace(Reading::NOTHING);
    let more_follow = more_follow?;
    if read.is_too_long {
        return Ok(None);
    }
    let names = String::from_utf8(read.names);
    let names = names.map_err(|error| rusqlite::Error::Utf8Error(1, error.utf8_error()))?;
    Ok(Some(Page {
        pets: read.pets,
        names,
        more_follow,
    }))
}

/// Reads a page of any size, row by row.
pub(super) fn read_by_row(
    connection: &Connection,
    request: &PageRequest,
) -> rusqlite::Result<Page> {
    let limit = request.limit.get();
    let mut statement = connection.prepare_cached(rows(request.status))?;
    // One more than requested shows whether a page follows.
    let mut rows = statement.query([after(request), i64::from(limit) + 1])?;
    let mut page = Page::default();
    while let Some(row) = rows.next()? {
        if page.pets.len() == usize::from(limit) {
            page.more_follow = true;
            break;
        }
        page.push(read_contract_pet(row)?);
    }
    Ok(page)
}

fn after(request: &PageRequest) -> i64 {
    request.after.map_or(0, PetId::get)
}

fn beyond(status: Option<PetStatus>) -> &'static str {
    match status {
        None => BEYOND,
        Some(status) => &BEYOND_OF_STATUS[status as usize],
    }
}

fn rows(status: Option<PetStatus>) -> &'static str {
    match status {
        None => ROWS,
        Some(status) => &ROWS_OF_STATUS[status as usize],
    }
}

impl Reading {
    /// A page without room.
    const NOTHING: Self = Self {
        room: 0,
        status: None,
        pets: Vec::new(),
        names: Vec::new(),
        longest: 0,
        is_too_long: false,
    };

    /// Copies the animal of a row, if there is room.
    fn take(&mut self, row: &Context<'_>) -> rusqlite::Result<bool> {
        let Some(room) = self.room.checked_sub(1) else {
            return Ok(false);
        };
        if self.names.len() > self.longest {
            self.is_too_long = true;
            return Ok(false);
        }
        self.room = room;
        let id = identifier(row.get_raw(0).as_i64()?)?;
        let ValueRef::Text(name) = row.get_raw(1) else {
            return Err(FromSqlError::InvalidType.into());
        };
        self.names.extend_from_slice(name);
        let category_id = row.get_raw(2).as_i64()?;
        let status = match self.status {
            Some(status) => status,
            None => rows::status(row.get_raw(3))?,
        };
        self.pets.push(Entry {
            id,
            name: name.len(),
            category_id,
            status,
        });
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::opening;
    use petstore_domain::Limit;
    use petstore_store::OpenMode;

    /// Returns a connection that writes, and one that reads.
    fn connections() -> (tempfile::TempDir, Connection, Connection) {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (writing, _) = opening::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let reading = opening::open_for_reading(&path).unwrap();
        (directory, writing, reading)
    }

    #[test]
    fn a_page_has_the_same_animals_with_the_function_and_without_it() {
        let (_directory, writing, reading) = connections();
        let statuses = PetStatus::ALL.into_iter().cycle();
        let names = ["", "Frank", "Zoë", "a\0b", "\u{10FFFF}"]
            .into_iter()
            .cycle();
        for (number, (name, status)) in names.zip(statuses).take(130).enumerate() {
            let sql = "INSERT INTO pets (id, name, category_id, status) VALUES (?1, ?2, ?3, ?4)";
            let number = i64::try_from(number).unwrap();
            let id = 1 + 3 * number;
            let category_id = i64::MAX - number;
            writing
                .execute(sql, (id, name, category_id, status.as_str()))
                .unwrap();
        }
        let statuses = PetStatus::ALL.map(Some).into_iter().chain([None]);
        for status in statuses {
            for after in [None, Some(1), Some(100), Some(384), Some(PetId::MAX)] {
                for limit in [1, 2, 20, 43, 100] {
                    let limit = Limit::new(limit).unwrap();
                    let request = PageRequest {
                        limit,
                        status,
                        after: after.and_then(PetId::new),
                    };
                    let page = read(&reading, &request, usize::MAX).unwrap();
                    let by_row = read_by_row(&reading, &request).unwrap();
                    assert_eq!(page, Some(by_row), "{request:?}");
                }
            }
        }
    }

    #[test]
    fn a_page_with_a_name_that_is_not_utf_8_is_an_error_with_the_function_and_without_it() {
        // The second one is the two halves of an é.
        for names in [&["ff"][..], &["c3", "a9"]] {
            let (_directory, writing, reading) = connections();
            for name in names {
                let insert = "INSERT INTO pets (name, category_id, status)";
                let insert = format!("{insert} VALUES (CAST(x'{name}' AS TEXT), 1, 'sold')");
                writing.execute_batch(&insert).unwrap();
            }
            let request = PageRequest::default();
            let visited = read(&reading, &request, usize::MAX)
                .map(|page| page.unwrap().visit(&mut |_| ()).now_or_never().unwrap());
            assert!(matches!(visited, Err(_) | Ok(Err(_))), "{names:?}");
            assert!(read_by_row(&reading, &request).is_err(), "{names:?}");
        }
    }

    #[test]
    fn a_page_is_one_search_of_one_index_whatever_the_statistics_are() {
        let (_directory, writing, reading) = connections();
        writing
            .execute_batch(
                "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 2010)
                 INSERT INTO pets (name, category_id, status)
                 SELECT 'Frank', 1, iif(n < 2000, 'available', 'sold') FROM n;
                 ANALYZE;",
            )
            .unwrap();
        let plan = |sql: &str| {
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let mut statement = reading.prepare(&sql).unwrap();
            let parameters = rusqlite::params_from_iter(vec![1; statement.parameter_count()]);
            let steps = statement
                .query_map(parameters, |row| row.get::<_, String>("detail"))
                .unwrap();
            steps.map(Result::unwrap).collect::<Vec<_>>()
        };
        for sql in [beyond(None), rows(None)] {
            assert_eq!(
                plan(sql),
                ["SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)"]
            );
        }
        for status in PetStatus::ALL {
            let expected = format!("SEARCH pets USING COVERING INDEX pets_{status} (id>?)");
            for sql in [beyond(Some(status)), rows(Some(status))] {
                assert_eq!(plan(sql), [expected.as_str()]);
            }
        }
    }
}
