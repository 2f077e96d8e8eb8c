//! Habits that make code hard to follow in one pass. None of them may become more frequent.

use std::path::Path;

use regex::Regex;

use crate::sources;

/// The most lines that a reader keeps in view.
const MAX_LINES_OF_FUNCTION: usize = 40;

/// A habit, and where it is found.
struct Habit {
    /// What a reader meets, with what to write instead.
    advice: &'static str,
    /// Finds the numbers of the lines with the habit in the text of a file.
    find_lines: fn(&str) -> Vec<usize>,
    /// The number of places in the whole project. Lower it when there are fewer.
    max_places: usize,
}

const HABITS: &[Habit] = &[
    Habit {
        advice: "a `let` binds several values that belong to nothing: write one `let` for each",
        find_lines: |text| matching_lines(text, r"^\s*let \([^)]*\) = \("),
        max_places: 0,
    },
    Habit {
        advice: "a preposition is the name of a value: name what it holds",
        find_lines: |text| {
            matching_lines(text, r"(\blet (mut )?|[(,] ?|\|)(of|on|at|by)(\||: | = )")
        },
        max_places: 0,
    },
    Habit {
        advice: "the name of a function is no verb and no noun: say what it does or returns",
        find_lines: |text| {
            matching_lines(
                text,
                r"\bfn (of|on|at|by|shown|said|meant|wanted|sought|found)\b",
            )
        },
        max_places: 1,
    },
    Habit {
        advice: "a condition is dressed as a filter: write an `if`",
        find_lines: |text| matching_lines(text, r"\.filter\(\|_\|"),
        max_places: 1,
    },
    Habit {
        advice: "the doc of a function begins with no verb: write \"Returns …\", \"Checks …\" or \"Whether …\"",
        find_lines: docs_without_verb,
        max_places: 81,
    },
    Habit {
        advice: "a phrase refers to a noun that it leaves out: repeat the noun",
        find_lines: |text| {
            matching_lines(
                text,
                r"//[/!]?.*\b([Tt]hat of|[Tt]hose of|[Ss]o many|the same for)\b",
            )
        },
        max_places: 17,
    },
    Habit {
        advice: "a function is longer than 40 lines: name a part and move it",
        find_lines: long_functions,
        max_places: 111,
    },
];

/// Returns the numbers of the lines that match `pattern`.
fn matching_lines(text: &str, pattern: &str) -> Vec<usize> {
    let pattern = Regex::new(pattern).unwrap();
    let numbered_lines = (1..).zip(text.lines());
    numbered_lines
        .filter(|(_, line)| pattern.is_match(line))
        .map(|(number, _)| number)
        .collect()
}

/// Whether a line begins a function.
fn begins_function(line: &str) -> bool {
    let modifiers = ["pub", "const", "async", "unsafe"];
    let mut words = line.split_whitespace();
    let first_other_word =
        words.find(|word| !modifiers.iter().any(|modifier| word.starts_with(modifier)));
    first_other_word == Some("fn")
}

/// Returns the numbers of the lines that begin the doc of a function with a word that is neither a verb in
/// the third person nor "Whether".
fn docs_without_verb(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let mut found_lines = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let is_first_of_doc =
            line.starts_with("/// ") && !(index > 0 && lines[index - 1].starts_with("///"));
        if !is_first_of_doc {
            continue;
        }
        let documented = lines[index..]
            .iter()
            .find(|line| !line.starts_with("///") && !line.starts_with("#["));
        let Some(documented) = documented else {
            continue;
        };
        let first_word = line.split(' ').nth(1).unwrap_or_default();
        let is_verb = first_word == "Whether" || first_word.ends_with('s');
        if begins_function(documented) && !is_verb {
            found_lines.push(index + 1);
        }
    }
    found_lines
}

/// Returns the first lines of the functions that are too long. rustfmt closes a function at the
/// indentation of its first line.
fn long_functions(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found_lines = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if !begins_function(line) {
            continue;
        }
        let indentation = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indentation}}}");
        let length = lines[index..].iter().position(|line| *line == end);
        if length.is_some_and(|length| length + 1 > MAX_LINES_OF_FUNCTION) {
            found_lines.push(index + 1);
        }
    }
    found_lines
}

/// Returns the text of a file before its module of tests.
fn without_tests(text: &str) -> &str {
    text.split_once("\n#[cfg(test)]\nmod ")
        .map_or(text, |(code, _)| code)
}

/// Whether a file is a list of texts that a translator reads.
fn is_list_of_texts(path: &Path) -> bool {
    path.to_str().unwrap().contains("crates/languages/src/")
}

#[test]
fn no_habit_that_makes_code_hard_to_follow_becomes_more_frequent() {
    let mut sources = sources();
    sources.retain(|(path, _)| !is_list_of_texts(path));
    for habit in HABITS {
        let mut places = Vec::new();
        for (path, text) in &sources {
            for line in (habit.find_lines)(without_tests(text)) {
                places.push(format!("{}:{line}", path.display()));
            }
        }
        assert!(
            places.len() <= habit.max_places,
            "{}.\n{} places, and at most {} are allowed. Write those of your change otherwise:\n{}",
            habit.advice,
            places.len(),
            habit.max_places,
            places.join("\n")
        );
    }
}
