//! The operations and examples of the document.

use std::collections::BTreeMap;

use petstore_testing::contract::STORE_AREA;
use serde_json::Value;

/// The id that every request has, as in the document.
pub(super) const REQUEST_ID: &str = "1f4e0d8a5b6c7d9e0000000000000017";

#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) id: &'static str,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) value: &'static Value,
}

impl Operation {
    /// Its path with this id.
    pub(super) fn target(&self, id: &str) -> String {
        let path = match self.path.split_once('{') {
            Some((before, rest)) => format!("{before}{id}{}", rest.rsplit_once('}').unwrap().1),
            None => self.path.to_owned(),
        };
        format!("/v1{path}")
    }

    /// The names of the examples of its requests.
    pub(super) fn request_examples(&self) -> Vec<&'static str> {
        let content = self.value["requestBody"]["content"].as_object();
        let media = content.into_iter().flat_map(|content| content.values());
        let examples = media.filter_map(|media| media["examples"].as_object());
        examples
            .flat_map(|examples| examples.keys().map(String::as_str))
            .collect()
    }

    /// The examples of its query parameters.
    pub(super) fn query_examples(&self) -> impl Iterator<Item = String> {
        let parameters = self.value["parameters"].as_array().into_iter().flatten();
        let of_query = parameters.filter(|parameter| parameter["in"] == "query");
        of_query.flat_map(|parameter| {
            let name = parameter["name"].as_str().unwrap();
            texts(parameter).into_iter().flat_map(move |text| {
                // The members of an object are parameters of their own.
                match serde_json::from_str::<BTreeMap<String, String>>(&text) {
                    Ok(members) => members
                        .iter()
                        .map(|(name, text)| format!("{name}={text}"))
                        .collect(),
                    Err(_) => vec![format!("{name}={text}")],
                }
            })
        })
    }

    /// Whether it has a parameter of this name.
    pub(super) fn has(&self, parameter: &str) -> bool {
        let parameters = self.value["parameters"].as_array();
        parameters.is_some_and(|all| all.iter().any(|found| found["name"] == parameter))
    }
}

pub(super) fn operations() -> impl Iterator<Item = Operation> {
    let paths = STORE_AREA["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        methods
            .as_object()
            .unwrap()
            .iter()
            .filter_map(move |(method, value)| {
                let id = value["operationId"].as_str()?;
                Some(Operation {
                    id,
                    method: upper(method),
                    path,
                    value,
                })
            })
    })
}

fn upper(method: &str) -> &'static str {
    match method {
        "get" => "GET",
        "put" => "PUT",
        "post" => "POST",
        "patch" => "PATCH",
        "delete" => "DELETE",
        other => panic!("{other}"),
    }
}

pub(super) fn operation(id: &str) -> Operation {
    operations()
        .find(|found| found.id == id)
        .unwrap_or_else(|| panic!("no operation {id}"))
}

/// The names and values of the examples of a response. One without a body has one of the name
/// `empty`.
pub(super) fn examples(response: &Value) -> Vec<(String, Value)> {
    let Some(content) = response["content"].as_object() else {
        return vec![("empty".to_owned(), Value::Null)];
    };
    let examples = content
        .values()
        .filter_map(|media| media["examples"].as_object())
        .flatten();
    examples
        .map(|(name, example)| (name.clone(), example["value"].clone()))
        .collect()
}

/// The examples of a header field or a parameter, as text.
pub(super) fn texts(header: &Value) -> Vec<String> {
    let named = header["examples"]
        .as_object()
        .into_iter()
        .flat_map(|named| named.values());
    let values = named
        .map(|example| &example["value"])
        .chain(header.get("example"));
    values
        .map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        })
        .collect()
}

/// A value as YAML, to paste it into the document.
pub(super) fn yaml(value: &Value) -> String {
    let mut lines = Vec::new();
    write(value, "", &mut lines);
    lines.join("\n")
}

/// Writes the lines of a value, each after `indent`.
fn write(value: &Value, indent: &str, lines: &mut Vec<String>) {
    let deeper = format!("{indent}  ");
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                if is_inline(member) {
                    lines.push(format!("{indent}{name}: {}", plain(member)));
                } else {
                    lines.push(format!("{indent}{name}:"));
                    write(member, &deeper, lines);
                }
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for element in elements {
                let first = lines.len();
                write(element, &deeper, lines);
                lines[first].replace_range(indent.len()..deeper.len(), "- ");
            }
        }
        scalar => lines.push(format!("{indent}{}", plain(scalar))),
    }
}

/// Whether a value has one line.
fn is_inline(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        _ => true,
    }
}

/// A value on one line.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) if is_plain(text) => text.to_owned(),
        Some(text) if !text.contains('\n') => format!("'{}'", text.replace('\'', "''")),
        _ => value.to_string(),
    }
}

/// Whether a text needs no quotes.
fn is_plain(text: &str) -> bool {
    let is_simple = |letter: char| letter.is_alphanumeric() || " -_.,:/".contains(letter);
    text.starts_with(char::is_alphabetic) && text.chars().all(is_simple) && !text.contains(": ")
}
