//! The options of an import for the headings of a CSV file.

use clap::Args;

use super::{args::BadSetting, values};
use crate::{
    domain::store_area::FieldDefinition,
    files::{Headings, Labels, Mapping},
};

/// The meaning of the headings of a CSV file.
#[derive(Debug, Args)]
pub(super) struct HeadingArgs {
    /// A column of a CSV file that has another name there, such as 'Animal
    /// Name=name'; can be repeated; the variable has one on each line
    #[arg(long, value_name = "HEADING=NAME", env = "PETSTORE_IMPORT_MAP", value_delimiter = '\n')]
    map: Vec<Mapping>,

    /// Ignore the columns of a CSV file that petstore does not know
    #[arg(long, env = "PETSTORE_IMPORT_IGNORE_UNKNOWN_COLUMNS", value_parser = values::switch)]
    ignore_unknown_columns: bool,
}

impl HeadingArgs {
    pub(super) fn are_given(&self) -> bool {
        !self.map.is_empty() || self.ignore_unknown_columns
    }

    pub(super) fn check(&self) -> Result<(), BadSetting> {
        Mapping::conflict(&self.map).map_or(Ok(()), |conflict| Err(BadSetting(conflict)))
    }

    pub(super) fn headings(&self, fields: Vec<FieldDefinition>, labels: Labels) -> Headings {
        let (mapped, ignores_unknown) = (self.map.clone(), self.ignore_unknown_columns);
        Headings { fields, labels, mapped, ignores_unknown }
    }
}
