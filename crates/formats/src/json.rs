//! JSON: strict parsing, and writing.

mod contacts;
pub mod declared;
mod field;
mod journal;
pub mod members;
mod object;
mod order;
mod photo;
mod profile;
mod resource;
mod resources;
mod store_pet;
pub mod times;

use std::{cell::Cell, collections::HashSet, fmt};

use petstore_domain::{PetRef, PetStatus};
use serde::{
    Deserialize, Serialize,
    de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{de::SliceRead, value::RawValue};

pub use self::{
    contacts::{orders_in, with_contacts},
    field::{FieldInput, read_field, write_field},
    journal::{read_change, write_audit_entry, write_change},
    object::Object,
    order::{ADDED_TO_ORDERS, PlaceOrder, read_order, write_order, write_order_with_contact},
    photo::{read_focus, read_photos, with_photos_below, write_photo},
    profile::{store_profile, stored_profile, write_profile},
    resources::{declared_resources, write_attempt, write_category, write_resource, write_webhook},
    store_pet::{AddPet, read_stored_fields, write_store_pet},
};
pub(crate) use self::{
    field::read_whole_field,
    order::write_whole_order,
    profile::{read_profile, write_whole_profile},
    resources::{read_category, read_resource},
    store_pet::{read_new_fields, read_store_pet},
};

/// The largest depth of nested objects and arrays in a body.
pub(crate) const MAX_DEPTH: usize = 64;

/// Why a text is not the expected JSON object: a sentence for the client.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// The text or a member is invalid.
    #[error("{0}")]
    Value(String),
    /// The object has a member that is not expected.
    #[error("{0}")]
    UnknownMember(String),
}

impl Invalid {
    fn of(reason: &str) -> Self {
        Self::Value(reason.to_owned())
    }
}

