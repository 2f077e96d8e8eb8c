//! The fields of an import.

use crate::{
    domain::store_area::{FieldDefinition, FieldSet},
    files::InvalidRow,
};

/// The fields of the database, and those of the file.
#[derive(Default)]
pub(super) struct ImportedFields {
    present: FieldSet,
    /// Whether an animal of the database may have values of its fields. Otherwise, the fields of the
    /// file replace all others.
    are_kept: bool,
    given: Vec<FieldDefinition>,
}

impl ImportedFields {
    pub(super) fn new(present: FieldSet, are_kept: bool) -> Self {
        Self { present, are_kept, given: Vec::new() }
    }

    /// Adds a field of the file, or says why it is invalid.
    pub(super) fn add(&mut self, field: &FieldDefinition) -> Option<InvalidRow> {
        let name = field.name.as_str();
        let invalid = |reason| Some(InvalidRow { column: Some("name"), reason });
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
        if self.all().is_some_and(|all| all.len() > FieldDefinition::MAX) {
            return invalid(format!("there are more than {} fields", FieldDefinition::MAX));
        }
        None
    }

    /// How many fields the file has.
    pub(super) fn count(&self) -> u64 {
        self.given.len() as u64
    }

    /// Those that the import adds.
    pub(super) fn new_ones(&self) -> impl Iterator<Item = &FieldDefinition> {
        self.given.iter().filter(|field| self.kept().iter().all(|kept| kept.name != field.name))
    }

    /// All fields after the import; `None` if they stay as they are.
    pub(super) fn all(&self) -> Option<Vec<FieldDefinition>> {
        let new: Vec<_> = self.new_ones().cloned().collect();
        (!new.is_empty()).then(|| [self.kept(), &new].concat())
    }

    fn kept(&self) -> &[FieldDefinition] {
        if self.are_kept { self.present.all() } else { &[] }
    }
}
