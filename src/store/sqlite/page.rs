//! Assembles a page inside SQLite.
//!
//! Returning a row from SQLite and reading its columns costs more than finding it. So the statement
//! calls a function with each animal, and the function appends the animal to the page. The
//! statement returns only the first row that no longer fits on the page.

use std::{cell::RefCell, mem, sync::LazyLock};

use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
};

use super::pets::{self, identifier};
use crate::{
    domain::{PageRequest, PetId, PetRef, PetStatus},
    store::WritePet,
};

// The function has a side effect, so SQLite must evaluate it after all other conditions, for the
// animals of the page only, and in their order. The named index decides all other conditions.
const BEYOND: &str = "SELECT 1 FROM pets NOT INDEXED
    WHERE id > ?1 AND NOT goes_on_page(id, name, category_id, status) ORDER BY id LIMIT 1";
static BEYOND_OF_STATUS: LazyLock<[String; 3]> = LazyLock::new(|| {
    PetStatus::ALL.map(|status| {
        let pets = pets::of_status(status);
        format!("SELECT 1 {pets} AND id > ?1 AND NOT goes_on_page(id, name, category_id) ORDER BY id LIMIT 1")
    })
});

thread_local! {
    /// The page that this thread is reading. SQLite calls a function on the thread that runs the
    /// statement.
    static PAGE: RefCell<Page> = const { RefCell::new(Page::NONE) };
}

struct Page {
    /// How many more animals the page can take.
    room: u8,
    /// The status of all animals, if the statement selects one.
    status: Option<PetStatus>,
    write: WritePet,
    text: Vec<u8>,
    last: Option<PetId>,
    /// A page whose text is longer than this takes no more animals.
    longest: usize,
    is_too_long: bool,
}

/// The result of reading a page.
pub(super) enum Listed {
    /// The page is complete. The animal is its last one, if more follow.
    Whole(Option<PetId>),
    /// The text became too long. Its content is undefined.
    TooLong,
}

/// Registers the function in a connection that reads.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    let goes_on_page = |row: &Context<'_>| PAGE.with_borrow_mut(|page| page.take(row));
    connection.create_scalar_function("goes_on_page", 3, flags, goes_on_page)?;
    connection.create_scalar_function("goes_on_page", 4, flags, goes_on_page)
}

/// Appends a page to `text`, up to about `longest` bytes.
pub(super) fn list(
    connection: &Connection,
    request: &PageRequest,
    write: WritePet,
    text: &mut Vec<u8>,
    longest: usize,
) -> rusqlite::Result<Listed> {
    let mut statement = connection.prepare_cached(beyond(request.status))?;
    let after = request.after.map_or(0, PetId::get);
    PAGE.set(Page {
        room: request.limit.get(),
        status: request.status,
        write,
        text: mem::take(text),
        last: None,
        longest,
        is_too_long: false,
    });
    let more_follow = statement.exists([after]);
    let page = PAGE.replace(Page::NONE);
    *text = page.text;
    let more_follow = more_follow?;
    if page.is_too_long {
        return Ok(Listed::TooLong);
    }
    Ok(Listed::Whole(page.last.filter(|_| more_follow)))
}

fn beyond(status: Option<PetStatus>) -> &'static str {
    match status {
        None => BEYOND,
        Some(status) => &BEYOND_OF_STATUS[status as usize],
    }
}

impl Page {
    /// A page without room.
    const NONE: Self = Self {
        room: 0,
        status: None,
        write: |_, _| (),
        text: Vec::new(),
        last: None,
        longest: 0,
        is_too_long: false,
    };

    /// Appends the animal of a row, if there is room.
    fn take(&mut self, row: &Context<'_>) -> rusqlite::Result<bool> {
        let Some(room) = self.room.checked_sub(1) else {
            return Ok(false);
        };
        if self.text.len() > self.longest {
            self.is_too_long = true;
            return Ok(false);
        }
        self.room = room;
        let id = identifier(row.get_raw(0).as_i64()?)?;
        let name = row.get_raw(1).as_str()?;
        let category_id = row.get_raw(2).as_i64()?;
        let status = match self.status {
            Some(status) => status,
            None => pets::status(row.get_raw(3))?,
        };
        (self.write)(&mut self.text, PetRef { id, name, category_id, status });
        self.last = Some(id);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{OpenMode, sqlite::connection};

    #[test]
    fn a_page_is_one_search_of_one_index_whatever_the_statistics_are() {
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
