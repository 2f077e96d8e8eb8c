//! The problems of pasted lines. A message that several lines have in common is shown once, with
//! their numbers.

use std::collections::BTreeMap;

use super::paste::Line;
use crate::prelude::*;

/// The maximum number of lines that a message lists.
const MAX_NAMED_LINES: usize = 12;

/// The messages about lines, each with the numbers of the lines.
pub(super) struct LineProblems<'l> {
    lines_by_message: BTreeMap<&'l str, Vec<usize>>,
}

impl<'l> LineProblems<'l> {
    /// Collects the messages about these lines.
    pub(super) fn new(lines: &'l [Line]) -> Self {
        let mut lines_by_message: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for line in lines {
            let Err(messages) = &line.result else {
                continue;
            };
            for message in messages {
                let numbers = lines_by_message.entry(message).or_default();
                numbers.push(line.number);
            }
        }
        Self { lines_by_message }
    }

    /// Whether this message is about several lines.
    fn is_shared(&self, message: &str) -> bool {
        let numbers = self.lines_by_message.get(message);
        numbers.is_some_and(|numbers| numbers.len() > 1)
    }

    /// Renders the messages about several lines, in the order of their first lines.
    pub(super) fn summary(&self) -> Markup {
        let mut shared_messages = Vec::new();
        for (message, numbers) in &self.lines_by_message {
            if self.is_shared(message) {
                shared_messages.push((numbers, message));
            }
        }
        shared_messages.sort();
        html! {
            @if !shared_messages.is_empty() {
                ul {
                    @for (numbers, message) in shared_messages {
                        li { (lines_in_words(numbers)) (window_texts().colon) (message) }
                    }
                }
            }
        }
    }

    /// Renders the messages of one line. Messages that are also about other lines are replaced by a
    /// reference to the summary.
    pub(super) fn messages_of_line(&self, messages: &[String]) -> Markup {
        let has_shared = messages.iter().any(|message| self.is_shared(message));
        html! {
            @for message in messages {
                @if !self.is_shared(message) { p.error { (message) } }
            }
            @if has_shared { p.error { (texts().see_above) } }
        }
    }
}

/// Returns a label for the numbers of lines, such as `Lines 4, 5`.
fn lines_in_words(numbers: &[usize]) -> String {
    let mut named_lines: Vec<String> = numbers
        .iter()
        .take(MAX_NAMED_LINES)
        .map(ToString::to_string)
        .collect();
    if numbers.len() > MAX_NAMED_LINES {
        named_lines.push("…".to_owned());
    }
    texts().lines_with(&named_lines.join(", "))
}
