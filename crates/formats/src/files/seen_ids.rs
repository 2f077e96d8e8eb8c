//! The identifiers and unique values that an import has read so far, in constant memory.
//!
//! A catalogue must not have an identifier or a unique value twice, so [`SeenIds`] finds
//! repetitions. It also finds orders and notes of an export that contradict the animals before
//! them.

use std::{env, io, path::Path};

use petstore_domain::{
    PetId, PetStatus,
    store_area::{Order, OrderId, OrderStatus, PetNote, Resource, StorePet, UniqueKey},
};
use rusqlite::{Connection, OptionalExtension, params};
use tempfile::{Builder, NamedTempFile};

/// The identifiers and unique values that were read so far, each with its row. They are in a
/// private SQLite database in an unnamed temporary file, so that even a huge import takes constant
/// memory.
pub struct SeenIds {
    connection: Connection,
}

/// The animal that already has a unique value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHolder {
    /// The row with which the animal was recorded.
    pub row: u64,
    /// The number that identifies the animal in messages: its line in the file, or its id if it is
    /// in the catalogue.
    pub line_or_id: i64,
}

/// An animal on an earlier line of an export.
struct SeenPet {
    status: String,
    /// The id of the order that reserves the animal, according to the line of the animal.
    order_id: Option<i64>,
    /// The id of the order on an earlier line that holds the animal.
    holder: Option<i64>,
}

impl SeenIds {
    /// Creates an empty set. Its temporary file is in `folder`, or if that fails, in the folder of
    /// the system for temporary files.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let file = temporary_file(folder)?;
        Self::create_database(file.path()).map_err(io::Error::other)
    }

    /// Creates the database in this file. All writes are in one transaction that is never
    /// committed, because nobody else reads the file.
    ///
    /// The file may lose its name afterwards, because SQLite writes no journal, and never opens the
    /// file again.
    fn create_database(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF;
             PRAGMA temp_store = MEMORY;
             CREATE TABLE pets (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             CREATE TABLE orders (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             CREATE TABLE categories (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             CREATE TABLE notes (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             -- The unique values of fields.
             CREATE TABLE keys (field TEXT, key TEXT, row INTEGER NOT NULL,
                line_or_id INTEGER NOT NULL, PRIMARY KEY (field, key)) WITHOUT ROWID;
             -- The animals of an export, each with the order that holds it. `pets` also has the ids
             -- of files that have only animals.
             CREATE TABLE exported_pets (id INTEGER PRIMARY KEY, line INTEGER NOT NULL,
                status TEXT NOT NULL, order_id INTEGER, holder INTEGER);
             BEGIN",
        )?;
        Ok(Self { connection })
    }

    /// Records that `row` has an animal with this `id`. Returns the earlier row if one already has
    /// the `id`.
    pub fn record_pet(&self, id: PetId, row: u64) -> rusqlite::Result<Option<u64>> {
        self.record_in_table("pets", id.get(), row)
    }

    /// Records that `row` has this animal, order, category or note. Returns the earlier row if one
    /// already has the same id.
    pub fn record_resource(&self, resource: &Resource, row: u64) -> rusqlite::Result<Option<u64>> {
        match resource {
            Resource::Pet(pet) => self.record_pet(pet.id, row),
            Resource::Order(order) => self.record_in_table("orders", order.id.get(), row),
            Resource::Category(category) => self.record_in_table("categories", category.id, row),
            Resource::Note(note) => self.record_in_table("notes", note.id.get(), row),
        }
    }

    /// Records that the animal in `row` has a unique value. Returns the earlier animal if one
    /// already has the value. `line_or_id` identifies the animal in messages: see
    /// [`KeyHolder::line_or_id`].
    pub fn record_key(
        &self,
        key: &UniqueKey,
        row: u64,
        line_or_id: i64,
    ) -> rusqlite::Result<Option<KeyHolder>> {
        let insert = "INSERT OR IGNORE INTO keys (field, key, row, line_or_id)
            VALUES (?1, ?2, ?3, ?4)";
        let inserted = self.connection.prepare_cached(insert)?.execute(params![
            key.field,
            key.text,
            row.cast_signed(),
            line_or_id
        ])?;
        if inserted == 1 {
            return Ok(None);
        }

        let find = "SELECT row, line_or_id FROM keys WHERE field = ?1 AND key = ?2";
        let holder = self.connection.prepare_cached(find)?.query_row(
            [&key.field, &key.text],
            |columns| {
                let row: i64 = columns.get(0)?;
                Ok(KeyHolder {
                    row: row.cast_unsigned(),
                    line_or_id: columns.get(1)?,
                })
            },
        )?;
        Ok(Some(holder))
    }

    /// Records an identifier in a table. Returns the earlier row if one already has the identifier.
    fn record_in_table(&self, table: &str, id: i64, row: u64) -> rusqlite::Result<Option<u64>> {
        let insert = format!("INSERT OR IGNORE INTO {table} (id, row) VALUES (?1, ?2)");
        let inserted = self
            .connection
            .prepare_cached(&insert)?
            .execute(params![id, row.cast_signed()])?;
        if inserted == 1 {
            Ok(None)
        } else {
            self.find_row(table, id)
        }
    }

    /// Returns the first row that has an animal with this `id`.
    pub fn first_row(&self, id: PetId) -> rusqlite::Result<Option<u64>> {
        self.find_row("pets", id.get())
    }

    /// Returns the row that was recorded with this identifier in a table.
    fn find_row(&self, table: &str, id: i64) -> rusqlite::Result<Option<u64>> {
        let find = format!("SELECT row FROM {table} WHERE id = ?1");
        let row: Option<i64> = self
            .connection
            .prepare_cached(&find)?
            .query_row([id], |row| row.get(0))
            .optional()?;
        Ok(row.map(i64::cast_unsigned))
    }

    /// Checks that a line of an export agrees with the lines before it. Returns the contradiction
    /// if there is one.
    ///
    /// Otherwise records what later lines must agree with: the state of an animal, and which order
    /// holds it.
    pub fn check_and_record_line(
        &self,
        resource: &Resource,
        line: u64,
    ) -> rusqlite::Result<Option<String>> {
        match resource {
            Resource::Pet(pet) => {
                self.record_exported_pet(pet, line)?;
                Ok(None)
            }
            Resource::Order(order) => self.check_and_record_order(order),
            Resource::Category(_) => Ok(None),
            Resource::Note(note) => self.check_note(note),
        }
    }

    /// Records the state of an animal, for the orders and notes after it.
    fn record_exported_pet(&self, pet: &StorePet, line: u64) -> rusqlite::Result<()> {
        let insert = "INSERT INTO exported_pets (id, line, status, order_id)
            VALUES (?1, ?2, ?3, ?4)";
        self.connection.prepare_cached(insert)?.execute(params![
            pet.id.get(),
            line.cast_signed(),
            pet.status.as_str(),
            pet.order_id.map(OrderId::get)
        ])?;
        Ok(())
    }

    /// Checks that the animal of a note is on an earlier line. Returns the contradiction otherwise.
    fn check_note(&self, note: &PetNote) -> rusqlite::Result<Option<String>> {
        let pet_id = note.pet_id.get();
        if self.find_pet(pet_id)?.is_some() {
            return Ok(None);
        }
        Ok(Some(format!(
            "petId {pet_id} is the id of no animal on an earlier line; a note comes after its animal"
        )))
    }

    /// Checks that an order agrees with its animal on an earlier line. Returns the contradiction
    /// otherwise.
    ///
    /// If the order holds its animal, records this.
    fn check_and_record_order(&self, order: &Order) -> rusqlite::Result<Option<String>> {
        let order_id = order.id.get();
        let pet_id = order.pet_id.get();
        let Some(pet) = self.find_pet(pet_id)? else {
            return Ok(Some(format!(
                "petId {pet_id} is the id of no animal on an earlier line; an order comes after its \
                 animal"
            )));
        };
        if !order.holds {
            return Ok(None);
        }
        if let Some(contradiction) = pet.find_contradiction(order) {
            return Ok(Some(contradiction));
        }
        let update = "UPDATE exported_pets SET holder = ?2 WHERE id = ?1";
        self.connection
            .prepare_cached(update)?
            .execute([pet_id, order_id])?;
        Ok(None)
    }

    /// Returns the animal with this id, if it is on an earlier line.
    fn find_pet(&self, id: i64) -> rusqlite::Result<Option<SeenPet>> {
        let find = "SELECT status, order_id, holder FROM exported_pets WHERE id = ?1";
        self.connection
            .prepare_cached(find)?
            .query_row([id], |row| {
                Ok(SeenPet {
                    status: row.get(0)?,
                    order_id: row.get(1)?,
                    holder: row.get(2)?,
                })
            })
            .optional()
    }

    /// Calls `visit` with the line and the `orderId` of each animal that names an order, but is
    /// held by no order in the file.
    pub fn visit_animals_without_order(
        &self,
        mut visit: impl FnMut(u64, i64),
    ) -> rusqlite::Result<()> {
        let find = "SELECT line, order_id FROM exported_pets
            WHERE order_id IS NOT NULL AND holder IS NULL ORDER BY line";
        let mut statement = self.connection.prepare(find)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?);
        }
        Ok(())
    }
}

