//! Strict parsing, which accepts only JSON that all parsers interpret in the same way.

use std::{cell::Cell, collections::HashSet, fmt};

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{de::SliceRead, value::RawValue};

use super::Invalid;

/// The maximum nesting depth of objects and arrays in a body. The parser recurses once per level,
/// so the limit keeps its stack small.
pub(crate) const MAX_DEPTH: usize = 64;

/// The example of a body in messages: a new animal of the contract.
const PET_EXAMPLE: &str = ", such as {\"name\": \"Frank\", \"categoryId\": 1}";

/// The expected form of a text, for messages.
struct ExpectedText {
    /// The name of the text, such as "The body".
    subject: &'static str,
    /// The kind of JSON value: "object" or "array".
    kind: &'static str,
    /// An example, which follows the kind in a sentence: ", such as {…}". Empty if there is none.
    example: &'static str,
}

type Reader<'a> = serde_json::Deserializer<SliceRead<'a>>;

/// Returns the members with these names of a JSON object, unparsed. For `{"id": 7, "age": 3}` and
/// the names `age` and `sex`, the result is `3` and `None`.
///
/// The whole text is validated, including all other members: its syntax, UTF-8, escapes and depth.
/// Duplicate members are rejected, because RFC 8259 leaves their meaning open.
pub fn parse_named_members<'a, const N: usize>(
    text: &'a [u8],
    names: [&'static str; N],
) -> Result<[Option<&'a RawValue>; N], Invalid> {
    let expected = ExpectedText {
        subject: "The body",
        kind: "object",
        example: PET_EXAMPLE,
    };
    parse(text, &expected, |deserializer, validator| {
        deserializer.deserialize_map(NamedMembers { names, validator })
    })
}

/// Returns all members of a JSON object, unparsed. Rejects duplicate members.
///
/// `subject` is the name of the object in messages, such as "The body". The values are only
/// validated when they are parsed, by [`as_string`](super::as_string) and
/// [`as_integer`](super::as_integer).
pub(crate) fn parse_members<'a>(
    text: &'a [u8],
    subject: &'static str,
) -> Result<Vec<(String, &'a RawValue)>, Invalid> {
    let expected = ExpectedText {
        subject,
        kind: "object",
        example: "",
    };
    parse(text, &expected, |deserializer, validator| {
        deserializer.deserialize_map(AllMembers { validator })
    })
}

/// Returns the elements of a JSON array, unparsed. Only their syntax is validated.
pub fn parse_elements(text: &[u8]) -> Result<Vec<&RawValue>, Invalid> {
    let expected = ExpectedText {
        subject: "The body",
        kind: "array",
        example: "",
    };
    parse(text, &expected, |deserializer, _| {
        Vec::deserialize(deserializer)
    })
}

/// Parses a whole text with `read`, and converts an error into a message for the client.
fn parse<'a, T>(
    text: &'a [u8],
    expected: &ExpectedText,
    read: impl FnOnce(&mut Reader<'a>, Validator<'_>) -> serde_json::Result<T>,
) -> Result<T, Invalid> {
    if nests_too_deep(text) {
        let message = format!("{} nests deeper than {MAX_DEPTH} levels.", expected.subject);
        return Err(Invalid::Value(message));
    }

    let duplicate_name = Cell::new(None);
    let validator = Validator {
        duplicate_name: &duplicate_name,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let result = read(&mut deserializer, validator).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    result.map_err(|error| {
        let message = match duplicate_name.take() {
            Some(name) => duplicate_message(expected, &name),
            None => error_message(expected, &error, text),
        };
        Invalid::Value(message)
    })
}

fn duplicate_message(expected: &ExpectedText, name: &str) -> String {
    let short_name = super::shorten_for_message(name);
    format!("{} has the member {short_name:?} twice.", expected.subject)
}

/// Returns the message for an error of the parser.
fn error_message(expected: &ExpectedText, error: &serde_json::Error, text: &[u8]) -> String {
    let ExpectedText {
        subject,
        kind,
        example,
    } = expected;
    if error.is_data() {
        format!("{subject} must be a JSON {kind}.")
    } else if text.trim_ascii().is_empty() {
        format!("The request body is empty. It must be a JSON {kind}{example}.")
    } else {
        let advice = encoding_advice(text);
        format!(
            "{subject} is not valid JSON, at line {}, column {}.{advice}",
            error.line(),
            error.column()
        )
    }
}

/// Returns the advice for a text that begins with a byte order mark or is in UTF-16, with a space
/// before it. Returns an empty text for other encodings.
///
/// UTF-16 is recognized by a zero byte, because JSON begins with an ASCII character.
fn encoding_advice(text: &[u8]) -> &'static str {
    match text {
        [0xef, 0xbb, 0xbf, ..] => " It begins with a byte order mark: send UTF-8 without one.",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, ..] | [0, _, ..] => {
            " It is in UTF-16: send it in UTF-8."
        }
        _ => "",
    }
}

/// Whether objects and arrays nest deeper than [`MAX_DEPTH`]. This is checked before parsing,
/// because the parser recurses once per level.
fn nests_too_deep(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut is_in_string = false;
    let mut is_escaped = false;
    for &byte in text {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match byte {
            b'\\' => is_escaped = is_in_string,
            b'"' => is_in_string = !is_in_string,
            b'[' | b'{' if !is_in_string => depth += 1,
            b']' | b'}' if !is_in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// A visitor that validates a value and discards it.
#[derive(Clone, Copy)]
struct Validator<'f> {
    /// The name of the first duplicate member, for the message. It is in a cell, because an error
    /// of serde does not give it back as a value.
    duplicate_name: &'f Cell<Option<String>>,
}

impl Validator<'_> {
    /// Adds the name of a member to the `names` of its object. Fails if the name is a duplicate.
    fn add_name<E: serde::de::Error>(
        self,
        names: &mut HashSet<String>,
        name: String,
    ) -> Result<(), E> {
        if let Some(name) = names.replace(name) {
            self.duplicate_name.set(Some(name));
            return Err(E::custom("a member occurs twice"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Validator<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Validator<'_> {
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

    /// Validates the members of an object, or a number that fits no integer type.
    ///
    /// The feature `arbitrary_precision` of `serde_json` presents such a number as a map. Without
    /// the feature, numbers beyond the range of a double would be rejected.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key()? {
            self.add_name(&mut names, name)?;
            members.next_value_seed(self)?;
        }
        Ok(())
    }
}

/// A visitor that returns the members with certain names, and only validates the others.
struct NamedMembers<'f, const N: usize> {
    names: [&'static str; N],
    validator: Validator<'f>,
}

impl<'de, const N: usize> Visitor<'de> for NamedMembers<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        // A value stays `None` if the object lacks the member.
        let mut values = [None; N];
        let mut all_names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            let position = self.names.iter().position(|&wanted| wanted == name);
            match position {
                Some(position) => values[position] = Some(members.next_value()?),
                None => members.next_value_seed(self.validator)?,
            }
            // Rejects any name that occurs twice, whether the name is wanted or not.
            self.validator.add_name(&mut all_names, name)?;
        }
        Ok(values)
    }
}

/// A visitor that returns all members of an object.
struct AllMembers<'f> {
    validator: Validator<'f>,
}

impl<'de> Visitor<'de> for AllMembers<'_> {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut all_members = Vec::new();
        let mut names = HashSet::new();
        while let Some((name, value)) = members.next_entry::<String, _>()? {
            self.validator.add_name(&mut names, name.clone())?;
            all_members.push((name, value));
        }
        Ok(all_members)
    }
}
