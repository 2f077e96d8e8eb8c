//! JSON: strict parsing, and writing.

use std::{cell::Cell, collections::HashSet, fmt};

use serde::{
    Serialize,
    de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The largest depth of nested objects and arrays in a body.
pub(crate) const MAX_DEPTH: usize = 64;

/// Why a text is not the expected JSON object: a sentence for the client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Invalid(pub(crate) String);

/// Renders a value that consists of text and numbers, so rendering cannot fail.
pub(crate) fn render(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Writes a JSON string.
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

/// The members of a JSON object with these names, unparsed.
///
/// The whole text is validated, including the other members: syntax, UTF-8, escapes, duplicate
/// members (RFC 8259 leaves their meaning open), and depth.
///
/// # Errors
///
/// The position or the reason.
pub(crate) fn object_members<'a, const N: usize>(
    text: &'a [u8],
    names: [&'static str; N],
) -> Result<[Option<&'a RawValue>; N], Invalid> {
    if nests_too_deep(text) {
        let message = format!("The body nests deeper than {MAX_DEPTH} levels.");
        return Err(Invalid(message));
    }
    let repeated = Cell::new(None);
    let visitor = Members { names, check: Check { repeated: &repeated } };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let parsed = deserializer
        .deserialize_map(visitor)
        .and_then(|members| deserializer.end().map(|()| members));
    parsed.map_err(|error| {
        let message = match repeated.take() {
            Some(name) => {
                // Long enough to recognize it.
                let shown: String = name.chars().take(40).collect();
                format!("The body has the member {shown:?} twice.")
            }
            None if error.is_data() => "The body must be a JSON object.".to_owned(),
            None if text.trim_ascii().is_empty() => "The request body is empty. It must be a JSON \
                 object, such as {\"name\": \"Frank\", \"categoryId\": 1}."
                .to_owned(),
            None => format!(
                "The body is not valid JSON, at line {}, column {}.",
                error.line(),
                error.column()
            ),
        };
        Invalid(message)
    })
}

/// The text of a JSON string; `None` if the value is not a string, or has an invalid escape.
pub(crate) fn string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// The integer value of a JSON number, as JSON Schema defines it: `1.0` and `1e2` are integers,
/// `1.5` is not. Exact, because it does not use floating point. `None` if the value is not an
/// int64.
pub(crate) fn integer(value: &RawValue) -> Option<i64> {
    let text = value.get();
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
        .checked_add(i64::try_from(dropped).ok()?)?;
    let power = 10_i128.checked_pow(u32::try_from(zeros).ok()?)?;
    let size = significant.parse::<i128>().ok()?.checked_mul(power)?;
    i64::try_from(if negative { -size } else { size }).ok()
}

/// Whether brackets nest deeper than [`MAX_DEPTH`]. Checked before parsing, because the parser
/// recurses once for each level.
fn nests_too_deep(text: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn integer_of(text: &str) -> Option<i64> {
        integer(&serde_json::from_str::<Box<RawValue>>(text).unwrap())
    }

    #[test]
    fn an_integer_is_a_number_without_a_fraction_within_int64() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("0e999999999999999999999", 0),
            ("1", 1),
            ("1.0", 1),
            ("-1.000", -1),
            ("1e2", 100),
            ("1.5e1", 15),
            ("1200E-2", 12),
            ("9007199254740993.0", 9_007_199_254_740_993),
            ("9223372036854775807", i64::MAX),
            ("922337203685477580.7e1", i64::MAX),
            ("-9223372036854775808.0", i64::MIN),
        ] {
            assert_eq!(integer_of(text), Some(value), "{text}");
        }
        for text in [
            "1.5",
            "1e-1",
            "9223372036854775808",
            "-9223372036854775809",
            "1e19",
            "1e400",
            "1e99999999999999999999",
            "\"1\"",
            "true",
            "null",
            "[1]",
            "{}",
        ] {
            assert_eq!(integer_of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_int64_is_parsed_in_every_spelling(value: i64, zeros in 0..5_usize) {
            let padded = format!("{value}{}", "0".repeat(zeros));
            prop_assert_eq!(integer_of(&value.to_string()), Some(value));
            prop_assert_eq!(integer_of(&format!("{value}.{}", "0".repeat(zeros + 1))), Some(value));
            prop_assert_eq!(integer_of(&format!("{padded}e-{zeros}")), Some(value));
        }

        #[test]
        fn only_objects_are_parsed_and_no_body_makes_the_parser_panic(body: Vec<u8>) {
            if object_members(&body, ["name"]).is_ok() {
                let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
                prop_assert!(value.is_object());
            }
        }
    }

    fn error_message(body: impl AsRef<[u8]>) -> String {
        object_members(body.as_ref(), ["name"]).unwrap_err().0
    }

    #[test]
    fn other_members_are_validated_and_ignored() {
        for fine in [
            r#"{"x": 1e400, "y": [null, true, "\ud83d\ude00", {"name": 1, "x": {}}]}"#,
            r#"{"x": {"x": {"x": -0.0}}}"#,
            " {} ",
        ] {
            assert!(object_members(fine.as_bytes(), ["name"]).unwrap()[0].is_none(), "{fine}");
        }
    }

    #[test]
    fn a_duplicate_member_is_rejected_at_any_depth() {
        for body in [
            r#"{"name": "a", "name": "a"}"#,
            r#"{"name": "a", "n\u0061me": "b"}"#,
            r#"{"x": {"name": 1, "name": 2}}"#,
            r#"{"x": [{"name": 1, "name": 2}]}"#,
        ] {
            assert_eq!(error_message(body), r#"The body has the member "name" twice."#, "{body}");
        }
    }

    #[test]
    fn anything_but_a_json_object_is_rejected() {
        for body in ["null", "1", "\"name\"", "[]", "[{}]"] {
            assert_eq!(error_message(body), "The body must be a JSON object.", "{body}");
        }
        for body in ["", " \n"] {
            assert!(error_message(body).starts_with("The request body is empty. "), "{body:?}");
        }
        for body in [
            "{",
            "{}{}",
            "{} x",
            r#"{"name": "a",}"#,
            r#"{name: "a"}"#,
            r#"{"x": 01}"#,
            r#"{"x": "\ud800"}"#,
            r#"{"x": "\udc00\ud800"}"#,
            r#"{"\ud800": 1}"#,
            "{\"x\": \"\u{1}\"}",
            "\u{feff}{}",
        ] {
            assert!(error_message(body).starts_with("The body is not valid JSON"), "{body}");
        }
        for body in [&b"{\"x\": \"\xff\"}"[..], b"{\"name\": \"\xc3\x28\"}", b"\xff"] {
            assert!(error_message(body).starts_with("The body is not valid JSON"), "{body:?}");
        }
    }

    #[test]
    fn a_body_may_nest_64_deep_and_no_deeper() {
        let nested =
            |depth: usize| format!("{{\"x\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        assert!(object_members(nested(MAX_DEPTH).as_bytes(), ["name"]).is_ok());
        assert_eq!(error_message(nested(MAX_DEPTH + 1)), "The body nests deeper than 64 levels.");
        assert_eq!(error_message(nested(20_000)), "The body nests deeper than 64 levels.");
        let flat = format!(r#"{{"x": "\"{}"}}"#, "[".repeat(100));
        assert!(object_members(flat.as_bytes(), ["name"]).is_ok());
    }
}
