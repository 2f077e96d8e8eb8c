//! The fields of the store during an import: the fields of the database, and the ones that the file adds.

use jiff::Timestamp;
use petstore_domain::{
    Clock, SystemClock,
    store_area::{
        FieldDefinition, FieldPatch, FieldProblem, FieldSet, FieldValue, FieldValues,
        RequestedValue, StorePet,
    },
};
use petstore_formats::files::{InvalidRow, Rows, SeenIds, quote_beginning};

/// The row number that stands for the catalogue, for an id or a unique value that is taken there. Rows
/// count from 1.
pub(super) const IN_CATALOGUE: u64 = 0;

/// The fields of the database, the fields of the file, and the result of both.
#[derive(Default)]
pub(super) struct ImportedFields {
    present: FieldSet,
    /// Whether the fields of the database are kept, because its animals may have values of them.
    /// Otherwise, the fields of the file replace them.
    are_kept: bool,
    /// The fields of the file.
    from_file: Vec<FieldDefinition>,
    /// The fields that apply to the animals of the file.
    set: FieldSet,
    /// The time at which values are validated, for rules such as that a date of birth is not in the future.
    now: Timestamp,
}

impl ImportedFields {
    /// Returns the fields for a database that has these fields and no animals.
    pub(super) fn new(present: FieldSet) -> Self {
        Self {
            set: present.clone(),
            present,
            now: SystemClock.now(),
            ..Self::default()
        }
    }

    /// Keeps the fields of the database, because it has animals.
    pub(super) fn keep(&mut self) {
        self.are_kept = true;
    }

    /// Adds a field of the file. Returns the problem of the field if it is invalid.
    pub(super) fn add(&mut self, field: &FieldDefinition) -> Option<InvalidRow> {
        let name = field.name.as_str();
        let invalid = |reason| Some(InvalidRow::in_column("name", reason));
        if self
            .from_file
            .iter()
            .any(|earlier| earlier.name == field.name)
        {
            return invalid(format!(
                "{name:?} is the name of an earlier field; each must occur once"
            ));
        }
        let present = self.present.find(name).filter(|_| self.are_kept);
        if present.is_some_and(|present| {
            (present.kind, present.is_unique) != (field.kind, field.is_unique)
        }) {
            return invalid(format!(
                "{name:?} is a field of the database with another kind or unique; import into a \
                 database without animals, or delete that field"
            ));
        }
        self.from_file.push(field.clone());
        if let Some(all_fields) = self.after_import() {
            if all_fields.len() > FieldDefinition::MAX {
                return invalid(format!(
                    "there are more than {} fields",
                    FieldDefinition::MAX
                ));
            }
            self.set = FieldSet::new(1, all_fields, Vec::new());
        }
        None
    }

    /// Returns the problem of the values of an animal in an export with `--all`, if there is one.
    /// Otherwise, records its unique values under the number of its row. The values of a withdrawn
    /// animal are not unique.
    pub(super) fn problem_of(
        &self,
        pet: &StorePet,
        ids: &SeenIds,
        number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        if pet.fields.is_empty() {
            return Ok(None);
        }
        if let Some(problem) = self.set.find_problem(&pet.fields) {
            return Ok(Some(invalid_fields(problem)));
        }
        if pet.withdrawal.is_some() {
            return Ok(None);
        }
        self.find_duplicate(&pet.fields, ids, number, rows)
    }

    /// Returns the problem of the values of a new animal, if there is one. Otherwise, records its
    /// unique values under the number of its row.
    pub(super) fn problem_of_new(
        &self,
        requested: &FieldPatch,
        ids: &SeenIds,
        number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        match self.values(requested) {
            Ok(values) => self.find_duplicate(&values, ids, number, rows),
            Err(invalid) => Ok(Some(invalid)),
        }
    }

