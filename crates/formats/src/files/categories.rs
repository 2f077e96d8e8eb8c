//! The categories of a store, which a file names by their ids, their labels or a species.

use std::{collections::BTreeMap, ops::ControlFlow};

use petstore_domain::text::comparison_key;

use super::pet_columns::quote_beginning;
use crate::cells::parse_integer_cell;

/// The maximum number of labels that are kept in memory.
const MAX_LABELS: usize = 10_000;

/// The maximum number of labels that a message lists.
const MAX_LABELS_IN_MESSAGE: usize = 10;

/// The advice in a message if labels cannot identify the categories of a file.
const ADVICE: &str = "use a column categoryId with numbers";

/// The categories of a store. Has no labels if there are too many for memory.
#[derive(Debug, Clone, Default)]
pub struct Categories {
    /// The categories, by the [`comparison_key`] of their labels.
    by_label: BTreeMap<String, LabelledCategories>,
    /// The category of each species, for animals without a category in the file.
    by_species: BTreeMap<String, i64>,
}

/// The categories that share one label.
#[derive(Debug, Clone, Default)]
struct LabelledCategories {
    /// The label, spelled as in the category that was added last.
    label: String,
    ids: Vec<i64>,
}

impl Categories {
    /// Adds a category. If there are too many labels, forgets all of them, and returns
    /// [`ControlFlow::Break`].
    pub fn add(&mut self, id: i64, label: &str) -> ControlFlow<()> {
        let labelled = self.by_label.entry(comparison_key(label)).or_default();
        label.clone_into(&mut labelled.label);
        labelled.ids.push(id);
        if self.by_label.len() <= MAX_LABELS {
            return ControlFlow::Continue(());
        }
        self.by_label.clear();
        ControlFlow::Break(())
    }

    /// Returns the ids of the categories with this label, regardless of upper and lower case.
    pub fn with_label(&self, label: &str) -> &[i64] {
        match self.by_label.get(&comparison_key(label)) {
            Some(labelled) => &labelled.ids,
            None => &[],
        }
    }

    /// Sets the category of animals of this species that have no category in the file.
    pub fn set_species_category(&mut self, species: &str, id: i64) {
        self.by_species.insert(species.to_owned(), id);
    }

    /// Returns the category of animals of this species that have no category in the file.
    pub(super) fn species_category(&self, species: &str) -> Option<i64> {
        self.by_species.get(species).copied()
    }

    /// Returns the id of the category that a text names by its label or its id. The error says what
    /// is wrong with the text.
    pub(super) fn find(&self, text: &str) -> Result<i64, String> {
        let quoted_text = quote_beginning(text);
        match self.with_label(text) {
            [id] => Ok(*id),
            [first, second, ..] => Err(format!(
                "{quoted_text} is the label of the categories {first} and {second}; {ADVICE}"
            )),
            [] => self
                .find_number(text)
                .ok_or_else(|| self.describe_unknown_label(&quoted_text)),
        }
    }

    /// Parses the id of a category. Returns `None` if the text is not an integer, or if no category
    /// has this id.
    fn find_number(&self, text: &str) -> Option<i64> {
        let number = parse_integer_cell(text)?;
        let is_known = self
            .by_label
            .values()
            .any(|labelled| labelled.ids.contains(&number));
        if is_known { Some(number) } else { None }
    }

    /// Describes the problem of a text that names no category.
    fn describe_unknown_label(&self, quoted_text: &str) -> String {
        if self.by_label.is_empty() {
            return format!(
                "must be the label of a category, but there are none, or too many; {ADVICE}"
            );
        }
        let examples: Vec<String> = self
            .by_label
            .values()
            .take(MAX_LABELS_IN_MESSAGE)
            .map(|labelled| quote_beginning(&labelled.label))
            .collect();
        format!(
            "must be a label of a category, such as {}, but was {quoted_text}",
            examples.join(", ")
        )
    }
}