/// Renders a value that consists of text and numbers, so rendering cannot fail.
pub fn render(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    // Most text needs no escapes (RFC 8259, section 7), so it is copied at once.
    let needs_escape = |&byte: &u8| byte < b' ' || byte == b'"' || byte == b'\\';
    if !text.as_bytes().iter().any(needs_escape) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // Neither text nor a write to memory can fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes an animal of the contract. Handwritten, because pages are the hottest path: for 20 animals,
/// this takes about a microsecond less than a derived `Serialize`.
pub fn write_pet(out: &mut Vec<u8>, pet: PetRef<'_>) {
    out.extend_from_slice(b"{\"id\":");
    write_integer(out, pet.id.get());
    out.extend_from_slice(b",\"name\":");
    write_string(out, pet.name);
    out.extend_from_slice(b",\"categoryId\":");
    write_integer(out, pet.category_id);
    // Constants of known length are copied without a call.
    match pet.status {
        PetStatus::Available => out.extend_from_slice(br#","status":"available"}"#),
        PetStatus::Pending => out.extend_from_slice(br#","status":"pending"}"#),
        PetStatus::Sold => out.extend_from_slice(br#","status":"sold"}"#),
    }
}

fn write_integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Returns the members of a JSON object with these names, unparsed.
///
/// The whole text is validated, including the other members: syntax, UTF-8, escapes, duplicate
/// members (RFC 8259 leaves their meaning open), and depth.
pub fn object_members<'a, const N: usize>(
    text: &'a [u8],
    names: [&'static str; N],
) -> Result<[Option<&'a RawValue>; N], Invalid> {
    let expected = Expected {
        what: "The body",
        kind: "object",
        example: PET_EXAMPLE,
    };
    parse(text, expected, |deserializer, check| {
        deserializer.deserialize_map(Members { names, check })
    })
}

/// A new animal of the contract.
const PET_EXAMPLE: &str = ", such as {\"name\": \"Frank\", \"categoryId\": 1}";

/// Returns all members of a JSON object, unparsed. `what` is the object's name in a message, such
/// as "The body". The values are validated when they are parsed, by [`string`] and [`integer`].
/// Duplicate members are invalid.
pub fn members<'a>(
    text: &'a [u8],
    what: &'static str,
) -> Result<Vec<(String, &'a RawValue)>, Invalid> {
    let expected = Expected {
        what,
        kind: "object",
        example: "",
    };
    parse(text, expected, |deserializer, check| {
        deserializer.deserialize_map(AllMembers(check))
    })
}

/// Returns the elements of a JSON array, unparsed and not validated except for their syntax.
pub fn elements(text: &[u8]) -> Result<Vec<&RawValue>, Invalid> {
    let expected = Expected {
        what: "The body",
        kind: "array",
        example: "",
    };
    parse(text, expected, |deserializer, _| {
        Vec::deserialize(deserializer)
    })
}

/// The expected form of a text, for messages.
struct Expected {
    what: &'static str,
    kind: &'static str,
    example: &'static str,
}

type Reader<'a> = serde_json::Deserializer<SliceRead<'a>>;

fn parse<'a, T>(
    text: &'a [u8],
    Expected {
        what,
        kind,
        example,
    }: Expected,
    read: impl FnOnce(&mut Reader<'a>, Check<'_>) -> serde_json::Result<T>,
) -> Result<T, Invalid> {
    if nests_too_deep(text) {
        let message = format!("{what} nests deeper than {MAX_DEPTH} levels.");
        return Err(Invalid::Value(message));
    }
    let repeated = Cell::new(None);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let parsed = read(
        &mut deserializer,
        Check {
            repeated: &repeated,
        },
    )
    .and_then(|value| deserializer.end().map(|()| value));
    parsed.map_err(|error| {
        let message = match repeated.take() {
            Some(name) => {
                // Long enough to recognize it.
                let shown: String = name.chars().take(40).collect();
                format!("{what} has the member {shown:?} twice.")
            }
            None if error.is_data() => format!("{what} must be a JSON {kind}."),
            None if text.trim_ascii().is_empty() => {
                format!("The request body is empty. It must be a JSON {kind}{example}.")
            }
            None => format!(
                "{what} is not valid JSON, at line {}, column {}.",
                error.line(),
                error.column()
            ),
        };
        Invalid::Value(message)
    })
}

/// Returns the text of a JSON string; `None` if the value is not a string, or has an invalid
/// escape.
pub fn string(value: &RawValue) -> Option<String> {
    let plain = value
        .get()
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    if let Some(plain) = plain.filter(|text| !text.contains('\\')) {
        return Some(plain.to_owned());
    }
    serde_json::from_str(value.get()).ok()
}

/// Returns the integer value of a JSON number, as JSON Schema defines it: `1.0` and `1e2` are
/// integers, `1.5` is not. Exact, because it does not use floating point. `None` if the value is
/// not an int64.
pub fn integer(value: &RawValue) -> Option<i64> {
    integer_in(value.get())
}

/// Returns the same for the text of any JSON value.
pub fn integer_in(text: &str) -> Option<i64> {
    scaled_in(text, 0)
}

/// Returns the same for a number with at most so many decimals, which counts the last of them.
fn scaled_in(text: &str, decimals: i64) -> Option<i64> {
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let negative = whole.starts_with('-');
    let digits = [whole.trim_start_matches('-'), fraction].concat();
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    // The number of zeros after the significant digits.
    let dropped = digits.len() - significant.len();
    let zeros = exponent
        .parse::<i64>()
        .ok()?
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(i64::try_from(dropped).ok()? + decimals)?;
    let power = 10_i128.checked_pow(u32::try_from(zeros).ok()?)?;
    let size = significant.parse::<i128>().ok()?.checked_mul(power)?;
    i64::try_from(if negative { -size } else { size }).ok()
}

/// Whether brackets nest deeper than [`MAX_DEPTH`]. Checked before parsing, because the parser
/// recurses once for each level.
fn nests_too_deep(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for &byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// Validates a value, and keeps only the name of a duplicate member.
#[derive(Clone, Copy)]
struct Check<'f> {
    repeated: &'f Cell<Option<String>>,
}

impl Check<'_> {
    fn once<E: serde::de::Error>(self, seen: &mut HashSet<String>, name: String) -> Result<(), E> {
        if let Some(name) = seen.replace(name) {
            self.repeated.set(Some(name));
            return Err(E::custom("a member occurs twice"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Check<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Check<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    /// Also receives other numbers. `arbitrary_precision`, which keeps `serde_json` from rejecting
    /// numbers beyond a double, presents them as a map.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = members.next_key()? {
            self.once(&mut seen, name)?;
            members.next_value_seed(self)?;
        }
        Ok(())
    }
}

/// Parses an object: keeps the members with these names, and validates the others.
struct Members<'f, const N: usize> {
    names: [&'static str; N],
    check: Check<'f>,
}

impl<'de, const N: usize> Visitor<'de> for Members<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        let mut seen = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            match self.names.iter().position(|&wanted| wanted == name) {
                Some(at) => found[at] = Some(members.next_value()?),
                None => members.next_value_seed(self.check)?,
            }
            self.check.once(&mut seen, name)?;
        }
        Ok(found)
    }
}

/// Parses an object, and keeps all its members.
struct AllMembers<'f>(Check<'f>);

impl<'de> Visitor<'de> for AllMembers<'_> {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        while let Some((name, value)) = members.next_entry::<String, _>()? {
            self.0.once(&mut seen, name.clone())?;
            found.push((name, value));
        }
        Ok(found)
    }
}

#[cfg(test)]
#[path = "json/json_tests.rs"]
mod tests;
