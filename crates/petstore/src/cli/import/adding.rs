//! The second pass of an import: reads the file again, and adds its valid rows in one transaction.

use anyhow::{Context, anyhow, ensure};
use petstore_databases as databases;
use petstore_domain::{
    Clock, PetId, SystemClock,
    store_area::{ActType, Resource},
};
use petstore_formats::files::{Format, Row, Source};
use petstore_store::bulk::{CommitError, IdSource, LastIds, Load};

use super::{Import, checked::CheckedFile, profile::set_profile};
use crate::cli::output::{Progress, print_message};

/// The context of an error after which no row was added.
const NOT_IMPORTED: &str = "nothing was imported";

impl Import {
    /// Reads the whole file again, and adds the rows that `checked` found to be valid.
    pub(super) fn add(
        &self,
        source: &Source,
        format: Format,
        checked: &CheckedFile,
    ) -> anyhow::Result<()> {
        let mut load = databases::open_load(&self.database.url, self.if_absent.mode())
            .context(NOT_IMPORTED)?;
        let ids = if self.keep_ids {
            IdSource::Given
        } else {
            IdSource::Next
        };
        load.begin(ids, SystemClock.now()).context(NOT_IMPORTED)?;
        self.add_rows(&mut *load, source, format, checked)
            .context(NOT_IMPORTED)?;
        load.commit().map_err(|error| match error {
            CommitError::NotDone(error) => anyhow::Error::from(error).context(NOT_IMPORTED),
            unknown @ CommitError::Unknown(_) => unknown.into(),
        })
    }

    /// Adds the new fields and categories, and then the valid rows. Fails if the database or the
    /// file has changed since the file was validated.
    fn add_rows(
        &self,
        load: &mut dyn Load,
        source: &Source,
        format: Format,
        checked: &CheckedFile,
    ) -> anyhow::Result<()> {
        let mut rows = self.read_rows(source, format, &checked.csv)?;
        ensure!(
            checked.fields.match_database(load.fields()),
            "the fields of the database changed while the command read the file; run the command again"
        );
        add_definitions(load, checked)?;

        let mut progress = Progress::of_animals("Importing", checked.valid_count);
        let mut valid_count = 0;
        let mut row_count = 0;
        let mut last_ids = LastIds::default();
        while let Some(row) = rows.read_row()? {
            row_count += 1;
            if let Ok(row) = row
                && checked.is_valid(&row, row_count)
            {
                valid_count += 1;
                progress.count_animal();
                add_row(load, row, checked, &mut last_ids, &progress)?;
            }
        }
        let is_unchanged = valid_count == checked.valid_count
            && row_count == checked.valid_count + checked.invalid_count;
        ensure!(
            is_unchanged,
            "{} changed while the command read it; run the command again",
            self.input_name()
        );
        load.continue_after(last_ids)?;
        load.log_import()?;
        Ok(())
    }
}

/// Adds the fields and the categories that the rows need and the database lacks.
fn add_definitions(load: &mut dyn Load, checked: &CheckedFile) -> anyhow::Result<()> {
    if let Some(fields) = checked.fields.after_import() {
        load.set_fields(&fields)?;
        for field in checked.fields.new_fields() {
            load.record_act(&field.create_act(ActType::FieldAdded))?;
        }
    }
    for category in checked.used_new_categories() {
        load.add_resource(&Resource::Category(category.clone()))?;
    }
    Ok(())
}

/// Adds a valid row, and raises `last_ids` to its id.
fn add_row(
    load: &mut dyn Load,
    row: Row,
    checked: &CheckedFile,
    last_ids: &mut LastIds,
    progress: &Progress,
) -> anyhow::Result<()> {
    match row {
        Row::Pet { id, pet, fields } => {
            // The first pass has accepted the values, so this fails only if the file has changed
            // since.
            let values = checked
                .fields
                .validate(&fields)
                .map_err(|invalid_row| anyhow!("{invalid_row}"))?;
            load.add_pet(id, &pet, &values)?;
            last_ids.pet = last_ids.pet.max(id.map_or(0, PetId::get));
        }
        // All fields were added before the first row.
        Row::Field(_) => {}
        Row::Profile { profile, logo } => {
            if !set_profile(load, *profile, logo.as_deref())? {
                progress.suspend(|| {
                    print_message("The database has a profile, so that of the file was left out.");
                });
            }
        }
        Row::Resource { resource, .. } => {
            load.add_resource(&resource)?;
            match resource {
                Resource::Pet(pet) => last_ids.pet = last_ids.pet.max(pet.id.get()),
                Resource::Order(order) => last_ids.order = last_ids.order.max(order.id.get()),
                Resource::Note(note) => last_ids.note = last_ids.note.max(note.id.get()),
                Resource::Category(_) => {}
            }
        }
    }
    Ok(())
}
