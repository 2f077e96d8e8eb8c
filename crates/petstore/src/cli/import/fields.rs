//! The fields of the store during an import: the fields of the database, and the fields that the
//! file adds. A field is a property that the store has defined for its animals, such as their
//! species.

use jiff::Timestamp;
use petstore_domain::{
    Clock, SystemClock,
    store_area::{
        FieldDefinition, FieldPatch, FieldProblem, FieldSet, FieldValue, FieldValues,
        RequestedValue, StorePet,
    },
};
use petstore_formats::files::{InvalidRow, RowProblems, Rows, SeenIds, quote_beginning};

/// The row number of an id or a unique value that the catalogue already has. The rows of a file are
/// counted from 1.
pub(super) const IN_CATALOGUE: u64 = 0;

/// The fields of the database, the fields of the file, and the result of both.
#[derive(Default)]
pub(super) struct ImportedFields {
    in_database: FieldSet,
    /// Whether the import keeps the fields of the database, because its animals may have values of
    /// them. Otherwise, the fields of the file replace them.
    keeps_database_fields: bool,
    /// The fields of the file.
    from_file: Vec<FieldDefinition>,
    /// The fields with which the animals of the file are validated: the result of both.
    effective: FieldSet,
    /// The time at which values are validated, for rules such as that a date of birth is not in the
    /// future.
    now: Timestamp,
}

impl ImportedFields {
    /// Returns the fields for a database that has these fields and no animals.
    pub(super) fn new(in_database: FieldSet) -> Self {
        Self {
            effective: in_database.clone(),
            in_database,
            now: SystemClock.now(),
            ..Self::default()
        }
    }

    /// Keeps the fields of the database, because it has animals.
    pub(super) fn keep_database_fields(&mut self) {
        self.keeps_database_fields = true;
    }

    /// Adds a field of the file. Returns the problem of the field if it is invalid.
    pub(super) fn add(&mut self, field: &FieldDefinition) -> Option<InvalidRow> {
        if let Some(reason) = self.find_conflict(field) {
            return Some(InvalidRow::in_column("name", reason));
        }
        self.from_file.push(field.clone());
        if let Some(all_fields) = self.after_import() {
            if all_fields.len() > FieldDefinition::MAX {
                let reason = format!("there are more than {} fields", FieldDefinition::MAX);
                return Some(InvalidRow::in_column("name", reason));
            }
            // Only the stored set needs a true version.
            let version = 1;
            self.effective = FieldSet::new(version, all_fields, Vec::new());
        }
        None
    }

    /// Returns why a field of the file conflicts with an earlier one of the file or of the
    /// database.
    fn find_conflict(&self, field: &FieldDefinition) -> Option<String> {
        let name = field.name.as_str();
        let mut earlier_fields = self.from_file.iter();
        if earlier_fields.any(|earlier| earlier.name == field.name) {
            return Some(format!(
                "{name:?} is the name of an earlier field; each must occur once"
            ));
        }
        if !self.keeps_database_fields {
            return None;
        }
        let database_field = self.in_database.find(name)?;
        if database_field.kind == field.kind && database_field.is_unique == field.is_unique {
            return None;
        }
        Some(format!(
            "{name:?} is a field of the database, with another kind or another value of unique; \
             import into a database without animals, or delete that field"
        ))
    }

    /// Checks the values of an animal in an export with `--all`, and records its unique values
    /// under the number of its row. Returns the problems of the values, or `None` if all are valid.
    /// The values of a withdrawn animal need not be unique.
    pub(super) fn check_and_record_exported(
        &self,
        pet: &StorePet,
        ids: &SeenIds,
        row_number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        if pet.fields.is_empty() {
            return Ok(None);
        }
        if let Some(problem) = self.effective.find_problem(&pet.fields) {
            return Ok(Some(to_invalid_row(problem)));
        }
        if pet.withdrawal.is_some() {
            return Ok(None);
        }
        self.record_unique_values(&pet.fields, ids, row_number, rows)
    }

    /// Checks the values of a new animal, and records its unique values under the number of its
    /// row. Returns the problems of the values, or `None` if all are valid.
    pub(super) fn check_and_record_new(
        &self,
        requested: &FieldPatch,
        ids: &SeenIds,
        row_number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        match self.validate(requested) {
            Ok(values) => self.record_unique_values(&values, ids, row_number, rows),
            Err(invalid_row) => Ok(Some(invalid_row)),
        }
    }

