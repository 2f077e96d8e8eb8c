//! The fields of an import.

use jiff::Timestamp;
use petstore_domain::{
    Clock, SystemClock,
    store_area::{
        FieldDefinition, FieldPatch, FieldProblem, FieldSet, FieldValue, FieldValues,
        RequestedValue, StorePet,
    },
};
use petstore_formats::files::{InvalidRow, Rows, SeenIds, quote_beginning};

/// Replaces the number of a row, for an id or a value that an animal in the catalogue has.
pub(super) const IN_CATALOGUE: u64 = 0;

/// The fields of the database, and the fields of the file.
#[derive(Default)]
pub(super) struct ImportedFields {
    present: FieldSet,
    /// Whether an animal of the database may have values of its fields. Otherwise, the fields of the
    /// file replace all others.
    are_kept: bool,
    given: Vec<FieldDefinition>,
    /// The fields with which the animals of the file are described.
    set: FieldSet,
    /// The time by which values are valid.
    now: Timestamp,
}

impl ImportedFields {
    /// In a database without animals.
    pub(super) fn new(present: FieldSet) -> Self {
        Self {
            set: present.clone(),
            present,
            now: SystemClock.now(),
            ..Self::default()
        }
    }

    /// The database has animals.
    pub(super) fn keep(&mut self) {
        self.are_kept = true;
    }

    /// Adds a field of the file, or says why it is invalid.
    pub(super) fn add(&mut self, field: &FieldDefinition) -> Option<InvalidRow> {
        let name = field.name.as_str();
        let invalid = |reason| Some(InvalidRow::in_column("name", reason));
        if self.given.iter().any(|given| given.name == field.name) {
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
        self.given.push(field.clone());
        if let Some(all) = self.all() {
            if all.len() > FieldDefinition::MAX {
                return invalid(format!(
                    "there are more than {} fields",
                    FieldDefinition::MAX
                ));
            }
            self.set = FieldSet::new(1, all, Vec::new());
        }
        None
    }

    /// Why the values of an animal with a version are invalid, if so. Otherwise, records the values that no
    /// other animal may have, under the number of the row.
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
            return Ok(Some(invalid(problem)));
        }
        if pet.withdrawal.is_some() {
            return Ok(None);
        }
        self.duplicate(&pet.fields, ids, number, rows)
    }

    /// Returns the values of a new animal.
    pub(super) fn problem_of_new(
        &self,
        given: &FieldPatch,
        ids: &SeenIds,
        number: u64,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        match self.values(given) {
            Ok(values) => self.duplicate(&values, ids, number, rows),
            Err(invalid) => Ok(Some(invalid)),
        }
    }

    fn duplicate(
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
                let place = holder.place;
                let holder = if holder.row == IN_CATALOGUE {
                    "the animal"
                } else {
                    "line"
                };
                let column = rows.field_column(&key.field);
                let value = quote_beginning(&key.text);
                let reason = format!("must be unique, but {holder} {place} also has {value}");
                problems.take(Err::<(), _>(InvalidRow::in_column(column, reason)));
            }
        }
        Ok(problems.into_result(()).err())
    }

    /// Whether the values of a new animal are valid, and its unique values belong to this row.
    pub(super) fn is_own(&self, given: &FieldPatch, ids: &SeenIds, number: u64) -> bool {
        self.values(given).is_ok_and(|values| {
            let keys = self.set.unique_keys(&values);
            let is_own =
                |key| matches!(ids.record_key(key, number, 0), Ok(Some(holder)) if holder.row == number);
            keys.iter().all(is_own)
        })
    }

    /// Returns the values of a new animal, or why they are invalid.
    pub(super) fn values(&self, given: &FieldPatch) -> Result<FieldValues, InvalidRow> {
        if given.is_empty() {
            return Ok(FieldValues::NONE);
        }
        let spelled = |(name, given): (&String, &RequestedValue)| {
            let given = given.clone();
            let given = match self.set.find(name) {
                Some(field) => field.resolve_choice(given),
                None => given,
            };
            (name.clone(), given)
        };
        let given: FieldPatch = given.iter().map(spelled).collect();
        let mut problems = InvalidRow::default();
        for (name, given) in &given {
            let one = FieldPatch::from([(name.clone(), given.clone())]);
            let applied = self.set.apply(&FieldValues::NONE, &one, self.now);
            problems.take(
                applied.map_err(|problem| match (self.set.find(name), given) {
                    (Some(field), RequestedValue::Set(FieldValue::Text(text))) => {
                        let reason = format!("{}, but was {}", field.rule(), quote_beginning(text));
                        InvalidRow::in_column(format!("fields.{name}"), reason)
                    }
                    _ => invalid(problem),
                }),
            );
        }
        problems.into_result(())?;
        self.set
            .apply(&FieldValues::NONE, &given, self.now)
            .map_err(invalid)
    }

    /// Whether these are the fields with which the file was validated.
    pub(super) fn are(&self, fields: &FieldSet) -> bool {
        self.present.all() == fields.all()
    }

    /// Returns the fields of the database.
    pub(super) fn present(&self) -> &[FieldDefinition] {
        self.present.all()
    }

    /// How many fields the file has.
    pub(super) fn count(&self) -> u64 {
        self.given.len() as u64
    }

    /// Returns the fields that the import adds.
    pub(super) fn new_ones(&self) -> impl Iterator<Item = &FieldDefinition> {
        self.given
            .iter()
            .filter(|field| self.kept().iter().all(|kept| kept.name != field.name))
    }

    /// Returns all fields after the import; `None` if they stay as they are.
    pub(super) fn all(&self) -> Option<Vec<FieldDefinition>> {
        let new: Vec<_> = self.new_ones().cloned().collect();
        (!new.is_empty()).then(|| [self.kept(), &new].concat())
    }

    fn kept(&self) -> &[FieldDefinition] {
        if self.are_kept {
            self.present.all()
        } else {
            &[]
        }
    }
}

fn invalid(problem: FieldProblem) -> InvalidRow {
    let (FieldProblem::Unknown(reason) | FieldProblem::Invalid(reason)) = problem;
    let reason = format!("are invalid: {}", reason.trim_end_matches('.'));
    InvalidRow::in_column("fields", reason)
}
