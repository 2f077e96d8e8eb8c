//! Which column of a CSV file is which member of an animal.

use std::str::FromStr;

use csv::ByteRecord;

use super::row::{CATEGORY_ID, ID, NAME, STATUS};

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
    /// Headings of the file that stand for a member.
    pub mapped: Vec<Mapping>,
    /// Whether columns with other headings are ignored.
    pub ignores_unknown: bool,
}

/// A heading, and the member that it stands for, such as `Animal Name=name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    heading: String,
    member: usize,
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = KNOWN.join(", ");
        let (heading, name) = text.rsplit_once('=').ok_or_else(|| {
            format!("write HEADING=NAME, such as 'Animal Name=name'; the names are {known}")
        })?;
        let member = KNOWN.iter().position(|&member| member == name);
        let member = member.ok_or_else(|| format!("{name:?} is not one of {known}"))?;
        Ok(Self { heading: heading.to_owned(), member })
    }
}

/// The position of each column in a record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Columns {
    pub(super) count: usize,
    pub(super) name: usize,
    pub(super) category_id: usize,
    pub(super) status: Option<usize>,
    pub(super) id: Option<usize>,
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
        let mut found = [None; 4];
        let mut unknown = Vec::new();
        for (at, &text) in texts.iter().enumerate() {
            let Some(member) = headings.member(text) else {
                unknown.push(text);
                continue;
            };
            if let Some(first) = found[member].replace(at) {
                let (first, name) = (texts[first], KNOWN[member]);
                return Err(if first == text {
                    format!("the column {text:?} appears twice")
                } else {
                    format!("both {first:?} and {text:?} are the column {name}; remove one of them")
                });
            }
        }
        if !headings.ignores_unknown && !unknown.is_empty() {
            return Err(unknown_columns(&unknown, &found));
        }
        let [name, category_id, status, id] = found;
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
        })
    }
}

impl Headings {
    fn member(&self, heading: &str) -> Option<usize> {
        let mapped = self.mapped.iter().find(|mapping| mapping.heading == heading);
        let known = || KNOWN.iter().position(|&name| name == heading);
        mapped.map(|mapping| mapping.member).or_else(known)
    }
}

/// What to do about columns that stand for nothing. `found` are the members that other columns are.
fn unknown_columns(unknown: &[&str], found: &[Option<usize>; 4]) -> String {
    for (separator, name) in [(';', "semicolons"), ('\t', "tabs")] {
        if unknown.iter().any(|heading| heading.contains(separator)) {
            return format!(
                "the fields seem to be separated by {name}; petstore reads fields separated by \
                 commas: save the file with commas"
            );
        }
    }
    let missing = || KNOWN.iter().zip(found).filter(|(_, at)| at.is_none()).map(|(name, _)| *name);
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
        KNOWN.join(", ")
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