    /// Records the unique values of an animal under the number of its row. Returns the problems of
    /// the values that another animal also has, or `None` if all are unique.
    fn record_unique_values(
        &self,
        values: &FieldValues,
        ids: &SeenIds,
        row_number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        let keys = self.effective.unique_keys(values);
        // Most animals have no unique value. For them, the line, which only the raw row has, is not
        // needed.
        if keys.is_empty() {
            return Ok(None);
        }
        let line = rows.raw_row()?.line;
        let mut problems = RowProblems::default();
        for key in keys {
            if let Some(holder) = ids.record_key(&key, row_number, line.cast_signed())? {
                // The holder is an animal in the catalogue with its id, or a row with its line.
                let line_or_id = holder.line_or_id;
                let holder_kind = if holder.row == IN_CATALOGUE {
                    "the animal"
                } else {
                    "line"
                };
                let column = rows.field_column(&key.field);
                let value = quote_beginning(&key.text);
                let reason =
                    format!("must be unique, but {holder_kind} {line_or_id} also has {value}");
                problems.add(InvalidRow::in_column(column, reason));
            }
        }
        Ok(problems.into_result(()).err())
    }

    /// Whether the values of a new animal are valid, and the first pass has recorded its unique
    /// values under the number of its row.
    pub(super) fn are_valid(&self, requested: &FieldPatch, ids: &SeenIds, row_number: u64) -> bool {
        let Ok(values) = self.validate(requested) else {
            return false;
        };
        for key in self.effective.unique_keys(&values) {
            // The first pass has recorded the value with its line, so this call records nothing. It
            // only finds the row with the value.
            let line = 0;
            match ids.record_key(&key, row_number, line) {
                Ok(Some(holder)) if holder.row == row_number => {}
                _ => return false,
            }
        }
        true
    }

    /// Returns the values of a new animal, or why they are invalid. The label of a choice is
    /// replaced by the value of the choice.
    pub(super) fn validate(&self, requested: &FieldPatch) -> Result<FieldValues, InvalidRow> {
        if requested.is_empty() {
            return Ok(FieldValues::NONE);
        }
        let resolved: FieldPatch = requested
            .iter()
            .map(|(name, value)| (name.clone(), self.resolve_choice(name, value)))
            .collect();
        let mut problems = RowProblems::default();
        // Each value is applied separately, so that every invalid value is reported.
        for (name, value) in &resolved {
            let single_value = FieldPatch::from([(name.clone(), value.clone())]);
            if let Err(problem) = self
                .effective
                .apply(&FieldValues::NONE, &single_value, self.now)
            {
                problems.add(self.describe_invalid_value(name, value, problem));
            }
        }
        problems.into_result(())?;
        self.effective
            .apply(&FieldValues::NONE, &resolved, self.now)
            .map_err(to_invalid_row)
    }

    /// Returns the problem of an invalid value. For a text, the problem has the rule and the text.
    fn describe_invalid_value(
        &self,
        name: &str,
        value: &RequestedValue,
        problem: FieldProblem,
    ) -> InvalidRow {
        match (self.effective.find(name), value) {
            (Some(field), RequestedValue::Set(FieldValue::Text(text))) => {
                let reason = format!("{}, but was {}", field.rule(), quote_beginning(text));
                InvalidRow::in_column(format!("fields.{name}"), reason)
            }
            _ => to_invalid_row(problem),
        }
    }

    /// Returns a value in its stored spelling, if it is a value or a label of a field with choices.
    fn resolve_choice(&self, name: &str, value: &RequestedValue) -> RequestedValue {
        match self.effective.find(name) {
            Some(field) => field.resolve_choice(value.clone()),
            None => value.clone(),
        }
    }

    /// Whether `fields`, which the database has now, are the fields with which the file was
    /// validated.
    pub(super) fn match_database(&self, fields: &FieldSet) -> bool {
        self.in_database.all() == fields.all()
    }

    /// Returns the fields of the database.
    pub(super) fn in_database(&self) -> &[FieldDefinition] {
        self.in_database.all()
    }

    /// Returns the number of fields in the file.
    pub(super) fn count(&self) -> u64 {
        self.from_file.len() as u64
    }

    /// Returns the fields that the import adds.
    pub(super) fn new_fields(&self) -> impl Iterator<Item = &FieldDefinition> {
        self.from_file.iter().filter(|field| {
            self.kept_fields()
                .iter()
                .all(|kept| kept.name != field.name)
        })
    }

    /// Returns all fields after the import, or `None` if the import does not change the fields.
    pub(super) fn after_import(&self) -> Option<Vec<FieldDefinition>> {
        let new_fields: Vec<FieldDefinition> = self.new_fields().cloned().collect();
        if new_fields.is_empty() {
            return None;
        }
        Some([self.kept_fields(), &new_fields].concat())
    }

    /// Returns the fields of the database that the import keeps.
    fn kept_fields(&self) -> &[FieldDefinition] {
        if self.keeps_database_fields {
            self.in_database.all()
        } else {
            &[]
        }
    }
}

/// Converts the problem of values to the problem of their row.
fn to_invalid_row(problem: FieldProblem) -> InvalidRow {
    let (FieldProblem::Unknown(reason) | FieldProblem::Invalid(reason)) = problem;
    let reason = format!("are invalid: {}", reason.trim_end_matches('.'));
    InvalidRow::in_column("fields", reason)
}
