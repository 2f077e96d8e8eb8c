//! Assigns the columns of a file to the members and fields of an animal.

use petstore_domain::{store_area::FieldDefinition, text::heading_key};

use super::{
    headings::{AmbiguousHeading, KnownHeadings, MEMBERS},
    mapping::Mapping,
    row::quote_beginning,
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
    /// The headings of the columns that belong to no name.
    pub(super) unknown: Vec<&'t str>,
    /// The columns without a heading.
    pub(super) blank: Vec<usize>,
}

impl Assignment<'_> {
    /// Returns the column that is assigned to the name of a member or field.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        let index = self.names.iter().position(|known| known == name)?;
        self.columns[index]
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

/// Assigns the columns of a header to names: first the columns that a mapping names, then the
/// others by their headings.
///
/// Rejects two columns for one name, unless a mapping chose one of two columns with equal headings.
pub(super) fn assign<'t>(
    headings: &[&'t str],
    mappings: &[Mapping],
    known: &'t KnownHeadings,
) -> Result<Assignment<'t>, String> {
    let mut assignment = Assignment {
        names: known.names(),
        columns: vec![None; known.names().len()],
        unknown: Vec::new(),
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

    /// Assigns the columns that no mapping names, by their headings.
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
                .position(heading)
                .map_err(|ambiguous| ambiguous_heading_error(heading, &ambiguous))?;
            let Some(name_index) = name_index else {
                self.unknown.push(heading);
                continue;
            };
            let Some(first_column) = self.columns[name_index] else {
                self.columns[name_index] = Some(column);
                continue;
            };
            // If a mapping has chosen one of several columns with equal headings, the others are
            // not read.
            let is_chosen_by_mapping = mapped_columns.contains(&first_column)
                && heading_key(headings[first_column]) == heading_key(heading);
            if !is_chosen_by_mapping {
                // A mapped column can come after this one.
                let columns = [first_column.min(column), first_column.max(column)];
                let repeated = columns.map(|column| headings[column]);
                let name = &known.names()[name_index];
                return Err(repeated_column_error(repeated, name));
            }
            self.unknown.push(heading);
        }
        Ok(())
    }
}

/// Returns the column that a mapping names by its heading, in any case. If several columns have the
/// heading, the mapping also has a number: `Name#2` is the second column with the heading `Name`.
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

/// Returns the index of the name of a member or field that a mapping has.
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

fn ambiguous_heading_error(heading: &str, ambiguous: &AmbiguousHeading) -> String {
    let [first, second] = &ambiguous.names;
    format!(
        "the column {heading:?} can be {first} or {second}; say which with --map '{heading}={first}'"
    )
}

fn repeated_column_error([first_text, text]: [&str; 2], name: &str) -> String {
    if first_text == text {
        return format!(
            "the column {text:?} appears twice; say which one is {name} with --map '{text}#1={name}' or --map \
             '{text}#2={name}', and leave out the other with --ignore-unknown-columns"
        );
    }
    format!("both {first_text:?} and {text:?} are the column {name}; remove one of them")
}

/// Lists the first headings, each as `show` displays it, and says how many more there are.
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
