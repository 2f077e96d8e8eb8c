//! Which column of a CSV file is which member of an animal.

use std::str::FromStr;

use csv::ByteRecord;

use super::row::{CATEGORY_ID, ID, NAME, STATUS};
use crate::domain::store_area::{FieldDefinition, FieldName};

/// The members of an animal that a file can have.
const KNOWN: [&str; 4] = [NAME, CATEGORY_ID, STATUS, ID];

/// How many headings an error shows at most, and how many characters of each.
const SHOWN: usize = 50;
const SHOWN_CHARACTERS: usize = 40;

/// How similar a heading must be to a name for an error to suggest the name: 1 for the same.
const SIMILAR: f64 = 0.4;

/// What the headings of a CSV file stand for, besides the names of members.
#[derive(Debug, Clone, Default)]
pub struct Headings {
    /// The fields of the store: a heading can be the name or the label of one.
    pub fields: Vec<FieldDefinition>,
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

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = KNOWN.join(", ");
        let (heading, name) = text.rsplit_once('=').ok_or_else(|| {
            format!("write HEADING=NAME, such as 'Animal Name=name'; the names are {known}")
        })?;
        if !KNOWN.contains(&name) && FieldName::new(name).is_none() {
            return Err(format!("{name:?} is not one of {known}, and no name of a field"));
        }
        Ok(Self { heading: heading.to_owned(), name: name.to_owned() })
    }
}

/// The position of each column in a record.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    pub(super) count: usize,
    pub(super) name: usize,
    pub(super) category_id: usize,
    pub(super) status: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) fields: Vec<(usize, FieldDefinition)>,
}

impl Columns {
    /// The position of each column in the header, or what is wrong with the header.
    pub(super) fn of(
        header: &ByteRecord,
        with_ids: bool,
        headings: &Headings,
    ) -> Result<Self, String> {
        let texts: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let mut mapped = headings.mapped.iter().map(|mapping| mapping.heading.as_str());
        if let Some(absent) = mapped.find(|heading| !texts.contains(heading)) {
            return Err(format!(
                "the header has no column {absent:?}, which --map names; it has {}",
                list(&texts, shown)
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
            let Some(member) = headings.member(text) else {
                unknown.push(text);
                continue;
            };
            if let Some(first) = found[member].replace(at) {
                let (first, name) = (texts[first], names[member]);
                return Err(if first == text {
                    format!("the column {text:?} appears twice")
                } else {
                    format!("both {first:?} and {text:?} are the column {name}; remove one of them")
                });
            }
        }
        if !headings.ignores_unknown && !unknown.is_empty() {
            return Err(unknown_columns(&unknown, &names, &found));
        }
        let of_fields = found[KNOWN.len()..].iter().zip(&headings.fields);
        let fields = of_fields.filter_map(|(at, field)| Some(((*at)?, field.clone()))).collect();
        let [name, category_id, status, id] = [found[0], found[1], found[2], found[3]];
        let missing = |column| format!("the header has no column {column:?}");
        if with_ids && id.is_none() {
            return Err(missing(ID));
        }
        Ok(Self {
            count: header.len(),
            name: name.ok_or_else(|| missing(NAME))?,
            category_id: category_id.ok_or_else(|| missing(CATEGORY_ID))?,
            status,
            id: id.filter(|_| with_ids),
            fields,
        })
    }
}

impl Headings {
    /// The names of all members and fields.
    fn names(&self) -> Vec<&str> {
        KNOWN.into_iter().chain(self.fields.iter().map(|field| field.name.as_str())).collect()
    }

    /// The position in [`Self::names`] of what a heading stands for.
    fn member(&self, heading: &str) -> Option<usize> {
        let mapped = self.mapped.iter().find(|mapping| mapping.heading == heading);
        let name = mapped.map_or(heading, |mapping| &mapping.name);
        let by_label = || {
            let of = |field: &FieldDefinition| field.label.as_str() == heading;
            self.fields.iter().position(of).map(|at| KNOWN.len() + at)
        };
        self.names().iter().position(|&known| known == name).or_else(by_label)
    }
}

/// What to do about columns that stand for nothing. `found` are the members that other columns are.
fn unknown_columns(unknown: &[&str], names: &[&str], found: &[Option<usize>]) -> String {
    for (separator, name) in [(';', "semicolons"), ('\t', "tabs")] {
        if unknown.iter().any(|heading| heading.contains(separator)) {
            return format!(
                "the fields seem to be separated by {name}; petstore reads fields separated by \
                 commas: save the file with commas"
            );
        }
    }
    let missing = || names.iter().zip(found).filter(|(_, at)| at.is_none()).map(|(name, _)| *name);
    let suggested = |heading: &&str| {
        let lower = heading.to_lowercase();
        let likeness = |name: &str| strsim::sorensen_dice(&lower, &name.to_lowercase());
        let closest = missing().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
        let closest = closest.filter(|name| likeness(name) >= SIMILAR);
        let suggestion = closest.map(|name| format!(" (perhaps --map '{heading}={name}')"));
        format!("{}{}", shown(heading), suggestion.unwrap_or_default())
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
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", listed.join(", "))
}

fn shown(heading: &&str) -> String {
    format!("{:?}", heading.chars().take(SHOWN_CHARACTERS).collect::<String>())
}
