//! The result of validating a file, and the facts about the database that the validation needs.

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
    profile::make_imported_logo,
};
use crate::cli::output::counted;

/// The numbers of the valid rows that are not animals, by kind. [`ImportedFields`] counts the
/// fields.
#[derive(Default)]
struct RowCounts {
    orders: u64,
    categories: u64,
    notes: u64,
    /// The number of profiles of the store, which is 0 or 1.
    profiles: u64,
}

/// The result of validating a file, row by row.
pub(super) struct CheckedFile {
    /// The number of valid rows.
    pub(super) valid_count: u64,
    /// The number of invalid rows.
    pub(super) invalid_count: u64,
    counts: RowCounts,
    /// The number of photos that are ignored, because only their URLs are in the file.
    pub(super) ignored_photos: u64,
    /// Whether the file is an export with `--all`. Its rows depend on each other, so none can be
    /// skipped.
    pub(super) is_full_export: bool,
    /// The unique values of the database and of the rows so far, and with `--keep-ids`, their ids.
    pub(super) ids: SeenIds,
    /// The fields of the database and of the file.
    pub(super) fields: ImportedFields,
    /// The facts about the store that the reader of a CSV file needs.
    pub(super) csv: CsvOptions,
    /// The categories of species that the store does not have yet.
    new_categories: Vec<Category>,
    /// The ids of the new categories that valid rows use.
    used_new_ids: BTreeSet<i64>,
}

impl CheckedFile {
    /// Returns the result before the first row is checked.
    pub(super) fn new(
        ids: SeenIds,
        fields: ImportedFields,
        csv: CsvOptions,
        new_categories: Vec<Category>,
    ) -> Self {
        Self {
            valid_count: 0,
            invalid_count: 0,
            counts: RowCounts::default(),
            ignored_photos: 0,
            is_full_export: false,
            ids,
            fields,
            csv,
            new_categories,
            used_new_ids: BTreeSet::new(),
        }
    }

    /// Compares a row that could be parsed with the database and with the rows before it. Records
    /// the id and the unique values of the row. Returns its problems, such as an id that is taken.
    /// Returns `None` if the row is valid.
    pub(super) fn check_and_record(
        &mut self,
        row: &Row,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        let row_number = self.valid_count + self.invalid_count + 1;
        match row {
            Row::Field(field) => Ok(self.fields.add(field)),
            Row::Profile { .. } if self.counts.profiles > 0 => {
                Ok(Some(InvalidRow::new("the file has a profile already")))
            }
            Row::Profile { logo, .. } => {
                let logo = logo.as_deref().map(make_imported_logo);
                Ok(logo.and_then(Result::err))
            }
            Row::Pet { id, fields, .. } => {
                if let Some(id) = id
                    && let Some(holder_row) = self.ids.record_pet(*id, row_number)?
                {
                    let in_catalogue = "an animal in the catalogue";
                    return Ok(Some(describe_taken_id(id.get(), holder_row, in_catalogue)));
                }
                self.fields
                    .check_and_record_new(fields, &self.ids, row_number, rows)
            }
            Row::Resource { resource, .. } => {
                self.check_and_record_resource(resource, row_number, rows)
            }
        }
    }

    /// Checks an animal, an order, a category or a note in an export with `--all`. Records its id
    /// and its unique values. Returns its problems, or `None` if it is valid.
    fn check_and_record_resource(
        &self,
        resource: &Resource,
        row_number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        if let Some(holder_row) = self.ids.record_resource(resource, row_number)? {
            let in_catalogue = match resource {
                Resource::Pet(_) => "an animal in the catalogue",
                Resource::Order(_) => "an order in the database",
                Resource::Category(_) => "a category in the database",
                Resource::Note(_) => "a note in the database",
            };
            return Ok(Some(describe_taken_id(
                resource.id(),
                holder_row,
                in_catalogue,
            )));
        }
        if let Resource::Pet(pet) = resource
            && let Some(invalid_row) = self
                .fields
                .check_and_record_exported(pet, &self.ids, row_number, rows)?
        {
            return Ok(Some(invalid_row));
        }
        let line = rows.raw_row()?.line;
        let problem = self.ids.check_and_record_line(resource, line)?;
        Ok(problem.map(InvalidRow::new))
    }

    /// Counts a valid row by its kind.
    pub(super) fn count(&mut self, row: &Row) {
        self.valid_count += 1;
        match row {
            Row::Resource {
                resource,
                photo_count,
            } => {
                self.ignored_photos += photo_count;
                match resource {
                    Resource::Order(_) => self.counts.orders += 1,
                    Resource::Category(_) => self.counts.categories += 1,
                    Resource::Note(_) => self.counts.notes += 1,
                    Resource::Pet(_) => {}
                }
            }
            Row::Profile { .. } => self.counts.profiles += 1,
            Row::Pet { pet, .. } => self.mark_category_as_used(pet.category_id),
            Row::Field(_) => {}
        }
    }

    /// Describes the number of valid rows of each kind, such as `4 animals`.
    pub(super) fn describe_rows(&self) -> String {
        let field_count = self.fields.count();
        let RowCounts {
            orders,
            categories,
            notes,
            profiles,
        } = self.counts;
        let other_count = orders + categories + notes + profiles + field_count;
        let animals = counted(self.valid_count - other_count, "animal");
        if other_count == 0 {
            return animals;
        }
        let orders = counted(orders, "order");
        let categories = counted(categories, "category");
        let notes = counted(notes, "note");
        let fields = counted(field_count, "field");
        format!("{animals}, {orders}, {categories}, {notes} and {fields}")
    }

