//! Which column of a CSV file is which member of an animal.

use std::str::FromStr;

use csv::ByteRecord;
use petstore_domain::{
    store_area::{FieldDefinition, FieldName},
    text,
};

use super::row::{CATEGORY, CATEGORY_ID, ID, Labels, NAME, STATUS, quoted};

/// The members of an animal that a file can have.
const KNOWN: [&str; 4] = [NAME, CATEGORY_ID, STATUS, ID];

/// How many headings an error shows at most.
const SHOWN: usize = 50;

/// How similar a heading must be to a name for an error to suggest the name: 1 for the same.
const SIMILAR: f64 = 0.5;

/// The meaning of the headings of a CSV file, besides the names of members.
#[derive(Debug, Clone, Default)]
pub struct Headings {
    /// The fields of the store: a heading can be the name or the label of one.
    pub fields: Vec<FieldDefinition>,
    /// The labels of the categories of the store, for a column `category`.
    pub labels: Labels,
    /// Headings of the file that stand for a member.
    pub mapped: Vec<Mapping>,
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
    /// Why these cannot be used together, if so.
    pub fn conflict(all: &[Self]) -> Option<String> {
        let (at, Self { heading, name }) = all.iter().enumerate().find(|(at, one)| {
            all[..*at]
                .iter()
                .any(|other| other.heading == one.heading || other.name == one.name)
        })?;
        let what = if all[..at].iter().any(|other| other.name == *name) {
            name
        } else {
            heading
        };
        Some(format!(
            "--map has {what:?} twice; a column has one name, and a name has one column"
        ))
    }
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = "name, categoryId, category, status, id, and those of the store's fields";
        let (heading, name) = text.rsplit_once('=').ok_or_else(|| {
            format!("write HEADING=NAME, such as 'Animal Name=name'; the names are {names}")
        })?;
        let member = KNOWN
            .into_iter()
            .find(|known| text::heading_key(known) == text::heading_key(name));
        let name = member.unwrap_or(name);
        if member.is_none() && FieldName::new(name).is_none() {
            return Err(format!("{name:?} is not one of the names: {names}"));
        }
        Ok(Self {
            heading: heading.to_owned(),
            name: name.to_owned(),
        })
    }
}

/// The position of each column in a record.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// The headings of all columns, as messages show them.
    pub(super) headings: Vec<String>,
    pub(super) name: usize,
    pub(super) category: usize,
    /// If the column of the category has labels, not numbers.
    pub(super) labels: Option<Labels>,
    pub(super) status: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) fields: Vec<(usize, FieldDefinition)>,
    /// The headings of the columns that are not read, for a message.
    pub(super) left_out: String,
}

impl Columns {
    /// Returns the position of each column in the header, or what is wrong with the header.
    pub(super) fn of(
        header: &ByteRecord,
        with_ids: bool,
        headings: &Headings,
    ) -> Result<Self, String> {
        let texts: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let mut mapped = headings
            .mapped
            .iter()
            .map(|mapping| mapping.heading.as_str());
        if let Some(absent) = mapped.find(|heading| !texts.contains(heading)) {
            return Err(format!(
                "the header has no column {absent:?}, which --map names; it has {}",
                list(&texts, |heading| quoted(heading))
            ));
        }
        let names = headings.names();
        let absent = |mapping: &&Mapping| !names.contains(&mapping.name.as_str());
        if let Some(Mapping { name, .. }) = headings.mapped.iter().find(absent) {
            let all = names.join(", ");
            return Err(format!(
                "--map names {name:?}, which is no field of the store; names: {all}"
            ));
        }
        let mut found = vec![None; names.len()];
        let mut unknown = Vec::new();
        for (at, &text) in texts.iter().enumerate() {
            let Some(member) = headings.member(&names, text)? else {
                unknown.push(text);
                continue;
            };
            if let Some(first) = found[member].replace(at) {
                let first = texts[first];
                let name = names[member];
                return Err(if first == text {
                    format!("the column {text:?} appears twice")
                } else {
                    format!("both {first:?} and {text:?} are the column {name}; remove one of them")
                });
            }
        }
        let of_fields = found[KNOWN.len()..].iter().zip(&headings.fields);
        let fields = of_fields
            .filter_map(|(at, field)| Some(((*at)?, field.clone())))
            .collect();
        let label = found
            .get(KNOWN.len() + headings.fields.len())
            .copied()
            .flatten();
        let [name, number, status, id] = [found[0], found[1], found[2], found[3]];
        unknown.extend(number.and(label).map(|label| texts[label]));
        if !headings.ignores_unknown && !unknown.is_empty() {
            return Err(unknown_columns(&unknown, &names, &found));
        }
        let missing = |column| format!("the header has no column {column:?}");
        if with_ids && id.is_none() {
            return Err(missing(ID));
        }
        let no_category = || {
            missing(CATEGORY_ID)
                + "; add it with the number of each animal's category, or add category with its label, \
                 or name the column that has one of them with --map 'HEADING=categoryId' or --map \
                 'HEADING=category'"
        };
        Ok(Self {
            headings: texts
                .iter()
                .map(|heading| heading.trim().to_owned())
                .collect(),
            name: name.ok_or_else(|| missing(NAME))?,
            category: number.or(label).ok_or_else(no_category)?,
            labels: number.is_none().then(|| headings.labels.clone()),
            status,
            id: id.filter(|_| with_ids),
            fields,
            left_out: list(&unknown, |heading| quoted(heading)),
        })
    }
}

