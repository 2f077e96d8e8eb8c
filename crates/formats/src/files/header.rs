//! The header of a CSV file, which says which column is which member of an animal.

use std::str::FromStr;

use csv::ByteRecord;
use petstore_domain::{
    store_area::{FieldDefinition, FieldName},
    text,
};

use super::row::{CATEGORY, CATEGORY_ID, ID, Labels, NAME, STATUS, quote_beginning};

/// The members of an animal that a file can have, in the order of [`Columns::from_header`].
const MEMBERS: [&str; 4] = [NAME, CATEGORY_ID, STATUS, ID];

/// The maximum number of headings in an error.
const MAX_HEADINGS_IN_MESSAGE: usize = 50;

/// The similarity that a heading and a name must have for an error to suggest the name: 1 for equal texts.
const MIN_SIMILARITY: f64 = 0.5;

/// The meaning of the headings of a CSV file, besides the names of members.
#[derive(Debug, Clone, Default)]
pub struct Headings {
    /// The fields of the store: a heading can be the name or the label of one.
    pub fields: Vec<FieldDefinition>,
    /// The labels of the categories of the store, for a column `category`.
    pub labels: Labels,
    /// Headings of the file that stand for a member.
    pub mappings: Vec<Mapping>,
    /// Whether columns with other headings are ignored.
    pub ignores_unknown: bool,
}

/// A heading, and the member that it stands for, such as `Animal Name=name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    heading: String,
    name: String,
}

impl Mapping {
    /// Returns the problem of mappings that cannot be used together, if they have one.
    pub fn conflict(mappings: &[Self]) -> Option<String> {
        for (index, mapping) in mappings.iter().enumerate() {
            let earlier = &mappings[..index];
            let is_name_repeated = earlier.iter().any(|other| other.name == mapping.name);
            let is_heading_repeated = earlier.iter().any(|other| other.heading == mapping.heading);
            let repeated_text = if is_name_repeated {
                &mapping.name
            } else if is_heading_repeated {
                &mapping.heading
            } else {
                continue;
            };
            return Some(format!(
                "--map has {repeated_text:?} twice; a column has one name, and a name has one column"
            ));
        }
        None
    }
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = "name, categoryId, category, status, id, and those of the store's fields";
        let (heading, name) = text.rsplit_once('=').ok_or_else(|| {
            format!("write HEADING=NAME, such as 'Animal Name=name'; the names are {names}")
        })?;
        let name_key = text::heading_key(name);
        let member = MEMBERS
            .into_iter()
            .find(|member| text::heading_key(member) == name_key);
        if member.is_none() && FieldName::new(name).is_none() {
            return Err(format!("{name:?} is not one of the names: {names}"));
        }
        Ok(Self {
            heading: heading.to_owned(),
            name: member.unwrap_or(name).to_owned(),
        })
    }
}

/// The columns of a CSV file. A column is named by its position in a record, from 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// The headings of all columns, for messages.
    pub(super) headings: Vec<String>,
    pub(super) name: usize,
    pub(super) category: usize,
    /// The categories by their labels, if the column of the category has labels and not numbers.
    pub(super) labels: Option<Labels>,
    pub(super) status: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) fields: Vec<FieldColumn>,
    /// The headings of the columns that are not read, for a message.
    pub(super) ignored: String,
}

/// The column of a field.
#[derive(Debug, Clone)]
pub(super) struct FieldColumn {
    pub(super) position: usize,
    pub(super) field: FieldDefinition,
}

impl Columns {
    /// Returns the columns of a header, or what is wrong with the header.
    ///
    /// In the header `Name,Category ID,Breed`, the name is column 0, the number of the category is column 1, and a field
    /// with the name or the label `breed` is column 2.
    pub(super) fn from_header(
        header: &ByteRecord,
        with_ids: bool,
        headings: &Headings,
    ) -> Result<Self, String> {
        let texts: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let names = headings.names();
        headings.check_mappings(&texts, &names)?;
        let NamedColumns {
            positions,
            mut unknown,
        } = headings.assign(&texts, &names)?;

        let mut fields = Vec::new();
        for (field, position) in headings.fields.iter().zip(&positions[MEMBERS.len()..]) {
            if let Some(position) = *position {
                fields.push(FieldColumn {
                    position,
                    field: field.clone(),
                });
            }
        }
        let [name, category_number, status, id] =
            [positions[0], positions[1], positions[2], positions[3]];
        let category_label = positions
            .get(MEMBERS.len() + headings.fields.len())
            .copied()
            .flatten();
        // Of two columns with the category, only the number is read.
        if category_number.is_some()
            && let Some(position) = category_label
        {
            unknown.push(texts[position]);
        }

        if !headings.ignores_unknown && !unknown.is_empty() {
            return Err(unknown_columns_error(&unknown, &names, &positions));
        }
        if with_ids && id.is_none() {
            return Err(missing_column_error(ID));
        }
        let name = name.ok_or_else(|| missing_column_error(NAME))?;
        let category = category_number
            .or(category_label)
            .ok_or_else(missing_category_error)?;
        let labels = match category_number {
            Some(_) => None,
            None => Some(headings.labels.clone()),
        };
        Ok(Self {
            headings: texts.iter().map(|text| text.trim().to_owned()).collect(),
            name,
            category,
            labels,
            status,
            id: if with_ids { id } else { None },
            fields,
            ignored: list_headings(&unknown, quote_beginning),
        })
    }
}

