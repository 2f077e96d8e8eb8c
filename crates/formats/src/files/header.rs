//! The header of a CSV file, which names the member or field of an animal in each column.

use petstore_domain::store_area::FieldDefinition;

use super::{
    column_assignment::{Assignment, FieldColumn, assign_columns, list_headings},
    csv_options::CsvOptions,
    headings::KnownHeadings,
    pet_columns::{CATEGORY, CATEGORY_ID, ID, LISTED, NAME, SPECIES, STATUS, quote_beginning},
};
use crate::cells::trim_cell;

/// How similar a heading and a name must be for an error to suggest the name, from 0 to 1. 1 means
/// that they are equal.
const MIN_SIMILARITY: f64 = 0.5;

/// The columns of a CSV file. Each is identified by its position in a record, from 0.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    /// The headings of all columns, for messages.
    pub(super) headings: Vec<String>,
    /// The column with the name of an animal.
    pub(super) name: usize,
    /// The column with the category. It is `None` if the species decides the category.
    pub(super) category: Option<usize>,
    /// Whether the column with the category has labels rather than ids. True without such a column.
    pub(super) has_labels: bool,
    /// The column with the status.
    pub(super) status: Option<usize>,
    /// The column that says whether the window, the public pages of the store, may show an animal.
    pub(super) listed: Option<usize>,
    /// The column with the id. It is `None` if ids are not read.
    pub(super) id: Option<usize>,
    /// The columns with the values of fields.
    pub(super) fields: Vec<FieldColumn>,
    /// The columns that must be empty, because they have no heading. There are none if unknown
    /// columns are ignored.
    pub(super) must_be_empty: Vec<usize>,
    /// A list of the headings of the columns that are not read, for a message.
    pub(super) ignored: String,
}

impl Columns {
    /// Assigns the columns of a header to the members and fields of an animal. The error says what
    /// is wrong with the header.
    ///
    /// In the header `Name,Category ID,Breed`, the name is column 0, the id of the category is
    /// column 1, and a field with the name or the label `breed` is column 2.
    pub(super) fn from_header(
        header: &[&str],
        with_ids: bool,
        options: &CsvOptions,
        known: &KnownHeadings,
    ) -> Result<Self, String> {
        let mut assignment = assign_columns(header, &options.mappings, known)?;
        let category_id_column = assignment.column(CATEGORY_ID);
        let label_column = find_label_column(&assignment, options);
        // The id decides, so the label is not read.
        if let (Some(_), Some(label_column)) = (category_id_column, label_column) {
            assignment.unread.push(header[label_column]);
        }
        if options.ignores_unknown_columns {
            assignment.blank.clear();
        } else {
            assignment.reject_unread(known)?;
        }
        let id = if with_ids {
            Some(assignment.require(ID)?)
        } else {
            None
        };
        let name = assignment.require(NAME)?;
        let category = category_id_column.or(label_column);
        assignment.check_category(category)?;

        let headings = header.iter().map(|text| trim_cell(text).to_owned());
        Ok(Self {
            headings: headings.collect(),
            name,
            category,
            has_labels: category_id_column.is_none(),
            status: assignment.column(STATUS),
            listed: assignment.column(LISTED),
            id,
            fields: assignment.field_columns(&options.fields),
            ignored: list_headings(&assignment.unread, quote_beginning),
            must_be_empty: assignment.blank,
        })
    }

    /// Returns the column with the species.
    pub(super) fn species(&self) -> Option<usize> {
        let column = self.field_column(SPECIES)?;
        Some(column.position)
    }

    /// Returns the column with the values of a field.
    pub(super) fn field_column(&self, field: &str) -> Option<&FieldColumn> {
        self.fields
            .iter()
            .find(|column| column.field.name.as_str() == field)
    }

    /// Returns the heading of the column of a field, or the name of the field if it has no column.
    pub(super) fn field_heading(&self, field: &str) -> String {
        match self.field_column(field) {
            Some(column) => self.headings[column.position].clone(),
            None => field.to_owned(),
        }
    }
}

/// Returns the column with the labels of categories. Returns `None` if the store has a field with
/// the name `category`: the column then has the values of this field.
fn find_label_column(assignment: &Assignment<'_>, options: &CsvOptions) -> Option<usize> {
    let is_field = options.fields.iter().any(is_category_field);
    if is_field {
        None
    } else {
        assignment.column(CATEGORY)
    }
}

impl Assignment<'_> {
    /// Returns the column that is assigned to the name of a member. Fails if there is none.
    fn require(&self, name: &str) -> Result<usize, String> {
        self.column(name).ok_or_else(|| missing_column_error(name))
    }

    /// Rejects columns that are not read, because their values would be lost.
    fn reject_unread(&self, known: &KnownHeadings) -> Result<(), String> {
        if self.unread.is_empty() {
            return Ok(());
        }
        Err(unknown_columns_error(self, known.names()))
    }

    /// Checks that there is a column with the category, or a column with the species that decides
    /// it.
    fn check_category(&self, category: Option<usize>) -> Result<(), String> {
        if category.is_none() && self.column(SPECIES).is_none() {
            return Err(missing_category_error());
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

/// Returns the error for columns that are not read. Suggests a mapping for each heading that is
/// similar to one of `names`.
fn unknown_columns_error(assignment: &Assignment<'_>, names: &[String]) -> String {
    let names_without_column: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| assignment.column(name).is_none())
        .collect();
    let columns = list_headings(&assignment.unread, |heading| {
        let quoted_heading = quote_beginning(heading);
        match most_similar_name(heading, &names_without_column) {
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

/// Returns the name that is most similar to a heading: `category` for `categorie`. Returns `None`
/// if no name is similar enough.
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