impl Headings {
    /// Returns the names of all members and fields, and that of the label of a category, unless a
    /// field has it.
    fn names(&self) -> Vec<&str> {
        let fields: Vec<&str> = self
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        let label = Some(CATEGORY).filter(|label| !fields.contains(label));
        KNOWN.into_iter().chain(fields).chain(label).collect()
    }

    /// Returns the position in `names`, which are [`Self::names`], of what a heading stands for, or
    /// why this is not certain. Without a mapping, case and space do not count.
    fn member(&self, names: &[&str], heading: &str) -> Result<Option<usize>, String> {
        let mapped = self
            .mapped
            .iter()
            .find(|mapping| mapping.heading == heading);
        let name = mapped.map_or(heading, |mapping| &mapping.name);
        if let Some(exactly) = names.iter().position(|&known| known == name) {
            return Ok(Some(exactly));
        }
        let key = text::heading_key(heading);
        let label = |at: usize| self.fields.get(at.checked_sub(KNOWN.len())?);
        let mut meant = names.iter().enumerate().filter(|(at, name)| {
            let is_label =
                label(*at).is_some_and(|field| text::heading_key(field.label.as_str()) == key);
            is_label || text::heading_key(name) == key
        });
        let first = meant.next();
        // A field can have the name of a member, which comes first.
        if let (Some((_, one)), Some((_, other))) = (first, meant.next())
            && one != other
        {
            return Err(format!(
                "the column {heading:?} can be {one} or {other}; say which with --map \
                 '{heading}={one}'"
            ));
        }
        Ok(first.map(|(at, _)| at))
    }
}

/// Returns the error for columns that stand for nothing. `found` are the members that other columns
/// are.
fn unknown_columns(unknown: &[&str], names: &[&str], found: &[Option<usize>]) -> String {
    for (separator, name) in [(';', "semicolons"), ('\t', "tabs")] {
        if unknown.iter().any(|heading| heading.contains(separator)) {
            return format!(
                "the fields seem to be separated by {name}; petstore reads fields separated by \
                 commas: save the file with commas"
            );
        }
    }
    let missing = || {
        names
            .iter()
            .zip(found)
            .filter(|(_, at)| at.is_none())
            .map(|(name, _)| *name)
    };
    let suggested = |heading: &&str| {
        let lower = heading.to_lowercase();
        let likeness = |name: &str| strsim::sorensen_dice(&lower, &name.to_lowercase());
        let closest = missing().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
        let closest = closest.filter(|name| likeness(name) >= SIMILAR);
        let suggestion = closest.map(|name| format!(" (perhaps --map '{heading}={name}')"));
        format!("{}{}", quoted(heading), suggestion.unwrap_or_default())
    };
    format!(
        "the header has unknown columns: {}; petstore reads {}. Name each column with --map \
         'HEADING=NAME', or leave them out with --ignore-unknown-columns",
        list(unknown, suggested),
        names.join(", ")
    )
}

fn list(headings: &[&str], show: impl Fn(&&str) -> String) -> String {
    let more = headings.len().saturating_sub(SHOWN);
    let listed: Vec<_> = headings.iter().take(SHOWN).map(show).collect();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", listed.join(", "))
}
