//! Adds a whole catalogue in one transaction, with COPY.

use std::{collections::VecDeque, mem, pin::Pin};

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    Actor, NewPet, PetId, WriteContext,
    store_area::{
        Act, FieldDefinition, FieldSet, FieldValues, FirstStep, Order, Owner, PhotoId, Profile,
        Resource, StorePet,
    },
};
use petstore_store::{
    OpenError, OpenMode, StoreError,
    admin::{fields, profile, record_act},
    bulk::{CommitError, CopiedTable, IS_EMPTY, IdSource, LastIds, Load, StoredRequest, Value},
    drivers::postgres::Failure,
    journal_rows::{ImportSummary, LogEntry},
    request_rows::NEWEST_MARK,
    tables::{self, values},
    whole::CatalogueConnection,
};
use tokio_postgres::{binary_copy::BinaryCopyInWriter, types::ToSql};

use super::{
    append::append,
    bulk::Blocking,
    copy_target::{self, CopyTarget},
    numbering,
    rows::pet_id,
    url::PostgresUrl,
};

/// Until the end of the transaction, no other process takes an identifier or adds an animal.
const LOCK: &str = "LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE";
const LAST_PET: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids";
/// The animals of this import, among those of others.
const ADDED: &str = "SELECT min(id), max(id) FROM pets WHERE id > $1 AND created_at = $2";
/// A rollback does not undo this. At worst, identifiers are skipped.
const CONTINUE: [&str; 5] = [
    "SELECT setval('pets_ids', $1) FROM pets_ids WHERE last_value < $1 OR NOT is_called",
    "SELECT setval('orders_ids', $1) FROM orders_ids WHERE last_value < $1 OR NOT is_called",
    "SELECT setval(pg_get_serial_sequence('api_keys', 'id'), $1)",
    "SELECT setval(pg_get_serial_sequence('staff', 'id'), $1)",
    "SELECT setval('webhook_ids', $1) FROM webhook_ids WHERE last_value < $1 OR NOT is_called",
];

/// So many contacts are added at once.
const MANY_CONTACTS: usize = 1_000;
const DRAW: &str = "SELECT nextval('pets_ids') FROM generate_series(1, $1::bigint)";
/// How many identifiers are drawn at a time.
const DRAWN: i64 = 1_000;

/// How many unique values wait for the next COPY of them.
const WAITING_KEYS: usize = 10_000;

/// See [`Load`].
pub struct PostgresLoad {
    /// The contacts of orders that were added, which are still to be added.
    contacts: Vec<(i64, String)>,
    /// The current COPY. A connection has only one at a time.
    copying: Option<(CopyTarget, Pin<Box<BinaryCopyInWriter>>)>,
    connection: Blocking,
    /// Of the marks after remembered requests.
    newest_mark: i64,
    /// The highest identifier of an animal before, if the store gives the next ones.
    last_before: i64,
    added: ImportSummary,
    /// With which unique values are known.
    fields: FieldSet,
    /// Unique values that were not written yet: a connection has one COPY at a time.
    keys: Vec<Owner>,
    /// The same for photos.
    photos: Vec<(PhotoId, PetId)>,
    /// Identifiers for the next animals, since the first one that has values.
    drawn: VecDeque<PetId>,
    /// When the animals are added.
    context: WriteContext,
}

impl PostgresLoad {
    /// Opens the database at `url`, to add to it. Blocks.
    pub fn open(url: &PostgresUrl, mode: OpenMode) -> Result<Self, OpenError> {
        let connection = Blocking::open(url, mode)?;
        let context = WriteContext::new(Actor::Command, Timestamp::UNIX_EPOCH);
        let added = ImportSummary::default();
        Ok(Self {
            contacts: Vec::new(),
            copying: None,
            connection,
            newest_mark: 0,
            last_before: 0,
            added,
            fields: FieldSet::default(),
            keys: Vec::new(),
            photos: Vec::new(),
            drawn: VecDeque::new(),
            context,
        })
    }

    /// Adds a row, with a COPY to this target.
    fn add_to(
        &mut self,
        target: CopyTarget,
        row: &[&(dyn ToSql + Sync)],
    ) -> Result<(), StoreError> {
        if self
            .copying
            .as_ref()
            .is_none_or(|(current, _)| *current != target)
        {
            self.finish_copying()?;
            let writer = self.connection.wait(|client| target.begin(client))?;
            self.copying = Some((target, Box::pin(writer)));
        }
        match &mut self.copying {
            Some((_, writer)) => self.connection.wait(|_| writer.as_mut().write(row)),
            None => Ok(()),
        }
    }

