//! The result of validating a file.

use std::{
    collections::BTreeSet,
    env,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::store_area::{Category, Profile, Resource, UniqueKey};
use petstore_formats::files::{CsvOptions, InvalidRow, Row, Rows, SeenIds};
use petstore_store::bulk::{self, Snapshot, Value, continue_if_ok};

use super::{
    csv_args::CsvArgs,
    fields::{IN_CATALOGUE, ImportedFields},
    profile::logo_of,
};
use crate::cli::output::counted;

/// The result of validating a file.
pub(super) struct Checked {
    pub(super) valid: u64,
    /// How many of the valid rows are orders, categories and notes.
    pub(super) orders: u64,
    pub(super) categories: u64,
    pub(super) notes: u64,
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
    /// What the reader of a CSV file knows about the store.
    pub(super) csv: CsvOptions,
    /// The categories of species that the store does not have yet.
    new_categories: Vec<Category>,
    /// The numbers of the new categories that valid rows have.
    used_new_ids: BTreeSet<i64>,
}

impl Checked {
    pub(super) fn new(
        ids: SeenIds,
        fields: ImportedFields,
        csv: CsvOptions,
        new_categories: Vec<Category>,
    ) -> Self {
        Self {
            csv,
            new_categories,
            used_new_ids: BTreeSet::new(),
            valid: 0,
            orders: 0,
            categories: 0,
            notes: 0,
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
        let holder = match (taken, row) {
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
            (Some(IN_CATALOGUE), Row::Resource(Resource::Note(_), _)) => "a note in the database",
            (Some(IN_CATALOGUE), _) => "an animal in the catalogue",
            (Some(_), _) => {
                let reason = format!("{id} is the id of an earlier row; each id must occur once");
                return Ok(Some(InvalidRow::in_column("id", reason)));
            }
        };
        let reason = format!("{id} is the id of {holder}; ids must be free");
        Ok(Some(InvalidRow::in_column("id", reason)))
    }

    pub(super) fn count(&mut self, row: &Row) {
        self.valid += 1;
        match row {
            Row::Resource(Resource::Order(_), _) => self.orders += 1,
            Row::Resource(Resource::Category(_), _) => self.categories += 1,
            Row::Resource(Resource::Note(_), _) => self.notes += 1,
            Row::Resource(Resource::Pet(_), photos) => self.photos += photos,
            Row::Profile(..) => self.profiles += 1,
            Row::Pet { pet, .. } => self.count_category(pet.category_id),
            Row::Field(_) => {}
        }
    }

    /// Returns how many valid rows there are of each kind, such as `4 animals`.
    pub(super) fn describe_rows(&self) -> String {
        let field_count = self.fields.count();
        let others = self.orders + self.categories + self.notes + self.profiles + field_count;
        let animals = counted(self.valid - others, "animal");
        if others == 0 {
            return animals;
        }
        let orders = counted(self.orders, "order");
        let categories = counted(self.categories, "category");
        let notes = counted(self.notes, "note");
        let fields = counted(field_count, "field");
        format!("{animals}, {orders}, {categories}, {notes} and {fields}")
    }

    fn count_category(&mut self, id: i64) {
        let mut new_categories = self.new_categories.iter();
        if new_categories.any(|category| category.id == id) {
            self.used_new_ids.insert(id);
        }
    }

    /// Returns the categories that the store does not have yet, and that valid rows have.
    pub(super) fn used_new_categories(&self) -> impl Iterator<Item = &Category> {
        self.new_categories
            .iter()
            .filter(|category| self.used_new_ids.contains(&category.id))
    }

    /// Returns a sentence about the new categories, after a space; empty if there are none.
    pub(super) fn describe_new_categories(&self) -> String {
        let mut names = Vec::new();
        for category in self.used_new_categories() {
            names.push(format!("{} ({})", category.label.as_str(), category.id));
        }
        if names.is_empty() {
            return String::new();
        }
        format!(" New categories: {}.", names.join(", "))
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

/// What an import must know about a database.
pub(super) struct Taken {
    /// Its unique values, and with `--keep-ids`, the ids of its animals, orders, categories and notes.
    pub(super) ids: SeenIds,
    pub(super) fields: ImportedFields,
    pub(super) csv: CsvOptions,
}

/// Reads what an import must know about a database.
pub(super) fn read_taken(
    database: &DatabaseUrl,
    catalogue: Option<&mut (dyn Snapshot + 'static)>,
    keep_ids: bool,
    csv: &CsvArgs,
) -> anyhow::Result<Taken> {
    let ids = SeenIds::new(&folder_of(database))?;
    let Some(catalogue) = catalogue else {
        let fields = databases::fields_of_new_database()?;
        return Ok(Taken {
            ids,
            csv: csv.options(fields.all(), &Profile::default()),
            fields: ImportedFields::new(fields),
        });
    };
    let mut fields = ImportedFields::new(catalogue.fields()?);
    let mut csv = csv.options(fields.present(), &catalogue.profile()?);
    record_unique_values(catalogue, &ids)?;
    catalogue.visit_rows(&bulk::CATEGORIES, &mut |row| {
        let [Value::Integer(id), Value::Text(label)] = row else {
            return ControlFlow::Break(());
        };
        csv.categories.add(*id, label)
    })?;
    if keep_ids && record_ids(catalogue, &ids)? {
        fields.keep();
    }
    Ok(Taken { ids, fields, csv })
}

/// Records the unique values of a database.
fn record_unique_values(
    catalogue: &mut (dyn Snapshot + 'static),
    ids: &SeenIds,
) -> anyhow::Result<()> {
    let mut recorded = Ok(None);
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
    Ok(())
}

/// Records the ids of a database, and returns whether it has animals. The ids of withdrawn animals are never given again, so
/// they count, too.
fn record_ids(catalogue: &mut (dyn Snapshot + 'static), ids: &SeenIds) -> anyhow::Result<bool> {
    let mut recorded = Ok(None);
    let mut has_animals = false;
    catalogue.visit_resources(&mut |resource| {
        has_animals |= matches!(resource, Resource::Pet(_));
        recorded = ids.record_resource(&resource, IN_CATALOGUE);
        continue_if_ok(&recorded)
    })?;
    recorded?;
    Ok(has_animals)
}

/// Returns the folder of the database, which has room for what the import needs, or the folder of the
/// machine for temporary files.
fn folder_of(database: &DatabaseUrl) -> PathBuf {
    match database {
        DatabaseUrl::Sqlite(file) => Path::new(".").join(file).with_file_name(""),
        DatabaseUrl::Postgres(_) => env::temp_dir(),
    }
}
