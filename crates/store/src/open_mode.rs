//! The treatment of a database that is opened.

use std::collections::BTreeMap;

use petstore_domain::store_area::FieldLabels;

/// The treatment of a database that does not exist, or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create a missing database, and migrate an older one. Only `petstore serve` does this:
    /// otherwise a command could change the schema under a running service.
    CreateAndMigrate,
    /// Create and migrate as [`Self::CreateAndMigrate`], and give these labels to the fields of a database that was
    /// missing.
    CreateLabelled(&'static [FieldLabels]),
    /// Create a missing database, and reject an older one.
    Create,
    /// Reject a missing database, and an older one.
    AsIs,
}

impl OpenMode {
    /// Whether an older database is migrated.
    pub fn may_migrate(self) -> bool {
        matches!(self, Self::CreateAndMigrate | Self::CreateLabelled(_))
    }

    /// Returns the parameters of [`SET_LABELS`] for each field of a new database whose label is not the label of the
    /// schema: the label, the labels of the choices as JSON, and the name of the field.
    pub fn labels(self) -> impl Iterator<Item = (&'static str, Option<String>, &'static str)> {
        let labelled_fields = match self {
            Self::CreateLabelled(labels) => labels,
            _ => &[],
        };
        labelled_fields.iter().map(|field| {
            let choice_labels: BTreeMap<_, _> = field.choices.iter().copied().collect();
            let choice_labels_json = if choice_labels.is_empty() {
                None
            } else {
                Some(serde_json::json!(choice_labels).to_string())
            };
            (field.label, choice_labels_json, field.name)
        })
    }
}

/// Sets the label and the labels of the choices of a field of a new database, in both stores.
pub const SET_LABELS: &str = "UPDATE fields SET label = $1, choice_labels = $2 WHERE name = $3";