    /// The same with values of any type.
    fn add_values(&mut self, target: CopyTarget, row: &[Value<'_>]) -> Result<(), StoreError> {
        let row: Vec<_> = row
            .iter()
            .map(|value| value as &(dyn ToSql + Sync))
            .collect();
        self.add_to(target, &row)
    }

    /// Adds the contacts of many orders at once, because each change between two COPYs takes long.
    fn add_contacts(&mut self) -> Result<(), StoreError> {
        for (id, contact) in mem::take(&mut self.contacts) {
            self.add_to(copy_target::CONTACTS, &[&id, &contact])?;
        }
        Ok(())
    }

    /// Adds all that is still to be added.
    fn finish(&mut self) -> Result<(), StoreError> {
        self.add_contacts()?;
        self.add_keys()?;
        self.add_photos()?;
        self.finish_copying()
    }

    fn read_fields(&mut self) -> Result<(), StoreError> {
        self.fields = self
            .connection
            .run(&(), |on, ()| fields::read_fields(on).boxed())?;
        Ok(())
    }

    /// Returns the next identifier. A few that are left at the end are skipped.
    fn draw_id(&mut self) -> Result<PetId, StoreError> {
        if self.drawn.len() <= 1 {
            self.finish_copying()?;
            let rows = self
                .connection
                .wait(|client| client.query(DRAW, &[&DRAWN]))?;
            for row in &rows {
                let id = row.try_get(0).map_err(Failure::from).and_then(pet_id);
                self.drawn.push_back(id.map_err(StoreError::from)?);
            }
        }
        self.drawn
            .pop_front()
            .ok_or_else(|| Failure::Row("id").into())
    }

    /// Writes the unique values that wait.
    fn add_keys(&mut self) -> Result<(), StoreError> {
        for ((field, key), id) in mem::take(&mut self.keys) {
            self.add_to(copy_target::UNIQUE_VALUES, &[&field, &key, &id.get()])?;
        }
        Ok(())
    }

    /// Writes the photos that wait.
    fn add_photos(&mut self) -> Result<(), StoreError> {
        for (photo, id) in mem::take(&mut self.photos) {
            self.add_to(copy_target::PHOTOS, &[&photo.to_string(), &id.get()])?;
        }
        Ok(())
    }

    fn finish_copying(&mut self) -> Result<(), StoreError> {
        if let Some((_, mut writer)) = self.copying.take() {
            self.connection
                .wait(async |_| writer.as_mut().finish().await)?;
        }
        Ok(())
    }
}

impl Load for PostgresLoad {
    fn begin(&mut self, ids: IdSource, now: Timestamp) -> Result<(), StoreError> {
        self.context.now = now;
        (self.newest_mark, self.last_before) = self.connection.wait(async |client| {
            client.batch_execute("BEGIN").await?;
            // Until the end, no field changes.
            client
                .batch_execute("SELECT 1 FROM field_state FOR SHARE")
                .await?;
            if ids == IdSource::Given {
                client.batch_execute(LOCK).await?;
            }
            let last = client.query_one(LAST_PET, &[]).await?.try_get(0)?;
            let mark = client.query_one(NEWEST_MARK, &[]).await?.try_get(0)?;
            Ok::<_, tokio_postgres::Error>((mark, last))
        })?;
        self.read_fields()
    }

    fn is_empty(&mut self) -> Result<bool, StoreError> {
        self.connection.wait(async |client| {
            client
                .query_one(IS_EMPTY, &[])
                .await
                .and_then(|row| row.try_get(0))
        })
    }

    fn add_pet(
        &mut self,
        id: Option<PetId>,
        pet: &NewPet,
        fields: &FieldValues,
    ) -> Result<(), StoreError> {
        let id = match id {
            None if !fields.is_empty() || !self.drawn.is_empty() => Some(self.draw_id()?),
            id => id,
        };
        if let Some(id) = id {
            let added = StorePet::added(id, pet.clone(), self.context.now);
            return self.add(
                &StorePet {
                    fields: fields.clone(),
                    ..added
                }
                .into(),
            );
        }
        let name = pet.name.as_str();
        let category_id = pet.category_id;
        let status = pet.status.as_str();
        let now = self.context.now.as_millisecond();
        self.added.count += 1;
        let row: [&(dyn ToSql + Sync); 5] = [&name, &category_id, &status, &now, &now];
        self.add_to(copy_target::NEW_PETS, &row)
    }