    /// Records that a valid row uses the category with this id, if the category is new.
    fn mark_category_as_used(&mut self, id: i64) {
        let mut new_categories = self.new_categories.iter();
        if new_categories.any(|category| category.id == id) {
            self.used_new_ids.insert(id);
        }
    }

    /// Returns the categories that valid rows use and the store does not have yet.
    pub(super) fn used_new_categories(&self) -> impl Iterator<Item = &Category> {
        self.new_categories
            .iter()
            .filter(|category| self.used_new_ids.contains(&category.id))
    }

    /// Returns a sentence about the new categories, with a space before it. Returns an empty text
    /// if there are no new categories.
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

    /// Whether the first pass found the row with this number to be valid. Its id and its unique
    /// values must have been recorded for this row, and not for an earlier one.
    pub(super) fn is_valid(&self, row: &Row, row_number: u64) -> bool {
        let Row::Pet { id, fields, .. } = row else {
            return true;
        };
        // Most files have no invalid row, and then no lookup is needed.
        if self.invalid_count == 0 {
            return true;
        }
        let has_own_id = match id {
            // After a failed lookup, the row counts as invalid, and the import fails at its end,
            // because fewer rows are valid than in the first pass.
            Some(id) => self.ids.first_row(*id).ok().flatten() == Some(row_number),
            None => true,
        };
        has_own_id && self.fields.are_valid(fields, &self.ids, row_number)
    }
}

/// Returns the problem of a row whose id is taken. `holder_row` is the number of the earlier row
/// with this id. If it is [`IN_CATALOGUE`], `in_catalogue` describes what has the id, such as "an
/// animal in the catalogue".
fn describe_taken_id(id: i64, holder_row: u64, in_catalogue: &str) -> InvalidRow {
    let reason = if holder_row == IN_CATALOGUE {
        format!("{id} is the id of {in_catalogue}; ids must be free")
    } else {
        format!("{id} is the id of an earlier row; each id must occur once")
    };
    InvalidRow::in_column("id", reason)
}

/// The facts about a database that the validation of a file needs.
pub(super) struct DatabaseFacts {
    /// The unique values, and with `--keep-ids`, the ids of animals, orders, categories and notes.
    pub(super) ids: SeenIds,
    pub(super) fields: ImportedFields,
    /// The options for the reader of a CSV file, with the categories of the database.
    pub(super) csv: CsvOptions,
}

/// Reads the facts about a database. If `snapshot` is `None`, these are the facts about a new
/// database.
pub(super) fn read_database_facts(
    database: &DatabaseUrl,
    snapshot: Option<&mut (dyn Snapshot + 'static)>,
    keep_ids: bool,
    csv_args: &CsvArgs,
) -> anyhow::Result<DatabaseFacts> {
    let ids = SeenIds::new(&temporary_folder(database))?;
    let Some(snapshot) = snapshot else {
        let fields = databases::fields_of_new_database()?;
        return Ok(DatabaseFacts {
            ids,
            csv: csv_args.build_options(fields.all(), &Profile::default()),
            fields: ImportedFields::new(fields),
        });
    };
    let mut fields = ImportedFields::new(snapshot.fields()?);
    let mut csv = csv_args.build_options(fields.in_database(), &snapshot.profile()?);
    record_unique_values(snapshot, &ids)?;
    snapshot.visit_rows(&bulk::CATEGORIES, &mut |row| {
        // All rows of this table have this form.
        let [Value::Integer(id), Value::Text(label)] = row else {
            return ControlFlow::Break(());
        };
        csv.categories.add(*id, label)
    })?;
    // Without `--keep-ids`, a file has no fields, so the fields of the database stay anyway.
    if keep_ids && record_ids(snapshot, &ids)? {
        fields.keep_database_fields();
    }
    Ok(DatabaseFacts { ids, fields, csv })
}

/// Records the unique values of a database in `ids`.
fn record_unique_values(
    snapshot: &mut (dyn Snapshot + 'static),
    ids: &SeenIds,
) -> anyhow::Result<()> {
    // No other animal of the database can have the value, so the result is always `None` or an
    // error.
    let mut result = Ok(None);
    snapshot.visit_rows(&bulk::UNIQUE_VALUES, &mut |row| {
        if let [Value::Text(field), Value::Text(key), Value::Integer(pet), _] = row {
            let key = UniqueKey {
                field: (*field).to_owned(),
                text: (*key).to_owned(),
            };
            result = ids.record_key(&key, IN_CATALOGUE, *pet);
        }
        continue_if_ok(&result)
    })?;
    result?;
    Ok(())
}

/// Records the ids of a database in `ids`, and returns whether the database has animals. Withdrawn
/// animals count, too, because their ids are never assigned again.
fn record_ids(snapshot: &mut (dyn Snapshot + 'static), ids: &SeenIds) -> anyhow::Result<bool> {
    let mut result = Ok(None);
    let mut has_animals = false;
    snapshot.visit_resources(&mut |resource| {
        if matches!(resource, Resource::Pet(_)) {
            has_animals = true;
        }
        result = ids.record_resource(&resource, IN_CATALOGUE);
        continue_if_ok(&result)
    })?;
    result?;
    Ok(has_animals)
}

/// Returns the folder for the temporary file with the ids. For SQLite, this is the folder of the
/// database, which has room for the animals, and so for their ids. For PostgreSQL, it is the
/// temporary folder of the machine.
fn temporary_folder(database: &DatabaseUrl) -> PathBuf {
    match database {
        DatabaseUrl::Sqlite(file) => Path::new(".").join(file).with_file_name(""),
        DatabaseUrl::Postgres(_) => env::temp_dir(),
    }
}
