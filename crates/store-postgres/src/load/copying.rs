//! Adds rows with COPY, PostgreSQL's statement for bulk data.
//!
//! A connection can run only one COPY at a time, and each switch to another table is slow. So the
//! rows that an animal or an order has in further tables (contacts, unique values and photos) are
//! buffered, and copied in large batches.

use std::{mem, pin::Pin};

use petstore_domain::{
    PetId,
    store_area::{FieldSet, Order, OrderId, PhotoId, Resource, StorePet, UniqueValueOwner},
};
use petstore_store::{StoreError, bulk::Value, tables};
use tokio_postgres::{binary_copy::BinaryCopyInWriter, types::ToSql};

use crate::{
    bulk::BlockingConnection,
    copy_target::{self, CopyTarget},
};

/// The number of buffered contacts at which they are copied into their table.
const MAX_BUFFERED_CONTACTS: usize = 1_000;

/// The maximum number of buffered rows of a table that belongs to animals: of unique values, or of
/// photos. At this number, the rows are copied into the table.
const MAX_BUFFERED_ROWS_OF_PETS: usize = 10_000;

/// A COPY in progress.
struct CurrentCopy {
    target: CopyTarget,
    writer: Pin<Box<BinaryCopyInWriter>>,
}

/// The rows that wait for the next COPY into their table.
#[derive(Default)]
struct BufferedRows {
    contacts: Vec<OrderContact>,
    unique_values: Vec<UniqueValueOwner>,
    photos: Vec<PetPhoto>,
}

/// A row of the table of contacts.
struct OrderContact {
    order: OrderId,
    contact: String,
}

/// A row of the table of photos.
struct PetPhoto {
    photo: PhotoId,
    pet: PetId,
}

/// A connection that adds rows with COPY.
pub(super) struct RowCopier {
    /// The connection, which accepts no other statement until the current COPY is finished.
    pub(super) connection: BlockingConnection,
    current_copy: Option<CurrentCopy>,
    buffered_rows: BufferedRows,
}

impl RowCopier {
    /// Creates a copier that has not begun any COPY.
    pub(super) fn new(connection: BlockingConnection) -> Self {
        Self {
            connection,
            current_copy: None,
            buffered_rows: BufferedRows::default(),
        }
    }

    /// Adds a row to `target`. If the current COPY has another target, finishes it and begins a new one.
    pub(super) fn copy_row(
        &mut self,
        target: CopyTarget,
        row: &[&(dyn ToSql + Sync)],
    ) -> Result<(), StoreError> {
        let copy = match &mut self.current_copy {
            Some(copy) if copy.target == target => copy,
            _ => {
                self.finish_copy()?;
                let new_copy = self.begin_copy(target)?;
                self.current_copy.insert(new_copy)
            }
        };
        self.connection
            .block_on(|_| copy.writer.as_mut().write(row))
    }

    /// Begins a COPY into `target`. No other COPY may be in progress.
    fn begin_copy(&self, target: CopyTarget) -> Result<CurrentCopy, StoreError> {
        let writer = self.connection.block_on(|client| target.begin(client))?;
        Ok(CurrentCopy {
            target,
            writer: Box::pin(writer),
        })
    }

    /// Adds a row of dynamically typed values, like [`Self::copy_row`].
    pub(super) fn copy_values(
        &mut self,
        target: CopyTarget,
        row: &[Value<'_>],
    ) -> Result<(), StoreError> {
        let parameters: Vec<_> = row
            .iter()
            .map(|value| value as &(dyn ToSql + Sync))
            .collect();
        self.copy_row(target, &parameters)
    }

    /// Finishes the current COPY, if there is one. Until then, the connection accepts no other statement.
    pub(super) fn finish_copy(&mut self) -> Result<(), StoreError> {
        let Some(mut copy) = self.current_copy.take() else {
            return Ok(());
        };
        self.connection
            .block_on(|_| copy.writer.as_mut().finish())?;
        Ok(())
    }

    /// Adds all buffered rows, and finishes the current COPY.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        self.flush_contacts()?;
        self.flush_unique_values()?;
        self.flush_photos()?;
        self.finish_copy()
    }

    /// Adds the row of a resource, and buffers its rows in other tables: the unique values and
    /// photos of an animal, or the contact of an order. `fields` tell which values are unique.
    pub(super) fn copy_resource(
        &mut self,
        resource: &Resource,
        fields: &FieldSet,
    ) -> Result<(), StoreError> {
        if let Resource::Pet(pet) = resource {
            self.buffer_unique_values(pet, fields)?;
            self.buffer_photos(pet)?;
        }
        let target = CopyTarget::from(tables::Table::from_resource(resource));
        self.copy_values(target, &tables::column_values(resource))?;
        // Before or after the row makes no difference, because these tables have no foreign keys.
        if let Resource::Order(order) = resource {
            self.buffer_contact(order)?;
        }
        Ok(())
    }

    /// Buffers the unique values of an animal. A withdrawn animal owns none.
    fn buffer_unique_values(
        &mut self,
        pet: &StorePet,
        fields: &FieldSet,
    ) -> Result<(), StoreError> {
        if pet.withdrawal.is_some() {
            return Ok(());
        }
        for key in fields.unique_keys(&pet.fields) {
            self.buffered_rows
                .unique_values
                .push(UniqueValueOwner { key, pet: pet.id });
        }
        if self.buffered_rows.unique_values.len() >= MAX_BUFFERED_ROWS_OF_PETS {
            self.flush_unique_values()?;
        }
        Ok(())
    }

    /// Buffers the photos of an animal.
    fn buffer_photos(&mut self, pet: &StorePet) -> Result<(), StoreError> {
        for photo in pet.photos.all() {
            self.buffered_rows.photos.push(PetPhoto {
                photo: photo.id,
                pet: pet.id,
            });
        }
        if self.buffered_rows.photos.len() >= MAX_BUFFERED_ROWS_OF_PETS {
            self.flush_photos()?;
        }
        Ok(())
    }

    /// Buffers the contact of an order, if it has one.
    fn buffer_contact(&mut self, order: &Order) -> Result<(), StoreError> {
        let Some(contact) = &order.contact else {
            return Ok(());
        };
        self.buffered_rows.contacts.push(OrderContact {
            order: order.id,
            contact: contact.as_str().to_owned(),
        });
        if self.buffered_rows.contacts.len() >= MAX_BUFFERED_CONTACTS {
            self.flush_contacts()?;
        }
        Ok(())
    }

    /// Adds the buffered contacts.
    fn flush_contacts(&mut self) -> Result<(), StoreError> {
        for row in mem::take(&mut self.buffered_rows.contacts) {
            self.copy_row(copy_target::CONTACTS, &[&row.order.get(), &row.contact])?;
        }
        Ok(())
    }

    /// Adds the buffered owners of unique values.
    fn flush_unique_values(&mut self) -> Result<(), StoreError> {
        for UniqueValueOwner { key, pet } in mem::take(&mut self.buffered_rows.unique_values) {
            self.copy_row(
                copy_target::UNIQUE_VALUES,
                &[&key.field, &key.text, &pet.get()],
            )?;
        }
        Ok(())
    }

    /// Adds the buffered photos.
    fn flush_photos(&mut self) -> Result<(), StoreError> {
        for row in mem::take(&mut self.buffered_rows.photos) {
            let photo = row.photo.to_string();
            self.copy_row(copy_target::PHOTOS, &[&photo, &row.pet.get()])?;
        }
        Ok(())
    }
}
