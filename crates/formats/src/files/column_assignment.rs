//! Assigns the columns of a file to the members and fields of an animal.

use petstore_domain::{store_area::FieldDefinition, text::heading_key};

use super::{
    headings::{AmbiguousHeading, KnownHeadings, MEMBERS},
    mapping::Mapping,
    pet_columns::quote_beginning,
};
use crate::cells::trim_cell;

/// The maximum number of headings that an error lists.
const MAX_HEADINGS_IN_MESSAGE: usize = 50;

/// A column with the values of a field.
#[derive(Debug, Clone)]
pub(super) struct FieldColumn {
    pub(super) position: usize,
    pub(super) field: FieldDefinition,
}

/// The columns that were assigned to names, and the other columns.
pub(super) struct Assignment<'t> {
    /// The names of members and fields: see [`KnownHeadings`].
    names: &'t [String],
    /// The column of each name, in the order of `names`.
    columns: Vec<Option<usize>>,
    /// The headings of the columns that are not read: they belong to no name, or another column is
    /// read in their place.
    pub(super) unread: Vec<&'t str>,
    /// The columns without a heading.
    pub(super) blank: Vec<usize>,
}

impl Assignment<'_> {
    /// Returns the column that is assigned to the name of a member or field.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        let name_index = self.names.iter().position(|other| other == name)?;
        self.columns[name_index]
    }

    /// Returns the columns that are assigned to fields.
    pub(super) fn field_columns(&self, fields: &[FieldDefinition]) -> Vec<FieldColumn> {
        let mut columns = Vec::new();
        for field in fields {
            // A column with such a name has the values of the member, not of the field.
            let name = field.name.as_str();
            if MEMBERS.contains(&name) {
                continue;
            }
            if let Some(position) = self.column(name) {
                columns.push(FieldColumn {
                    position,
                    field: field.clone(),
                });
            }
        }
        columns
    }
}

/// Assigns the columns of a header to names: first the columns that a mapping names, then the other
/// columns by their headings.
///
/// Rejects two columns for one name, unless a mapping chose one of two columns with equal headings.
/// The error is a message about the header or a mapping.
pub(super) fn assign_columns<'t>(
    headings: &[&'t str],
    mappings: &[Mapping],
    known: &'t KnownHeadings,
) -> Result<Assignment<'t>, String> {
    let mut assignment = Assignment {
        names: known.names(),
        columns: vec![None; known.names().len()],
        unread: Vec::new(),
        blank: Vec::new(),
    };
    let mapped_columns = assignment.assign_mapped(headings, mappings, known)?;
    assignment.assign_known(headings, &mapped_columns, known)?;
    Ok(assignment)
}

impl<'t> Assignment<'t> {
    /// Assigns the columns that mappings name, and returns them.
    fn assign_mapped(
        &mut self,
        headings: &[&str],
        mappings: &[Mapping],
        known: &KnownHeadings,
    ) -> Result<Vec<usize>, String> {
        let mut mapped_columns = Vec::new();
        for mapping in mappings {
            let column = find_mapped_column(headings, &mapping.heading)?;
            let name_index = find_mapped_name(known, &mapping.name)?;
            self.columns[name_index] = Some(column);
            mapped_columns.push(column);
        }
        Ok(mapped_columns)
    }

