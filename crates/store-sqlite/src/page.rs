//! Reads pages of animals.
//!
//! To return a row from SQLite and to read its columns costs more than to find the row. So the
//! statement passes each animal to a user-defined function, `goes_on_page`, which copies the animal
//! to the page. The statement returns a row only for the first animal that does not fit on the
//! page, which means that another page follows. [`read_page_by_row`] reads a page without this
//! function.

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
    rows::{self, pet_id},
};

/// The statement that calls `goes_on_page` with each animal of a page.
///
/// The function has a side effect, so SQLite must evaluate it after all other conditions, only for
/// the animals of the page, and in the order of the page. The forced index (or NOT INDEXED)
/// guarantees this, because it covers all other conditions.
const VISIT_PAGE: &str = "SELECT 1 FROM pets NOT INDEXED
    WHERE id > ?1 AND NOT goes_on_page(id, name, category_id, status) ORDER BY id LIMIT 1";
/// The statements that call `goes_on_page` with each animal of a page, in the order of
/// [`PetStatus::ALL`].
static VISIT_PAGE_OF_STATUS: LazyLock<[String; 3]> = LazyLock::new(|| {
    PetStatus::ALL.map(|status| {
        let pets = rows::status_clause(status);
        format!("SELECT 1 FROM pets {pets} AND id > ?1 AND NOT goes_on_page(id, name, category_id) ORDER BY id LIMIT 1")
    })
});

/// The query for the rows of a page.
const ROWS: &str = "SELECT id, name, category_id, status FROM pets NOT INDEXED
    WHERE id > ?1 ORDER BY id LIMIT ?2";
/// The queries for the rows of a page of one status, in the order of [`PetStatus::ALL`].
static ROWS_OF_STATUS: LazyLock<[String; 3]> = LazyLock::new(|| {
    PetStatus::ALL.map(|status| {
        let pets = rows::status_clause(status);
        format!(
            "SELECT id, name, category_id, status FROM pets {pets} AND id > ?1 ORDER BY id LIMIT ?2"
        )
    })
});

/// The approximate length of a name in bytes, for the initial capacity of a page.
const USUAL_NAME_LENGTH: usize = 16;

thread_local! {
    /// The page that this thread is reading. It can be thread-local, because SQLite calls the function
    /// on the thread that runs the statement.
    static CURRENT_PAGE: RefCell<CurrentPage> = const { RefCell::new(CurrentPage::EMPTY) };
}

/// The page that a running statement fills.
struct CurrentPage {
    /// The number of animals that still fit on the page.
    room: u8,
    /// The status of all animals, if the statement selects one.
    status: Option<PetStatus>,
    pets: Vec<Entry>,
    /// All names, concatenated. They are validated as UTF-8 at the end, because that is cheaper for
    /// all of them at once.
    names: Vec<u8>,
    /// The total length of the names, in bytes, above which the page takes no more animals.
    max_name_bytes: usize,
    /// Whether the names have exceeded `max_name_bytes`, so that the page is incomplete.
    is_too_long: bool,
}

/// Registers both forms of `goes_on_page` in a connection that reads: with the status as the fourth
/// argument, and without it.
pub(super) fn register_function(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("goes_on_page", 3, flags, goes_on_page)?;
    connection.create_scalar_function("goes_on_page", 4, flags, goes_on_page)
}

/// Copies the animal in the arguments of a call to the page of this thread. Returns whether it fitted.
fn goes_on_page(call: &Context<'_>) -> rusqlite::Result<bool> {
    CURRENT_PAGE.with_borrow_mut(|page| page.copy_animal(call))
}

