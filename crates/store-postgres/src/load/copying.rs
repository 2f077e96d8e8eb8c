//! Adds rows with COPY. A connection has one COPY at a time, and each change from one to another takes
//! long, so the rows of small tables wait until there are many.

use std::{mem, pin::Pin};

use petstore_domain::{
    PetId,
    store_area::{FieldSet, Order, PhotoId, Resource, StorePet, UniqueValueOwner},
};
use petstore_store::{StoreError, bulk::Value, tables};
use tokio_postgres::{binary_copy::BinaryCopyInWriter, types::ToSql};

use crate::{
    bulk::Blocking,
    copy_target::{self, CopyTarget},
};

/// The number of contacts that are added at once.
const MAX_WAITING_CONTACTS: usize = 1_000;

/// The number of unique values, and of photos, that are added at once.
const MAX_WAITING_VALUES: usize = 10_000;

/// A COPY that was begun.
struct CurrentCopy {
    target: CopyTarget,
    writer: Pin<Box<BinaryCopyInWriter>>,
}

/// The rows that wait for the next COPY of their table.
#[derive(Default)]
struct WaitingRows {
    contacts: Vec<OrderContact>,
    unique_values: Vec<UniqueValueOwner>,
    photos: Vec<PetPhoto>,
}

struct OrderContact {
    order_id: i64,
    contact: String,
}

struct PetPhoto {
    photo: PhotoId,
    pet: PetId,
}

/// A connection that adds rows with COPY.
pub(super) struct RowCopier {
    pub(super) connection: Blocking,
    /// The current COPY. A connection has only one at a time.
    current_copy: Option<CurrentCopy>,
    waiting_rows: WaitingRows,
}

impl RowCopier {
    pub(super) fn new(connection: Blocking) -> Self {
        Self {
            connection,
            current_copy: None,
            waiting_rows: WaitingRows::default(),
        }
    }

    /// Adds a row with the current COPY. If that has another target, ends it and begins a COPY to this
    /// target.
    pub(super) fn copy_row(
        &mut self,
        target: CopyTarget,
        row: &[&(dyn ToSql + Sync)],
    ) -> Result<(), StoreError> {
        let is_current = self
            .current_copy
            .as_ref()
            .is_some_and(|copy| copy.target == target);
        if !is_current {
            self.finish_copy()?;
            let writer = self.connection.wait(|client| target.begin(client))?;
            self.current_copy = Some(CurrentCopy {
                target,
                writer: Box::pin(writer),
            });
        }
        match &mut self.current_copy {
            Some(copy) => self.connection.wait(|_| copy.writer.as_mut().write(row)),
            None => Ok(()),
        }
    }

    /// Adds a row like [`Self::copy_row`], with values of any type.
    pub(super) fn copy_values(
        &mut self,
        target: CopyTarget,
        row: &[Value<'_>],
    ) -> Result<(), StoreError> {
        let row: Vec<_> = row
            .iter()
            .map(|value| value as &(dyn ToSql + Sync))
            .collect();
        self.copy_row(target, &row)
    }

    /// Ends the current COPY, if there is one.
    pub(super) fn finish_copy(&mut self) -> Result<(), StoreError> {
        let Some(mut copy) = self.current_copy.take() else {
            return Ok(());
        };
        self.connection
            .wait(async |_| copy.writer.as_mut().finish().await)?;
        Ok(())
    }

    /// Adds all rows that wait, and ends the current COPY.
    pub(super) fn finish_rows(&mut self) -> Result<(), StoreError> {
        self.copy_contacts()?;
        self.copy_unique_values()?;
        self.copy_photos()?;
        self.finish_copy()
    }

    /// Adds the row of a resource. The rows of other tables that belong to it may wait. `fields` say which
    /// values are unique.
    pub(super) fn copy_resource(
        &mut self,
        resource: &Resource,
        fields: &FieldSet,
    ) -> Result<(), StoreError> {
        if let Resource::Pet(pet) = resource {
            self.add_unique_values(pet, fields)?;
            self.add_photos(pet)?;
        }
        let target = tables::Table::from_resource(resource).into();
        self.copy_values(target, &tables::values(resource))?;
        if let Resource::Order(order) = resource {
            self.add_contact(order)?;
        }
        Ok(())
    }

    /// Adds the unique values of an animal to the waiting ones. A withdrawn animal has none.
    fn add_unique_values(&mut self, pet: &StorePet, fields: &FieldSet) -> Result<(), StoreError> {
        if pet.withdrawal.is_some() {
            return Ok(());
        }
        for key in fields.unique_keys(&pet.fields) {
            self.waiting_rows
                .unique_values
                .push(UniqueValueOwner { key, pet: pet.id });
        }
        if self.waiting_rows.unique_values.len() >= MAX_WAITING_VALUES {
            self.copy_unique_values()?;
        }
        Ok(())
    }

    /// Adds the photos of an animal to the waiting ones.
    fn add_photos(&mut self, pet: &StorePet) -> Result<(), StoreError> {
        for photo in pet.photos.all() {
            self.waiting_rows.photos.push(PetPhoto {
                photo: photo.id,
                pet: pet.id,
            });
        }
        if self.waiting_rows.photos.len() >= MAX_WAITING_VALUES {
            self.copy_photos()?;
        }
        Ok(())
    }

    /// Adds the contact of an order to the waiting ones.
    fn add_contact(&mut self, order: &Order) -> Result<(), StoreError> {
        let Some(contact) = &order.contact else {
            return Ok(());
        };
        self.waiting_rows.contacts.push(OrderContact {
            order_id: order.id.get(),
            contact: contact.as_str().to_owned(),
        });
        if self.waiting_rows.contacts.len() >= MAX_WAITING_CONTACTS {
            self.copy_contacts()?;
        }
        Ok(())
    }

    fn copy_contacts(&mut self) -> Result<(), StoreError> {
        for row in mem::take(&mut self.waiting_rows.contacts) {
            self.copy_row(copy_target::CONTACTS, &[&row.order_id, &row.contact])?;
        }
        Ok(())
    }

    fn copy_unique_values(&mut self) -> Result<(), StoreError> {
        for UniqueValueOwner { key, pet } in mem::take(&mut self.waiting_rows.unique_values) {
            self.copy_row(
                copy_target::UNIQUE_VALUES,
                &[&key.field, &key.text, &pet.get()],
            )?;
        }
        Ok(())
    }

    fn copy_photos(&mut self) -> Result<(), StoreError> {
        for row in mem::take(&mut self.waiting_rows.photos) {
            let photo = row.photo.to_string();
            self.copy_row(copy_target::PHOTOS, &[&photo, &row.pet.get()])?;
        }
        Ok(())
    }
}
