//! YAML for people: blocks of text as they are, short lists on one line, quotes where they are needed.

use serde_json::Value;

/// The longest list on one line.
const LINE: usize = 90;

/// A document as YAML, with an empty line before each of its parts and each path.
pub(super) fn yaml(document: &Value) -> String {
    let mut text = String::new();
    for (name, part) in document.as_object().unwrap() {
        if !text.is_empty() {
            text.push('\n');
        }
        put_member(&mut text, 0, name, part);
    }
    text.replace("\n  /", "\n\n  /")
        .replace("paths:\n\n", "paths:\n")
}

fn put_member(text: &mut String, depth: usize, name: &str, value: &Value) {
    text.push_str(&"  ".repeat(depth));
    text.push_str(&scalar(name));
    text.push(':');
    match value {
        Value::Object(members) if !members.is_empty() => {
            text.push('\n');
            for (name, value) in members {
                put_member(text, depth + 1, name, value);
            }
        }
        Value::Array(elements) if line(elements).is_none() => {
            text.push('\n');
            for element in elements {
                put_element(text, depth + 1, element);
            }
        }
        other => put_simple(text, depth, other),
    }
}

fn put_element(text: &mut String, depth: usize, value: &Value) {
    let start = text.len();
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                put_member(text, depth + 1, name, value);
            }
            // The dash stands in the indentation of the first member.
            text.replace_range(start + 2 * depth..=start + 2 * depth, "-");
        }
        Value::Array(elements) if line(elements).is_none() => unreachable!("a list of long lists"),
        other => {
            text.push_str(&"  ".repeat(depth));
            text.push('-');
            put_simple(text, depth, other);
        }
    }
}

/// Puts what follows a colon or a dash on its line; a text of several lines below it.
fn put_simple(text: &mut String, depth: usize, value: &Value) {
    text.push(' ');
    match value {
        Value::String(block) if is_block(block) => {
            let ends = block.chars().rev().take_while(|&last| last == '\n').count();
            text.push_str(["|-\n", "|\n", "|+\n"][ends.min(2)]);
            for line in block.lines() {
                if !line.is_empty() {
                    text.push_str(&"  ".repeat(depth + 1));
                    text.push_str(line);
                }
                text.push('\n');
            }
            return;
        }
        Value::String(plain) => text.push_str(&scalar(plain)),
        Value::Array(elements) => text.push_str(&line(elements).unwrap()),
        other => text.push_str(&other.to_string()),
    }
    text.push('\n');
}

/// Whether a text can be a block: it has several lines and does not begin with white space.
fn is_block(text: &str) -> bool {
    text.contains('\n') && !text.starts_with([' ', '\n'])
}

/// A list of numbers and short texts on one line.
fn line(elements: &[Value]) -> Option<String> {
    let texts: Option<Vec<_>> = elements
        .iter()
        .map(|element| match element {
            Value::String(text) if text.contains([',', '[', ']', '{', '}']) => Some(quoted(text)),
            Value::String(text) => Some(scalar(text)),
            Value::Object(_) | Value::Array(_) => None,
            other => Some(other.to_string()),
        })
        .collect();
    texts
        .map(|texts| format!("[{}]", texts.join(", ")))
        .filter(|line| line.len() <= LINE)
}

/// A text of one line: as it is if no reader can take it for anything else, otherwise in quotes.
fn scalar(text: &str) -> String {
    // Readers of YAML 1.1 also know 0x1f, 1_000, 1:30 and times.
    let is_number = text.parse::<f64>().is_ok()
        || text.starts_with(|first: char| first.is_ascii_digit())
            && text.contains(['-', '_', ':', 'x', 'o']);
    let is_word = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        .contains(&text.to_lowercase().as_str());
    let is_plain = text
        .starts_with(|first: char| first.is_alphanumeric() || "/^(_$".contains(first))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
        && !text.contains('\n');
    if is_plain && !is_number && !is_word {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn quoted(text: &str) -> String {
    if text.contains(char::is_control) {
        Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}