    /// Assigns the columns that no mapping names, by their headings. Also records the columns
    /// without a heading, and those whose heading is unknown. `mapped_columns` are already assigned.
    fn assign_known(
        &mut self,
        headings: &[&'t str],
        mapped_columns: &[usize],
        known: &KnownHeadings,
    ) -> Result<(), String> {
        for (column, &heading) in headings.iter().enumerate() {
            if mapped_columns.contains(&column) {
                continue;
            }
            if trim_cell(heading).is_empty() {
                self.blank.push(column);
                continue;
            }
            let name_index = known
                .find_position(heading)
                .map_err(|ambiguous| ambiguous_heading_error(heading, &ambiguous))?;
            match name_index {
                Some(name_index) => {
                    self.assign_column(headings, column, name_index, mapped_columns)?;
                }
                None => self.unread.push(heading),
            }
        }
        Ok(())
    }

    /// Assigns a column to the name with this index. Fails if the name already has another column.
    ///
    /// There is one exception: if a mapping has chosen one of several columns with equal headings,
    /// the other columns are not read.
    fn assign_column(
        &mut self,
        headings: &[&'t str],
        column: usize,
        name_index: usize,
        mapped_columns: &[usize],
    ) -> Result<(), String> {
        let Some(assigned_column) = self.columns[name_index] else {
            self.columns[name_index] = Some(column);
            return Ok(());
        };
        let heading = headings[column];
        let is_chosen_by_mapping = mapped_columns.contains(&assigned_column)
            && heading_key(headings[assigned_column]) == heading_key(heading);
        if is_chosen_by_mapping {
            self.unread.push(heading);
            return Ok(());
        }
        let columns = [assigned_column, column];
        let name = &self.names[name_index];
        Err(repeated_column_error(headings, columns, name))
    }
}

/// Returns the column that a mapping names by its heading, regardless of upper and lower case. If
/// several columns have the heading, the mapping also has a number: `Name#2` is the second column
/// with the heading `Name`.
fn find_mapped_column(headings: &[&str], heading: &str) -> Result<usize, String> {
    let exact_columns = columns_where(headings, |text| trim_cell(text) == trim_cell(heading));
    let columns = if exact_columns.is_empty() {
        let key = heading_key(heading);
        columns_where(headings, |text| heading_key(text) == key)
    } else {
        exact_columns
    };
    match *columns {
        [column] => Ok(column),
        [] => find_numbered_column(headings, heading).ok_or_else(|| {
            format!(
                "the header has no column {heading:?}, which --map names; it has {}",
                list_headings(headings, quote_beginning)
            )
        }),
        _ => Err(format!(
            "the column {heading:?}, which --map names, appears {} times; write '{heading}#1' for the first of \
             them, or '{heading}#2' for the second",
            columns.len()
        )),
    }
}

/// Returns the positions of all columns whose heading satisfies `is_wanted`.
fn columns_where(headings: &[&str], is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    let mut columns = Vec::new();
    for (column, text) in headings.iter().enumerate() {
        if is_wanted(text) {
            columns.push(column);
        }
    }
    columns
}

/// Returns the column that a mapping names by a heading and a number: `Name#2` is the second column
/// with the heading `Name`.
fn find_numbered_column(headings: &[&str], heading: &str) -> Option<usize> {
    let (heading, number) = heading.rsplit_once('#')?;
    let number: usize = number.trim().parse().ok()?;
    let key = heading_key(heading);
    let columns = columns_where(headings, |text| heading_key(text) == key);
    columns.get(number.checked_sub(1)?).copied()
}

/// Returns the index of the member or field with the name that a mapping has.
fn find_mapped_name(known: &KnownHeadings, name: &str) -> Result<usize, String> {
    known
        .names()
        .iter()
        .position(|known_name| known_name == name)
        .ok_or_else(|| {
            format!(
                "--map names {name:?}, which is no field of the store; names: {}",
                known.names().join(", ")
            )
        })
}

/// Returns the error for a heading that can mean two names.
fn ambiguous_heading_error(heading: &str, ambiguous: &AmbiguousHeading) -> String {
    let [first, second] = &ambiguous.names;
    format!(
        "the column {heading:?} can be {first} or {second}; say which with --map '{heading}={first}'"
    )
}

/// Returns the error for two columns that mean the same name.
fn repeated_column_error(headings: &[&str], mut columns: [usize; 2], name: &str) -> String {
    columns.sort_unstable();
    let [first, second] = columns.map(|column| headings[column]);
    if first == second {
        return format!(
            "the column {first:?} appears twice; say which one is {name} with --map '{first}#1={name}' or --map \
             '{first}#2={name}', and leave out the other with --ignore-unknown-columns"
        );
    }
    format!("both {first:?} and {second:?} are the column {name}; remove one of them")
}

/// Lists the first [`MAX_HEADINGS_IN_MESSAGE`] headings, each as `show` displays it, and says how
/// many more there are.
pub(super) fn list_headings(headings: &[&str], show: impl Fn(&str) -> String) -> String {
    let first_headings: Vec<String> = headings
        .iter()
        .take(MAX_HEADINGS_IN_MESSAGE)
        .map(|heading| show(heading))
        .collect();
    let list = first_headings.join(", ");
    match headings.len().saturating_sub(MAX_HEADINGS_IN_MESSAGE) {
        0 => list,
        other_count => format!("{list} and {other_count} more"),
    }
}
