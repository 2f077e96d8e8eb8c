//! The options of a reader of CSV files.

use jiff::civil::Date;
use petstore_domain::{
    store_area::{Currency, FieldDefinition},
    text::heading_key,
};

use super::{categories::Categories, mapping::Mapping, separator::Separator};
use crate::cells::{CellReader, TableWords};

/// The facts about a store and a file that a reader of CSV files needs.
#[derive(Debug, Clone)]
pub struct CsvOptions {
    /// The fields of the store: a heading can be the name or the label of one.
    pub fields: Vec<FieldDefinition>,
    /// The categories of the store.
    pub categories: Categories,
    /// The words of cells and headings.
    pub words: &'static TableWords,
    /// The currency of the store.
    pub currency: Option<Currency>,
    /// The day on which animals have the ages in the file.
    pub today: Date,
    /// Headings of the file that stand for a member.
    pub mappings: Vec<Mapping>,
    /// Whether columns with other headings are ignored.
    pub ignores_unknown: bool,
    /// The separator that was chosen; `None` to find it.
    pub separator: Option<Separator>,
}

impl CsvOptions {
    /// Returns the options for a store without categories, for a file that needs no further ones.
    pub fn new(fields: Vec<FieldDefinition>, words: &'static TableWords, today: Date) -> Self {
        Self {
            fields,
            categories: Categories::default(),
            words,
            currency: None,
            today,
            mappings: Vec::new(),
            ignores_unknown: false,
            separator: None,
        }
    }

    /// Whether a mapping has this heading.
    pub(super) fn maps(&self, heading: &str) -> bool {
        let key = heading_key(heading);
        self.mappings
            .iter()
            .any(|mapping| heading_key(&mapping.heading) == key)
    }

    /// Returns the reader of cells.
    pub(super) fn cell_reader(&self) -> CellReader<'_> {
        CellReader {
            words: self.words,
            currency: self.currency.as_ref(),
            today: self.today,
        }
    }
}
