//! What to do when a database is opened.

use std::collections::BTreeMap;

use petstore_domain::store_area::FieldLabels;

/// How to treat a database that does not exist, or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create a missing database, and migrate an older one. Only `petstore serve` does this:
    /// otherwise a command could change the schema under a running service.
    CreateAndMigrate,
    /// The same, and the fields of a database that was missing get these labels.
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

    /// The labels for the fields of a new database, if they are not those of the schema: label, labels of
    /// choices as JSON, and name, as [`SET_LABELS`] has them.
    pub fn labels(self) -> impl Iterator<Item = (&'static str, Option<String>, &'static str)> {
        let all = if let Self::CreateLabelled(labels) = self {
            labels
        } else {
            &[]
        };
        all.iter().map(
            |FieldLabels {
                 name,
                 label,
                 choices,
             }| {
                let labels: BTreeMap<_, _> = choices.iter().copied().collect();
                let labels = (!labels.is_empty()).then(|| serde_json::json!(labels).to_string());
                (*label, labels, *name)
            },
        )
    }
}

/// For both stores.
pub const SET_LABELS: &str = "UPDATE fields SET label = $1, choice_labels = $2 WHERE name = $3";
