//! The header of a CSV file, which says which column is which member of an animal.

use petstore_domain::store_area::FieldDefinition;

use super::{
    column_assignment::{Assignment, FieldColumn, assign, list_headings},
    csv_options::CsvOptions,
    headings::KnownHeadings,
    row::{CATEGORY, CATEGORY_ID, ID, LISTED, NAME, SPECIES, STATUS, quote_beginning},
};
use crate::cells::trim_cell;

/// The similarity that a heading and a name must have for an error to suggest the name: 1 for equal texts.
const MIN_SIMILARITY: f64 = 0.5;

/// The columns of a CSV file. A column is named by its position in a record, from 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// The headings of all columns, for messages.
    pub(super) headings: Vec<String>,
    pub(super) name: usize,
    /// The column of the category; `None` if the species decides.
    pub(super) category: Option<usize>,
    /// Whether the column of the category has labels and not numbers.
    pub(super) has_labels: bool,
    pub(super) status: Option<usize>,
    /// The column that says whether the window may show an animal.
    pub(super) listed: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) fields: Vec<FieldColumn>,
    /// The columns without a heading, which must be empty.
    pub(super) blank: Vec<usize>,
    /// The headings of the columns that are not read, for a message.
    pub(super) ignored: String,
}

impl Columns {
    /// Returns the columns of a header, or what is wrong with the header.
    ///
    /// In the header `Name,Category ID,Breed`, the name is column 0, the number of the category is column 1, and a field
    /// with the name or the label `breed` is column 2.
    pub(super) fn from_header(
        texts: &[&str],
        with_ids: bool,
        options: &CsvOptions,
        known: &KnownHeadings,
    ) -> Result<Self, String> {
        let mut assignment = assign(texts, &options.mappings, known)?;
        let number = assignment.column(CATEGORY_ID);
        let label = label_column(&assignment, options);
        // Of two columns with the category, only the number is read.
        if number.is_some()
            && let Some(position) = label
        {
            assignment.unknown.push(texts[position]);
        }
        assignment.check(with_ids, options.ignores_unknown, known)?;

        let category = number.or(label);
        if category.is_none() && assignment.column(SPECIES).is_none() {
            return Err(missing_category_error());
        }
        let mut columns = Self {
            headings: texts
                .iter()
                .map(|text| trim_cell(text).to_owned())
                .collect(),
            name: assignment.column(NAME).unwrap_or_default(),
            category,
            has_labels: number.is_none(),
            status: assignment.column(STATUS),
            listed: assignment.column(LISTED),
            id: None,
            fields: assignment.field_columns(&options.fields),
            blank: assignment.blank.clone(),
            ignored: list_headings(&assignment.unknown, quote_beginning),
        };
        if with_ids {
            columns.id = assignment.column(ID);
        }
        if options.ignores_unknown {
            columns.blank.clear();
        }
        Ok(columns)
    }

    /// Returns the column of the species.
    pub(super) fn species(&self) -> Option<usize> {
        let column = self.field_column(SPECIES)?;
        Some(column.position)
    }

    /// Returns the column of the field with this name.
    pub(super) fn field_column(&self, field: &str) -> Option<&FieldColumn> {
        self.fields
            .iter()
            .find(|column| column.field.name.as_str() == field)
    }

    /// Returns the heading of the column of a field, or else the name of the field.
    pub(super) fn field_heading(&self, field: &str) -> String {
        match self.field_column(field) {
            Some(column) => self.headings[column.position].clone(),
            None => field.to_owned(),
        }
    }
}

/// Returns the column with the labels of categories, unless the store has a field with this name.
fn label_column(assignment: &Assignment<'_>, options: &CsvOptions) -> Option<usize> {
    let is_field = options.fields.iter().any(is_category_field);
    if is_field {
        None
    } else {
        assignment.column(CATEGORY)
    }
}

impl Assignment<'_> {
    /// Checks that a file has its necessary columns, and no unknown ones unless they are ignored.
    fn check(
        &self,
        with_ids: bool,
        ignores_unknown: bool,
        known: &KnownHeadings,
    ) -> Result<(), String> {
        if !ignores_unknown && !self.unknown.is_empty() {
            return Err(unknown_columns_error(self, known.names()));
        }
        if with_ids && self.column(ID).is_none() {
            return Err(missing_column_error(ID));
        }
        if self.column(NAME).is_none() {
            return Err(missing_column_error(NAME));
        }
        Ok(())
    }
}

fn is_category_field(field: &FieldDefinition) -> bool {
    field.name.as_str() == CATEGORY
}

fn missing_column_error(column: &str) -> String {
    format!("the header has no column {column:?}")
}

fn missing_category_error() -> String {
    missing_column_error(CATEGORY_ID)
        + "; add it with the number of each animal's category, or add category with its label, \
           or add species, or name the column that has one of them, such as --map 'HEADING=category'"
}

/// Returns the error for columns that stand for nothing.
fn unknown_columns_error(assignment: &Assignment<'_>, names: &[String]) -> String {
    let missing_names: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| assignment.column(name).is_none())
        .collect();
    let columns = list_headings(&assignment.unknown, |heading| {
        let quoted_heading = quote_beginning(heading);
        match most_similar_name(heading, &missing_names) {
            Some(name) => format!("{quoted_heading} (perhaps --map '{heading}={name}')"),
            None => quoted_heading,
        }
    });
    format!(
        "the header has unknown columns: {columns}; petstore reads {}. Name each column with --map \
         'HEADING=NAME', or leave them out with --ignore-unknown-columns",
        names.join(", ")
    )
}

/// Returns the name that a heading such as `categorie` probably stands for, if one is similar enough.
fn most_similar_name<'n>(heading: &str, names: &[&'n str]) -> Option<&'n str> {
    let heading = heading.to_lowercase();
    let mut best_name = None;
    let mut best_similarity = MIN_SIMILARITY;
    for &name in names {
        let similarity = strsim::sorensen_dice(&heading, &name.to_lowercase());
        if similarity >= best_similarity {
            best_name = Some(name);
            best_similarity = similarity;
        }
    }
    best_name
}
