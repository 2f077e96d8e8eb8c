//! The result of validating a file.

use std::{
    env,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::store_area::{Resource, UniqueKey};
use petstore_formats::files::{InvalidRow, Row, Rows, SeenIds, add_label};
use petstore_store::bulk::{self, Snapshot, Value, continue_if_ok};

use super::{
    fields::{IN_CATALOGUE, ImportedFields},
    profile::logo_of,
};

/// The result of validating a file.
pub(super) struct Checked {
    pub(super) valid: u64,
    /// How many of the valid rows are orders, and how many categories.
    pub(super) orders: u64,
    pub(super) categories: u64,
    /// The number of profiles, which is 0 or 1.
    pub(super) profiles: u64,
    /// How many photos were ignored.
    pub(super) photos: u64,
    /// Whether the rows depend on each other, because some are of the store area.
    pub(super) is_connected: bool,
    pub(super) invalid: u64,
    /// The ids with which animals will be added, with --keep-ids, and unique values.
    pub(super) ids: SeenIds,
    pub(super) fields: ImportedFields,
}

impl Checked {
    pub(super) fn new(ids: SeenIds, fields: ImportedFields) -> Self {
        Self {
            valid: 0,
            orders: 0,
            categories: 0,
            profiles: 0,
            photos: 0,
            is_connected: false,
            invalid: 0,
            ids,
            fields,
        }
    }

    /// Returns the problem with a row that could be parsed, if it has one: its id is taken, or it does not agree with
    /// the rows before it. Otherwise, records it.
    pub(super) fn problem_of(
        &mut self,
        row: &Row,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        let number = self.valid + self.invalid + 1;
        let ids = &self.ids;
        let (id, taken) = match row {
            Row::Field(field) => return Ok(self.fields.add(field)),
            Row::Profile(..) if self.profiles > 0 => {
                return Ok(Some(InvalidRow::new("the file has a profile already")));
            }
            Row::Profile(_, logo) => return Ok(logo.as_deref().and_then(|png| logo_of(png).err())),
            Row::Pet { id: None, .. } => (0, None),
            Row::Pet { id: Some(id), .. } => (id.get(), ids.record(*id, number)?),
            Row::Resource(resource, _) => (resource.id(), ids.record_resource(resource, number)?),
        };
        let by = match (taken, row) {
            (None, Row::Pet { fields, .. }) => {
                return self.fields.problem_of_new(fields, ids, number, rows);
            }
            (None, Row::Field(_) | Row::Profile(..)) => return Ok(None),
            (None, Row::Resource(resource, _)) => {
                if let Resource::Pet(pet) = resource
                    && let Some(invalid) = self.fields.problem_of(pet, ids, number, rows)?
                {
                    return Ok(Some(invalid));
                }
                let problem = ids.find_disagreement(resource, rows.raw_row()?.line)?;
                return Ok(problem.map(InvalidRow::new));
            }
            (Some(IN_CATALOGUE), Row::Resource(Resource::Order(_), _)) => {
                "an order in the database"
            }
            (Some(IN_CATALOGUE), Row::Resource(Resource::Category(_), _)) => {
                "a category in the database"
            }
            (Some(IN_CATALOGUE), _) => "an animal in the catalogue",
            (Some(_), _) => {
                let reason = format!("{id} is the id of an earlier row; each id must occur once");
                return Ok(Some(InvalidRow::in_column("id", reason)));
            }
        };
        let reason = format!("{id} is the id of {by}; ids must be free");
        Ok(Some(InvalidRow::in_column("id", reason)))
    }

    pub(super) fn count(&mut self, row: &Row) {
        self.valid += 1;
        match row {
            Row::Resource(Resource::Order(_), _) => self.orders += 1,
            Row::Resource(Resource::Category(_), _) => self.categories += 1,
            Row::Resource(Resource::Pet(_), photos) => self.photos += photos,
            Row::Profile(..) => self.profiles += 1,
            Row::Pet { .. } | Row::Field(_) => {}
        }
    }

    /// Whether a row that could be parsed is valid.
    pub(super) fn is_good(&self, row: &Row, number: u64) -> bool {
        let Row::Pet { id, fields, .. } = row else {
            return true;
        };
        let is_own = |first: Option<u64>| first == Some(number);
        self.invalid == 0
            || (id.is_none_or(|id| self.ids.first_row(id).is_ok_and(is_own))
                && self.fields.is_own(fields, &self.ids, number))
    }
}

/// Returns the fields of the database and its unique values; and with `keep_ids`, the ids of its
/// animals, orders and categories.
pub(super) fn taken(
    database: &DatabaseUrl,
    catalogue: Option<Box<dyn Snapshot>>,
    keep_ids: bool,
) -> anyhow::Result<(SeenIds, ImportedFields)> {
    let ids = SeenIds::new(&folder_of(database))?;
    let Some(mut catalogue) = catalogue else {
        return Ok((
            ids,
            ImportedFields::new(databases::fields_of_new_database()?),
        ));
    };
    let mut fields = ImportedFields::new(catalogue.fields()?);
    let mut recorded = Ok(None);
    let mut has_animals = false;
    catalogue.visit_rows(&bulk::UNIQUE_VALUES, &mut |row| {
        if let [Value::Text(field), Value::Text(key), Value::Integer(pet), _] = row {
            let key = UniqueKey {
                field: (*field).to_owned(),
                text: (*key).to_owned(),
            };
            recorded = ids.record_key(&key, IN_CATALOGUE, *pet);
        }
        continue_if_ok(&recorded)
    })?;
    recorded?;
    catalogue.visit_rows(&bulk::CATEGORIES, &mut |row| {
        let [Value::Integer(id), Value::Text(label)] = row else {
            return ControlFlow::Break(());
        };
        add_label(&mut fields.labels, *id, label)
    })?;
    if keep_ids {
        let mut recorded = Ok(None);
        // The ids of withdrawn animals are never given again, so they count, too.
        catalogue.visit_resources(&mut |resource| {
            has_animals |= matches!(resource, Resource::Pet(_));
            recorded = ids.record_resource(&resource, IN_CATALOGUE);
            continue_if_ok(&recorded)
        })?;
        recorded?;
    }
    if has_animals {
        fields.keep();
    }
    Ok((ids, fields))
}

/// Returns the folder of the database, which has room for what the import needs, or the folder of the
/// machine for temporary files.
fn folder_of(database: &DatabaseUrl) -> PathBuf {
    match database {
        DatabaseUrl::Sqlite(file) => Path::new(".").join(file).with_file_name(""),
        DatabaseUrl::Postgres(_) => env::temp_dir(),
    }
}
