//! Identifiers that were seen, in constant memory.

use std::{env, io, path::Path};

use petstore_domain::{
    PetId,
    store_area::{Order, OrderId, OrderStatus, Resource, UniqueKey},
};
use rusqlite::{Connection, OptionalExtension, params};
use tempfile::{Builder, NamedTempFile};

/// The identifiers that were seen, and in which row. They are in a private SQLite database, in a
/// temporary file without a name.
pub struct SeenIds(Connection);

impl SeenIds {
    /// No identifiers yet. The file for them is in `folder`, or else in the folder of the machine for
    /// temporary files.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let file = temporary_file(folder)?;
        Self::in_file(file.path()).map_err(io::Error::other)
    }

    /// SQLite does not look for the name of the file again, because it writes no journal.
    fn in_file(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF;
             PRAGMA temp_store = MEMORY;
             CREATE TABLE pets (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             CREATE TABLE orders (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             CREATE TABLE categories (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             CREATE TABLE keys (field TEXT, key TEXT, row INTEGER NOT NULL, place INTEGER NOT NULL,
                PRIMARY KEY (field, key)) WITHOUT ROWID;
             -- The animals of the store area in the file, each with the order that holds it.
             CREATE TABLE animals (id INTEGER PRIMARY KEY, line INTEGER NOT NULL,
                status TEXT NOT NULL, order_id INTEGER, holder INTEGER);
             BEGIN",
        )?;
        Ok(Self(connection))
    }

    /// Records that `row` has an animal with this `id`, or returns the row that already has one.
    pub fn record(&self, id: PetId, row: u64) -> rusqlite::Result<Option<u64>> {
        self.record_in("pets", id.get(), row)
    }

    /// Returns the same for an animal, an order or a category.
    pub fn record_resource(&self, of: &Resource, row: u64) -> rusqlite::Result<Option<u64>> {
        match of {
            Resource::Pet(pet) => self.record(pet.id, row),
            Resource::Order(order) => self.record_in("orders", order.id.get(), row),
            Resource::Category(category) => self.record_in("categories", category.id, row),
        }
    }

    /// Records that `row` has an animal with a unique value, and at which `place`: a line or an id.
    /// Or returns the row and the place of the animal that already has it.
    pub fn record_key(
        &self,
        (field, key): &UniqueKey,
        row: u64,
        place: i64,
    ) -> rusqlite::Result<Option<(u64, i64)>> {
        let row = row.cast_signed();
        let insert = "INSERT OR IGNORE INTO keys (field, key, row, place) VALUES (?1, ?2, ?3, ?4)";
        if self
            .0
            .prepare_cached(insert)?
            .execute(params![field, key, row, place])?
            == 1
        {
            return Ok(None);
        }
        let find = "SELECT row, place FROM keys WHERE field = ?1 AND key = ?2";
        let holder = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?));
        let (row, place) = self
            .0
            .prepare_cached(find)?
            .query_row([field, key], holder)?;
        Ok(Some((row.cast_unsigned(), place)))
    }

    fn record_in(&self, table: &str, id: i64, row: u64) -> rusqlite::Result<Option<u64>> {
        let insert = format!("INSERT OR IGNORE INTO {table} (id, row) VALUES (?1, ?2)");
        let inserted = self
            .0
            .prepare_cached(&insert)?
            .execute(params![id, row.cast_signed()])?;
        if inserted == 1 {
            Ok(None)
        } else {
            self.row_in(table, id)
        }
    }

    /// Returns the first row with an animal with this `id`.
    pub fn row_of(&self, id: PetId) -> rusqlite::Result<Option<u64>> {
        self.row_in("pets", id.get())
    }

    fn row_in(&self, table: &str, id: i64) -> rusqlite::Result<Option<u64>> {
        let find = format!("SELECT row FROM {table} WHERE id = ?1");
        let row: Option<i64> = self
            .0
            .prepare_cached(&find)?
            .query_row([id], |row| row.get(0))
            .optional()?;
        Ok(row.map(i64::cast_unsigned))
    }

    /// Why what a line has does not agree with the lines before it, if so. Otherwise, records it.
    pub fn disagreement(&self, of: &Resource, line: u64) -> rusqlite::Result<Option<String>> {
        match of {
            Resource::Pet(pet) => {
                let insert = "INSERT INTO animals (id, line, status, order_id)
                    VALUES (?1, ?2, ?3, ?4)";
                let order = pet.order_id.map(OrderId::get);
                self.0.prepare_cached(insert)?.execute(params![
                    pet.id.get(),
                    line.cast_signed(),
                    pet.status.as_str(),
                    order
                ])?;
                Ok(None)
            }
            Resource::Order(order) => self.disagreement_of_order(order),
            Resource::Category(_) => Ok(None),
        }
    }

    fn disagreement_of_order(&self, order: &Order) -> rusqlite::Result<Option<String>> {
        let id = order.id.get();
        let pet = order.pet_id.get();
        let find = "SELECT status, order_id, holder FROM animals WHERE id = ?1";
        let found = self.0.prepare_cached(find)?.query_row([pet], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, Option<i64>>(1)?,
                row.get::<_, Option<i64>>(2)?,
            ))
        });
        let Some((status, order_id, holder)) = found.optional()? else {
            return Ok(Some(format!(
                "petId {pet} is the id of no animal on an earlier line; an order comes after its \
                 animal"
            )));
        };
        if !order.holds {
            return Ok(None);
        }
        if let Some(holder) = holder {
            return Ok(Some(format!(
                "holds must be false, because the order {holder} on an earlier line holds the \
                 animal {pet}"
            )));
        }
        if order.status == OrderStatus::Reserved && order_id != Some(id) {
            return Ok(Some(format!(
                "a reserved order must be the orderId of its animal, but the animal {pet} has {}",
                order_id.map_or("none".to_owned(), |id| id.to_string())
            )));
        }
        if order.status == OrderStatus::Completed && status != "sold" {
            return Ok(Some(format!(
                "holds must be false, because the animal {pet} is {status}, not sold"
            )));
        }
        let hold = "UPDATE animals SET holder = ?2 WHERE id = ?1";
        self.0.prepare_cached(hold)?.execute([pet, id])?;
        Ok(None)
    }

    /// Shows the lines of animals whose `orderId` is not the id of a reserved order, with that id.
    pub fn without_order(&self, mut show: impl FnMut(u64, i64)) -> rusqlite::Result<()> {
        let find = "SELECT line, order_id FROM animals
            WHERE order_id IS NOT NULL AND holder IS NULL ORDER BY line";
        let mut statement = self.0.prepare(find)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            show(row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?);
        }
        Ok(())
    }
}

/// Makes a file, which loses its name when the result is dropped.
fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".petstore-import-");
    let elsewhere = env::temp_dir();
    builder
        .tempfile_in(folder)
        .or_else(|_| builder.tempfile_in(&elsewhere))
        .map_err(|error| {
            let what = format!(
                "cannot make a temporary file in {}: {error}; name another folder with TMPDIR",
                elsewhere.display()
            );
            io::Error::new(error.kind(), what)
        })
}