impl SeenPet {
    /// Finds out why an order cannot hold this animal: another order holds it, or the animal has
    /// another order or another status.
    fn find_contradiction(&self, order: &Order) -> Option<String> {
        let pet_id = order.pet_id.get();
        if let Some(holder) = self.holder {
            return Some(format!(
                "holds must be false, because the order {holder} on an earlier line holds the \
                 animal {pet_id}"
            ));
        }
        if order.status == OrderStatus::Reserved && self.order_id != Some(order.id.get()) {
            let order_of_pet = match self.order_id {
                Some(id) => id.to_string(),
                None => "none".to_owned(),
            };
            return Some(format!(
                "a reserved order must be the orderId of its animal, but the animal {pet_id} has {order_of_pet}"
            ));
        }
        if order.status == OrderStatus::Completed && self.status != PetStatus::Sold.as_str() {
            return Some(format!(
                "holds must be false, because the animal {pet_id} is {}, not sold",
                self.status
            ));
        }
        None
    }
}

/// Creates a temporary file, which loses its name when the result is dropped.
fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".petstore-import-");
    let system_folder = env::temp_dir();
    builder
        .tempfile_in(folder)
        .or_else(|_| builder.tempfile_in(&system_folder))
        .map_err(|error| {
            let message = format!(
                "cannot make a temporary file in {}: {error}; name another folder with TMPDIR",
                system_folder.display()
            );
            io::Error::new(error.kind(), message)
        })
}