    fn add(&mut self, resource: &Resource) -> Result<(), StoreError> {
        self.added.add_resource(resource);
        if let Resource::Pet(
            pet @ StorePet {
                withdrawn: None, ..
            },
        ) = resource
        {
            let keys = self.fields.unique_keys(&pet.fields).into_iter();
            self.keys.extend(keys.map(|key| (key, pet.id)));
            if self.keys.len() >= WAITING_KEYS {
                self.add_keys()?;
            }
        }
        if let Resource::Pet(pet) = resource {
            self.photos
                .extend(pet.photos.all().iter().map(|photo| (photo.id, pet.id)));
            if self.photos.len() >= WAITING_KEYS {
                self.add_photos()?;
            }
        }
        self.add_values(
            tables::Table::from_resource(resource).into(),
            &values(resource),
        )?;
        if let Resource::Order(Order {
            id,
            contact: Some(contact),
            ..
        }) = resource
        {
            self.contacts.push((id.get(), contact.as_str().to_owned()));
            if self.contacts.len() >= MANY_CONTACTS {
                self.add_contacts()?;
            }
        }
        Ok(())
    }

    fn fields(&self) -> &FieldSet {
        &self.fields
    }

    fn set_fields(&mut self, all: &[FieldDefinition]) -> Result<(), StoreError> {
        self.finish_copying()?;
        self.connection
            .wait(|client| client.batch_execute(fields::CLEAR))?;
        for field in all {
            self.connection
                .run(field, |on, field| fields::save_field(on, field).boxed())?;
        }
        self.read_fields()
    }

    fn set_profile(&mut self, profile: &Profile) -> Result<bool, StoreError> {
        self.finish_copying()?;
        Ok(self.connection.run(profile, |on, profile| {
            profile::fill_profile(on, profile).boxed()
        })?)
    }

    fn add_request(&mut self, stored: &StoredRequest) -> Result<(), StoreError> {
        let newest_mark = self.newest_mark;
        let StoredRequest {
            caller,
            key,
            operation,
            fingerprint,
            response,
            created_at,
        } = stored;
        let row: [&(dyn ToSql + Sync); 10] = [
            &caller.0,
            &key.as_str(),
            operation,
            &&fingerprint[..],
            &i32::from(response.status),
            &response.location,
            &response.etag,
            &response.body,
            &created_at.as_second(),
            &newest_mark,
        ];
        self.add_to(copy_target::REQUESTS, &row)
    }

    fn add_row(
        &mut self,
        table: &'static CopiedTable,
        row: &[Value<'_>],
    ) -> Result<(), StoreError> {
        self.add_values(table.into(), row)
    }

    fn continue_after(&mut self, last: LastIds) -> Result<(), StoreError> {
        self.finish()?;
        let LastIds {
            pet,
            order,
            key,
            staff,
            webhook,
        } = last;
        for (sequence, last) in CONTINUE.into_iter().zip([pet, order, key, staff, webhook]) {
            if last > 0 {
                self.connection
                    .wait(async |client| client.execute(sequence, &[&last]).await)?;
            }
        }
        Ok(())
    }

    fn continue_log(&mut self) -> Result<(), StoreError> {
        self.finish()?;
        self.connection
            .wait(async |client| client.batch_execute(numbering::CONTINUE).await)
    }

    fn log_import(&mut self) -> Result<(), StoreError> {
        self.finish()?;
        let mut added = self.added;
        let now = self.context.now.as_millisecond();
        if added.is_empty() {
            return Ok(());
        }
        let before = self.last_before;
        let is_drawn = !self.drawn.is_empty();
        self.connection.run(&FirstStep::Import, |on, step| {
            profile::note_step(on, *step).boxed()
        })?;
        let entry = self.connection.wait(async |client| {
            if added.count > 0 && (added.last == 0 || is_drawn) {
                let row = client.query_one(ADDED, &[&before, &now]).await?;
                (added.first, added.last) = (row.try_get(0)?, row.try_get(1)?);
            }
            Ok::<_, tokio_postgres::Error>(LogEntry::pets_imported(added))
        })?;
        let Some(write) = append([(&entry, (&self.context).into())]) else {
            return Ok(());
        };
        self.connection.wait(|client| write.run(client))
    }

    fn record(&mut self, act: &Act) -> Result<(), StoreError> {
        self.finish()?;
        let what = (act, &self.context);
        Ok(self.connection.run(&what, |on, (act, context)| {
            record_act(on, act, context).boxed()
        })?)
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        self.finish()?;
        self.connection
            .wait(|client| client.batch_execute(fields::USED))?;
        let mut is_rejected = false;
        let committed = self.connection.wait(async |client| {
            let committed = client.batch_execute("COMMIT").await;
            is_rejected = committed
                .as_ref()
                .is_err_and(|error| error.as_db_error().is_some());
            committed
        });
        committed.map_err(|error| {
            if is_rejected {
                CommitError::NotDone(error)
            } else {
                CommitError::Unknown(error)
            }
        })
    }
}