    /// Returns the problem of unique values that another animal has, if there are any. Records the
    /// others under the number of the row.
    fn find_duplicate(
        &self,
        values: &FieldValues,
        ids: &SeenIds,
        number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        let keys = self.set.unique_keys(values);
        let line = if keys.is_empty() {
            0
        } else {
            rows.raw_row()?.line
        };
        let mut problems = InvalidRow::default();
        for key in keys {
            if let Some(holder) = ids.record_key(&key, number, line.cast_signed())? {
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
                problems.record(Err::<(), _>(InvalidRow::in_column(column, reason)));
            }
        }
        Ok(problems.into_result(()).err())
    }

    /// Whether the values of a new animal are valid, and its unique values are recorded under the
    /// number of its row.
    pub(super) fn are_valid(&self, requested: &FieldPatch, ids: &SeenIds, number: u64) -> bool {
        self.values(requested).is_ok_and(|values| {
            self.set.unique_keys(&values).iter().all(|key| {
                matches!(ids.record_key(key, number, 0), Ok(Some(holder)) if holder.row == number)
            })
        })
    }

    /// Returns the values of a new animal, or why they are invalid.
    pub(super) fn values(&self, requested: &FieldPatch) -> Result<FieldValues, InvalidRow> {
        if requested.is_empty() {
            return Ok(FieldValues::NONE);
        }
        let resolved: FieldPatch = requested
            .iter()
            .map(|(name, value)| (name.clone(), self.resolve_choice(name, value)))
            .collect();
        let mut problems = InvalidRow::default();
        // Each value is applied separately, so that every invalid value is reported.
        for (name, value) in &resolved {
            let single_value = FieldPatch::from([(name.clone(), value.clone())]);
            let applied = self.set.apply(&FieldValues::NONE, &single_value, self.now);
            problems.record(
                applied.map_err(|problem| match (self.set.find(name), value) {
                    (Some(field), RequestedValue::Set(FieldValue::Text(text))) => {
                        let reason = format!("{}, but was {}", field.rule(), quote_beginning(text));
                        InvalidRow::in_column(format!("fields.{name}"), reason)
                    }
                    _ => invalid_fields(problem),
                }),
            );
        }
        problems.into_result(())?;
        self.set
            .apply(&FieldValues::NONE, &resolved, self.now)
            .map_err(invalid_fields)
    }

    /// Returns a value in its stored spelling, if it is a value or a label of a field with choices.
    fn resolve_choice(&self, name: &str, value: &RequestedValue) -> RequestedValue {
        match self.set.find(name) {
            Some(field) => field.resolve_choice(value.clone()),
            None => value.clone(),
        }
    }

    /// Whether the database still has the fields with which the file was validated.
    pub(super) fn match_database(&self, fields: &FieldSet) -> bool {
        self.present.all() == fields.all()
    }

    /// Returns the fields of the database.
    pub(super) fn present(&self) -> &[FieldDefinition] {
        self.present.all()
    }

    /// Returns the number of fields in the file.
    pub(super) fn count(&self) -> u64 {
        self.from_file.len() as u64
    }

    /// Returns the fields that the import adds.
    pub(super) fn new_fields(&self) -> impl Iterator<Item = &FieldDefinition> {
        self.from_file
            .iter()
            .filter(|field| self.kept().iter().all(|kept| kept.name != field.name))
    }

    /// Returns all fields after the import; `None` if the import does not change them.
    pub(super) fn after_import(&self) -> Option<Vec<FieldDefinition>> {
        let new: Vec<_> = self.new_fields().cloned().collect();
        (!new.is_empty()).then(|| [self.kept(), &new].concat())
    }

    /// Returns the fields of the database that the import keeps.
    fn kept(&self) -> &[FieldDefinition] {
        if self.are_kept {
            self.present.all()
        } else {
            &[]
        }
    }
}

/// Returns the problem of a row with invalid values.
fn invalid_fields(problem: FieldProblem) -> InvalidRow {
    let (FieldProblem::Unknown(reason) | FieldProblem::Invalid(reason)) = problem;
    let reason = format!("are invalid: {}", reason.trim_end_matches('.'));
    InvalidRow::in_column("fields", reason)
}