fn missing_column_error(column: &str) -> String {
    format!("the header has no column {column:?}")
}

fn missing_category_error() -> String {
    missing_column_error(CATEGORY_ID)
        + "; add it with the number of each animal's category, or add category with its label, \
           or name the column that has one of them with --map 'HEADING=categoryId' or --map \
           'HEADING=category'"
}

/// The columns with a name, and the others.
struct NamedColumns<'t> {
    /// The column of each of [`Headings::names`].
    positions: Vec<Option<usize>>,
    /// The headings of the columns that stand for nothing.
    unknown: Vec<&'t str>,
}

impl Headings {
    /// Returns the names of all members and fields, and the name of the label of a category, unless a
    /// field has it.
    fn names(&self) -> Vec<&str> {
        let mut names = MEMBERS.to_vec();
        names.extend(self.fields.iter().map(|field| field.name.as_str()));
        if !names.contains(&CATEGORY) {
            names.push(CATEGORY);
        }
        names
    }

    /// Checks that each mapping has a heading of the file, and a name of [`Self::names`].
    fn check_mappings(&self, texts: &[&str], names: &[&str]) -> Result<(), String> {
        for Mapping { heading, .. } in &self.mappings {
            if !texts.contains(&heading.as_str()) {
                return Err(format!(
                    "the header has no column {heading:?}, which --map names; it has {}",
                    list_headings(texts, quote_beginning)
                ));
            }
        }
        for Mapping { name, .. } in &self.mappings {
            if !names.contains(&name.as_str()) {
                return Err(format!(
                    "--map names {name:?}, which is no field of the store; names: {}",
                    names.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Assigns the columns of a header to the names, which are [`Self::names`]. Rejects two columns with one name.
    fn assign<'t>(&self, texts: &[&'t str], names: &[&str]) -> Result<NamedColumns<'t>, String> {
        let mut positions = vec![None; names.len()];
        let mut unknown = Vec::new();
        for (position, &text) in texts.iter().enumerate() {
            let Some(member) = self.find_member(names, text)? else {
                unknown.push(text);
                continue;
            };
            if let Some(first_position) = positions[member].replace(position) {
                let first_text = texts[first_position];
                let name = names[member];
                if first_text == text {
                    return Err(format!("the column {text:?} appears twice"));
                }
                return Err(format!(
                    "both {first_text:?} and {text:?} are the column {name}; remove one of them"
                ));
            }
        }
        Ok(NamedColumns { positions, unknown })
    }

    /// Returns the position in `names`, which are [`Self::names`], of the name for which a heading stands, or
    /// why this is not certain. Without a mapping, case and space do not count.
    fn find_member(&self, names: &[&str], heading: &str) -> Result<Option<usize>, String> {
        let mapping = self
            .mappings
            .iter()
            .find(|mapping| mapping.heading == heading);
        let exact_name = mapping.map_or(heading, |mapping| &mapping.name);
        if let Some(position) = names.iter().position(|&name| name == exact_name) {
            return Ok(Some(position));
        }

        let key = text::heading_key(heading);
        let mut matches = (0..names.len()).filter(|&position| {
            text::heading_key(names[position]) == key || self.has_label(position, &key)
        });
        let Some(first) = matches.next() else {
            return Ok(None);
        };
        // A field can have the name of a member, which comes first.
        if let Some(second) = matches.next()
            && names[first] != names[second]
        {
            let first_name = names[first];
            let second_name = names[second];
            return Err(format!(
                "the column {heading:?} can be {first_name} or {second_name}; say which with --map \
                 '{heading}={first_name}'"
            ));
        }
        Ok(Some(first))
    }

    /// Whether the name at this position is the name of a field with this label.
    fn has_label(&self, position: usize, label_key: &str) -> bool {
        position
            .checked_sub(MEMBERS.len())
            .and_then(|index| self.fields.get(index))
            .is_some_and(|field| text::heading_key(field.label.as_str()) == label_key)
    }
}

/// Returns the error for columns that stand for nothing. `positions` has the column of each name, if there is one.
fn unknown_columns_error(unknown: &[&str], names: &[&str], positions: &[Option<usize>]) -> String {
    for (separator, plural) in [(';', "semicolons"), ('\t', "tabs")] {
        if unknown.iter().any(|heading| heading.contains(separator)) {
            return format!(
                "the fields seem to be separated by {plural}; petstore reads fields separated by \
                 commas: save the file with commas"
            );
        }
    }

    let missing_names: Vec<&str> = names
        .iter()
        .zip(positions)
        .filter(|(_, position)| position.is_none())
        .map(|(name, _)| *name)
        .collect();
    let columns = list_headings(unknown, |heading| {
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

/// Returns the first headings, each as `show` returns it, and the number of the others.
fn list_headings(headings: &[&str], show: impl Fn(&str) -> String) -> String {
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
