//! The options for reading a CSV file.

use jiff::civil::Date;
use petstore_domain::{
    store_area::{Currency, FieldDefinition},
    text::heading_key,
};

use super::{categories::Categories, mapping::Mapping, separator::Separator};
use crate::cells::{CellReader, TableWords};

/// What a reader of CSV files needs to know: facts about the store, and what the person who imports
/// the file has chosen.
#[derive(Debug, Clone)]
pub struct CsvOptions {
    /// The fields of the store. A heading can be the name or the label of a field.
    pub fields: Vec<FieldDefinition>,
    /// The categories of the store.
    pub categories: Categories,
    /// The words for values and headings in all languages.
    pub words: &'static TableWords,
    /// The currency of the store.
    pub currency: Option<Currency>,
    /// The day to which ages in the file refer.
    pub today: Date,
    /// The headings of the file for which somebody has named the member or field.
    pub mappings: Vec<Mapping>,
    /// Whether columns with unknown headings are ignored.
    pub ignores_unknown_columns: bool,
    /// The separator that somebody chose. Without one, the separator is detected.
    pub separator: Option<Separator>,
}

impl CsvOptions {
    /// Creates the options for a store without categories and without a currency, with defaults for
    /// the file.
    pub fn new(fields: Vec<FieldDefinition>, words: &'static TableWords, today: Date) -> Self {
        Self {
            fields,
            categories: Categories::default(),
            words,
            currency: None,
            today,
            mappings: Vec::new(),
            ignores_unknown_columns: false,
            separator: None,
        }
    }

    /// Whether a mapping names this heading, regardless of upper and lower case.
    pub(super) fn has_mapping_for(&self, heading: &str) -> bool {
        let key = heading_key(heading);
        self.mappings
            .iter()
            .any(|mapping| heading_key(&mapping.heading) == key)
    }

    /// Returns the parser of cells.
    pub(super) fn cell_reader(&self) -> CellReader<'_> {
        CellReader {
            words: self.words,
            currency: self.currency.as_ref(),
            today: self.today,
        }
    }
}
