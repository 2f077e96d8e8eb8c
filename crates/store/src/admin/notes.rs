//! Notes on animals.

use std::sync::LazyLock;

use futures_util::FutureExt;
use petstore_domain::{
    Limit, PetId,
    store_area::{NoteId, PetNote},
};

use super::{
    Database, Parameters, Sql,
    pages::{read_all, rows_to_read},
    store_trait,
};
use crate::{
    StoreError,
    tables::{Record, Table},
};

static LIST: LazyLock<String> = LazyLock::new(|| {
    let columns = Table::Notes.selected_columns();
    format!("SELECT {columns} FROM notes WHERE pet_id = $1 AND id > $2 ORDER BY id LIMIT $3")
});
static GET: LazyLock<String> = LazyLock::new(|| {
    let columns = Table::Notes.selected_columns();
    format!("SELECT {columns} FROM notes WHERE id = $1")
});

/// The maximum number of notes on an animal that are read at once. Concurrent requests or an import
/// may have added more than [`PetNote::MAX_COUNT`].
const MAX_READ: i64 = 2 * PetNote::MAX_COUNT;

/// A page of the notes on an animal.
#[derive(Debug, Clone, Copy)]
struct NotePage {
    pet: PetId,
    /// The note after which the page begins.
    after: Option<NoteId>,
    /// The maximum number of rows to read.
    max_rows: i64,
}

store_trait! {
/// Reads the notes on animals.
Notes {
    /// Reads a page of the notes on an animal after the note `after`, oldest first. Returns the
    /// last identifier if more follow.
    async fn list_notes(
        &self,
        pet: PetId,
        after: Option<NoteId>,
        limit: Limit,
    ) -> Result<(Vec<PetNote>, Option<NoteId>), StoreError> {
        let page = NotePage { pet, after, max_rows: rows_to_read(limit) };
        let notes = self
            .read(page, |connection, page| read_notes(connection, *page).boxed())
            .await?;
        Ok(limit.page(notes, |note| note.id))
    }

    /// Reads all notes on an animal, oldest first.
    async fn all_notes(&self, pet: PetId) -> Result<Vec<PetNote>, StoreError> {
        let page = NotePage { pet, after: None, max_rows: MAX_READ };
        self.read(page, |connection, page| read_notes(connection, *page).boxed()).await
    }

    /// Reads the note with this identifier.
    async fn get_note(&self, id: NoteId) -> Result<Option<PetNote>, StoreError> {
        self.read(id, |connection, id| get_note(connection, *id).boxed()).await
    }
}
}

/// Reads a page of the notes on an animal, oldest first.
async fn read_notes<S: Sql>(connection: &mut S, page: NotePage) -> Result<Vec<PetNote>, S::Error> {
    let after = page.after.map_or(0, NoteId::get);
    let values: Parameters<'_> = &[&page.pet.get(), &after, &page.max_rows];
    read_all(connection, &LIST, values, |row| PetNote::read(row, 0)).await
}

/// Reads the note with this identifier.
async fn get_note<S: Sql>(connection: &mut S, id: NoteId) -> Result<Option<PetNote>, S::Error> {
    let row = connection.row(&GET, &[&id.get()]).await?;
    match row {
        Some(row) => PetNote::read(&row, 0).map(Some),
        None => Ok(None),
    }
}
