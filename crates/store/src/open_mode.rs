//! What to do with a missing or older database when it is opened.

use std::collections::BTreeMap;

use petstore_domain::store_area::FieldLabels;

/// What to do with a database that does not exist or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create a missing database, and migrate an older one. Only `petstore serve` does this,
    /// because any other command could change the schema under a running service.
    CreateAndMigrate,
    /// Like [`Self::CreateAndMigrate`], but the fields of a newly created database get these
    /// labels, for example in the language of the store.
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

    /// Returns the labels of a new database: one item for each field whose label must differ from
    /// the label in the schema.
    pub fn labels(self) -> impl Iterator<Item = LabelParameters> {
        let labelled_fields = match self {
            Self::CreateLabelled(fields) => fields,
            Self::CreateAndMigrate | Self::Create | Self::AsIs => &[],
        };
        labelled_fields.iter().map(LabelParameters::from)
    }
}

/// The parameters of [`SET_LABELS`], in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelParameters {
    /// The label of the field.
    pub label: &'static str,
    /// A JSON object with the label of each choice that has one; `None` if no choice has a label.
    pub choice_labels_json: Option<String>,
    /// The name of the field.
    pub name: &'static str,
}

impl From<&'static FieldLabels> for LabelParameters {
    /// Renders the labels of a field and of its choices as parameters.
    fn from(field: &'static FieldLabels) -> Self {
        let labels_by_choice: BTreeMap<_, _> = field.choices.iter().copied().collect();
        let choice_labels_json = if labels_by_choice.is_empty() {
            None
        } else {
            Some(serde_json::json!(labels_by_choice).to_string())
        };
        Self {
            label: field.label,
            choice_labels_json,
            name: field.name,
        }
    }
}

/// Sets the labels of a field and of its choices in a new database. See [`LabelParameters`].
pub const SET_LABELS: &str = "UPDATE fields SET label = $1, choice_labels = $2 WHERE name = $3";
