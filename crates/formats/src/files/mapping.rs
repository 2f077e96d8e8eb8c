//! Mappings of headings to members and fields, for headings that petstore does not recognize.

use std::str::FromStr;

use petstore_domain::{store_area::FieldName, text::heading_key};

use super::{
    headings::MEMBERS,
    pet_columns::{CATEGORY, SPECIES},
};

/// A heading, and the name of the member or field that it means, such as `Animal Name=name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub(super) heading: String,
    pub(super) name: String,
}

impl Mapping {
    /// Finds out why mappings contradict each other. Returns `None` if they do not.
    pub fn find_conflict(mappings: &[Self]) -> Option<String> {
        for (index, mapping) in mappings.iter().enumerate() {
            for earlier in &mappings[..index] {
                if let Some(repeated_text) = find_repeated_text(earlier, mapping) {
                    return Some(format!(
                        "--map has {repeated_text:?} twice; a column has one name, or the names category and \
                         species, and a name has one column"
                    ));
                }
            }
        }
        None
    }
}

/// Returns the name or heading that must not be in both of two mappings, but is.
fn find_repeated_text<'m>(earlier: &Mapping, mapping: &'m Mapping) -> Option<&'m str> {
    if heading_key(&earlier.name) == heading_key(&mapping.name) {
        return Some(&mapping.name);
    }
    if earlier.heading == mapping.heading && !is_species_pair(earlier, mapping) {
        return Some(&mapping.heading);
    }
    None
}

/// Whether one of two mappings names the category, and the other the species. A column may have
/// both, because a store can have a category for each species.
fn is_species_pair(first: &Mapping, second: &Mapping) -> bool {
    matches!(
        (&*first.name, &*second.name),
        (CATEGORY, SPECIES) | (SPECIES, CATEGORY)
    )
}

impl FromStr for Mapping {
    type Err = String;

    /// Parses a mapping such as `Animal Name=name`. The error is a message for the person who wrote
    /// it.
    fn from_str(text: &str) -> Result<Self, String> {
        let names =
            "name, categoryId, category, status, id, listed, and the names of the store's fields";
        let (heading, name) = text.rsplit_once('=').ok_or_else(|| {
            format!("write HEADING=NAME, such as 'Animal Name=name'; the names are {names}")
        })?;
        let name_key = heading_key(name);
        let member = MEMBERS
            .into_iter()
            .find(|member| heading_key(member) == name_key);
        if member.is_none() && FieldName::new(&name_key).is_none() {
            return Err(format!("{name:?} is not one of the names: {names}"));
        }
        Ok(Self {
            heading: heading.to_owned(),
            name: member.map_or(name_key, str::to_owned),
        })
    }
}
