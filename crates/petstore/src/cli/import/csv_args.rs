//! The options for CSV files.

use clap::Args;
use petstore_domain::{
    Clock, SystemClock,
    store_area::{FieldDefinition, Language, Profile},
};
use petstore_formats::files::{CsvOptions, Mapping, Rows, Separator, quote_beginning};
use petstore_languages::table_words;

use crate::cli::{args::BadSetting, output::print_message, values};

/// The options for the headings and the separator of a CSV file.
#[derive(Debug, Args)]
pub(super) struct CsvArgs {
    /// A column of a CSV file that has another name there, such as 'Animal
    /// Name=name'; the second of two equal headings is 'Name#2'; can be repeated;
    /// the variable has one on each line
    #[arg(
        long,
        value_name = "HEADING=NAME",
        env = "PETSTORE_IMPORT_MAP",
        value_delimiter = '\n'
    )]
    map: Vec<Mapping>,

    /// Ignore the columns of a CSV file that petstore does not know
    #[arg(long, env = "PETSTORE_IMPORT_IGNORE_UNKNOWN_COLUMNS", value_parser = values::parse_boolean)]
    ignore_unknown_columns: bool,

    /// The character between the fields of a CSV file; by default, the one that its
    /// first line has
    #[arg(long, value_parser = values::one_of(&Separator::ALL), env = "PETSTORE_IMPORT_SEPARATOR")]
    separator: Option<Separator>,
}

impl CsvArgs {
    /// Whether at least one option is set.
    pub(super) fn are_given(&self) -> bool {
        !self.map.is_empty() || self.ignore_unknown_columns || self.separator.is_some()
    }

    /// Checks that the mappings do not conflict.
    pub(super) fn check(&self) -> Result<(), BadSetting> {
        match Mapping::find_conflict(&self.map) {
            Some(conflict) => Err(BadSetting(conflict)),
            None => Ok(()),
        }
    }

    /// Returns the options for the reader of a CSV file, for a store with these fields and this
    /// profile. The caller adds the categories of the store.
    pub(super) fn build_options(
        &self,
        fields: &[FieldDefinition],
        profile: &Profile,
    ) -> CsvOptions {
        let language = profile.language.unwrap_or(Language::English);
        let zone = profile.time_zone.clone().unwrap_or_default();
        let today = zone.day_of(SystemClock.now());
        CsvOptions {
            mappings: self.map.clone(),
            ignores_unknown_columns: self.ignore_unknown_columns,
            separator: self.separator,
            currency: profile.currency.clone(),
            ..CsvOptions::new(fields.to_vec(), table_words(language), today)
        }
    }
}

/// Prints which rows above the header and which columns of a file are left out.
pub(super) fn print_left_out(rows: &dyn Rows) {
    let titles: Vec<String> = rows
        .titles()
        .iter()
        .map(|title| quote_beginning(title))
        .collect();
    if !titles.is_empty() {
        print_message(&format!(
            "Rows above the header that are left out: {}.",
            titles.join(", ")
        ));
    }
    if let Some(columns) = rows.ignored_columns() {
        print_message(&format!("Columns that are left out: {columns}."));
    }
}
