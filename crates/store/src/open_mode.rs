//! What to do with a missing or older database when it is opened.

use std::collections::BTreeMap;

use petstore_domain::store_area::FieldLabels;

/// What to do with a database that does not exist or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create a missing database, and migrate an older one. Only `petstore serve` does this,
    /// because any other command could change the schema under a running service.
    CreateAndMigrate,
    /// Create and migrate as [`Self::CreateAndMigrate`]. The fields of a newly created database get
    /// these labels, for example in the language of the store.
    CreateLabelled(&'static [FieldLabels]),
    /// Create a missing database, but reject an older one.
    Create,
    /// Reject both a missing and an older database.
    AsIs,
}

impl OpenMode {
    /// Whether opening migrates an older database.
    pub fn may_migrate(self) -> bool {
        matches!(self, Self::CreateAndMigrate | Self::CreateLabelled(_))
    }

    /// Returns the parameters of [`SET_LABELS`] for each field of a new database whose label must
    /// differ from the label in the schema: its label, the labels of its choices as JSON, and its
    /// name.
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

/// Sets the label of a field and of its choices in a new database, in both stores.
pub const SET_LABELS: &str = "UPDATE fields SET label = $1, choice_labels = $2 WHERE name = $3";