/// Reads a page with the SQL function `goes_on_page`. Returns `None` if the names before the last one exceed
/// `max_name_bytes` in total, because such a page would block the calling thread for too long.
pub(super) fn read_page(
    connection: &Connection,
    request: &PageRequest,
    max_name_bytes: usize,
) -> rusqlite::Result<Option<Page>> {
    let mut statement = connection.prepare_cached(visit_page_statement(request.status))?;
    let room = request.limit.get();
    CURRENT_PAGE.set(CurrentPage {
        room,
        status: request.status,
        pets: Vec::with_capacity(room.into()),
        names: Vec::with_capacity(usize::from(room) * USUAL_NAME_LENGTH),
        max_name_bytes,
        is_too_long: false,
    });
    let result = statement.exists([last_id_before(request)]);
    // Take the page even if the statement failed, so that its memory is freed.
    let page = CURRENT_PAGE.replace(CurrentPage::EMPTY);
    let more_follow = result?;
    if page.is_too_long {
        return Ok(None);
    }
    let names = String::from_utf8(page.names)
        .map_err(|error| rusqlite::Error::Utf8Error(1, error.utf8_error()))?;
    Ok(Some(Page {
        pets: page.pets,
        names,
        more_follow,
    }))
}

/// Reads a page of any size by an ordinary query, which returns one row for each animal.
pub(super) fn read_page_by_row(
    connection: &Connection,
    request: &PageRequest,
) -> rusqlite::Result<Page> {
    let limit = request.limit.get();
    let mut statement = connection.prepare_cached(rows_statement(request.status))?;
    // Select one animal more than requested: if there is such an animal, another page follows.
    let mut rows = statement.query([last_id_before(request), i64::from(limit) + 1])?;
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

/// Returns the identifier after which the page begins, 0 for the first page.
fn last_id_before(request: &PageRequest) -> i64 {
    request.after.map_or(0, PetId::get)
}

/// Returns the statement that calls `goes_on_page`, for one status or for all.
fn visit_page_statement(status: Option<PetStatus>) -> &'static str {
    match status {
        None => VISIT_PAGE,
        Some(status) => &VISIT_PAGE_OF_STATUS[status as usize],
    }
}

/// Returns the statement that selects the rows of a page, for one status or for all.
fn rows_statement(status: Option<PetStatus>) -> &'static str {
    match status {
        None => ROWS,
        Some(status) => &ROWS_OF_STATUS[status as usize],
    }
}

impl CurrentPage {
    /// An empty page without room, which is the current page while the thread reads none.
    const EMPTY: Self = Self {
        room: 0,
        status: None,
        pets: Vec::new(),
        names: Vec::new(),
        max_name_bytes: 0,
        is_too_long: false,
    };

    /// Copies the animal in the arguments of a call: its id, name, category and status. Returns whether
    /// the animal fitted on the page.
    ///
    /// The status is not an argument if the statement selects animals of one status.
    fn copy_animal(&mut self, call: &Context<'_>) -> rusqlite::Result<bool> {
        let Some(remaining_room) = self.room.checked_sub(1) else {
            return Ok(false);
        };
        if self.names.len() > self.max_name_bytes {
            self.is_too_long = true;
            return Ok(false);
        }
        self.room = remaining_room;
        let id = pet_id(call.get_raw(0).as_i64()?)?;
        let ValueRef::Text(name) = call.get_raw(1) else {
            return Err(FromSqlError::InvalidType.into());
        };
        self.names.extend_from_slice(name);
        let category_id = call.get_raw(2).as_i64()?;
        let status = match self.status {
            Some(status) => status,
            None => rows::parse_status(call.get_raw(3))?,
        };
        self.pets.push(Entry {
            id,
            name_length: name.len(),
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
        let writing = opening::open_for_writing(&path, OpenMode::CreateAndMigrate)
            .unwrap()
            .connection;
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
                    let page = read_page(&reading, &request, usize::MAX).unwrap();
                    let by_row = read_page_by_row(&reading, &request).unwrap();
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
            let visited = read_page(&reading, &request, usize::MAX)
                .map(|page| page.unwrap().visit(&mut |_| ()).now_or_never().unwrap());
            assert!(matches!(visited, Err(_) | Ok(Err(_))), "{names:?}");
            assert!(read_page_by_row(&reading, &request).is_err(), "{names:?}");
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
        for sql in [visit_page_statement(None), rows_statement(None)] {
            assert_eq!(
                plan(sql),
                ["SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)"]
            );
        }
        for status in PetStatus::ALL {
            let expected = format!("SEARCH pets USING COVERING INDEX pets_{status} (id>?)");
            for sql in [
                visit_page_statement(Some(status)),
                rows_statement(Some(status)),
            ] {
                assert_eq!(plan(sql), [expected.as_str()]);
            }
        }
    }
}
