//! Counts what makes a reader stop, in all sources. No count may rise.
//!
//! A place that reads well may stay. Whoever lowers a count also lowers its limit.

use std::path::PathBuf;

use super::sources;

/// A habit of writing that costs a reader a second look.
struct Habit {
    name: &'static str,
    max_places: usize,
    find: fn(&str) -> Vec<usize>,
}

const HABITS: [Habit; 7] = [
    Habit {
        name: "a pattern that declares unrelated values: `let (a, b) = (x, y);`",
        max_places: 0,
        find: packed_values,
    },
    Habit {
        name: "a name that does not say what it holds: `of`, `found`, `rest`",
        max_places: 0,
        find: empty_names,
    },
    Habit {
        name: "a function without a verb or noun: `of`, `shown`, `with`",
        max_places: 0,
        find: empty_functions,
    },
    Habit {
        name: "a condition in a chain: `.filter(|_| condition)`",
        max_places: 0,
        find: conditions_in_chains,
    },
    Habit {
        name: "a function of more than 40 lines",
        max_places: 0,
        find: long_functions,
    },
    Habit {
        name: "a document of a function that does not begin with a verb",
        max_places: 0,
        find: documents_without_verb,
    },
    Habit {
        name: "a phrase whose noun stands elsewhere: `those of`, `so many`",
        max_places: 0,
        find: phrases_without_noun,
    },
];

/// Prepositions, pronouns and participles that say nothing about a value.
const EMPTY_NAMES: [&str; 32] = [
    "all", "among", "at", "behind", "but", "by", "found", "given", "known", "kept", "meant",
    "more", "most", "of", "on", "one", "others", "own", "read", "rest", "said", "shown", "sought",
    "taken", "there", "typed", "wanted", "was", "what", "which", "who", "with",
];

/// Words that name no function.
const EMPTY_FUNCTIONS: [&str; 16] = [
    "at", "by", "found", "given", "has", "is", "kept", "known", "meant", "none", "of", "on",
    "others", "shown", "was", "with",
];

/// What begins the document of a function and is not a verb.
const NOUN_BEGINNINGS: [&str; 12] = [
    "A ", "All ", "An ", "At ", "How ", "In ", "Of ", "The ", "What ", "Where ", "Which ", "Why ",
];

/// Phrases that leave out the noun that they are about.
const PHRASES: [&str; 7] = [
    "of what ",
    "of which",
    "so many",
    "that of ",
    "the same for",
    "the same with",
    "those of ",
];

/// Returns the numbers of the lines of code, without comments, that have a property.
fn lines_of_code(text: &str, has_property: impl Fn(&str) -> bool) -> Vec<usize> {
    let mut numbers = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.trim_start();
        if !code.starts_with("//") && has_property(code) {
            numbers.push(number);
        }
    }
    numbers
}

fn packed_values(text: &str) -> Vec<usize> {
    lines_of_code(text, |code| {
        code.starts_with("let (") && code.contains(") = (")
    })
}

fn conditions_in_chains(text: &str) -> Vec<usize> {
    lines_of_code(text, |code| code.contains(".filter(|_| "))
}

fn empty_names(text: &str) -> Vec<usize> {
    lines_of_code(text, |code| {
        EMPTY_NAMES.iter().any(|name| is_bound(code, name))
    })
}

/// Whether a line declares a variable, a parameter or a field with this name.
///
/// `let of = total;`, `|of| of.id` and `of: &Filter,` declare `of`.
fn is_bound(code: &str, name: &str) -> bool {
    let patterns = [
        format!("let {name} "),
        format!("let mut {name} "),
        format!("let {name}:"),
        format!("|{name}|"),
        format!("|{name}, "),
        format!("({name}: "),
        format!(", {name}: "),
    ];
    code.starts_with(&format!("{name}: "))
        || patterns
            .iter()
            .any(|pattern| code.contains(pattern.as_str()))
}

fn empty_functions(text: &str) -> Vec<usize> {
    lines_of_code(text, |code| {
        let Some((_, declaration)) = code.split_once("fn ") else {
            return false;
        };
        let end = declaration.find(['(', '<']).unwrap_or(declaration.len());
        EMPTY_FUNCTIONS.contains(&&declaration[..end])
    })
}

/// Returns the first lines of functions that have more than 40 lines.
///
/// rustfmt gives the closing brace of a function the indentation of its first line.
fn long_functions(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut numbers = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        if !is_function(line.trim_start()) {
            continue;
        }
        let closing_brace = format!("{}}}", &line[..indentation]);
        let end = lines[index..]
            .iter()
            .position(|line| *line == closing_brace);
        if end.is_some_and(|end| end >= 40) {
            numbers.push(index + 1);
        }
    }
    numbers
}

/// Whether a line of code begins the declaration of a function with a body.
fn is_function(code: &str) -> bool {
    let without_visibility = match code.strip_prefix("pub") {
        Some(after) => after
            .split_once(' ')
            .map_or(after, |(_, declaration)| declaration),
        None => code,
    };
    let declaration = without_visibility
        .trim_start_matches("const ")
        .trim_start_matches("async ");
    declaration.starts_with("fn ") && !code.ends_with(';')
}

fn documents_without_verb(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    let mut first_line = None;
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.trim_start();
        if let Some(sentence) = code.strip_prefix("/// ") {
            first_line.get_or_insert((number, sentence));
        } else if is_function(code) {
            if let Some((number, sentence)) = first_line.take()
                && NOUN_BEGINNINGS
                    .iter()
                    .any(|noun| sentence.starts_with(noun))
            {
                numbers.push(number);
            }
        } else if !code.starts_with("///") && !code.starts_with("#[") {
            first_line = None;
        }
    }
    numbers
}

fn phrases_without_noun(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_comment = line.trim_start().starts_with("//");
        if is_comment && PHRASES.iter().any(|phrase| line.contains(phrase)) {
            numbers.push(number);
        }
    }
    numbers
}

#[test]
fn no_habit_that_costs_a_reader_a_second_look_spreads() {
    let mut spread = Vec::new();
    for habit in HABITS {
        let mut places: Vec<(PathBuf, usize)> = Vec::new();
        for (path, text) in sources() {
            places.extend(
                (habit.find)(&text)
                    .into_iter()
                    .map(|line| (path.clone(), line)),
            );
        }
        if places.len() > habit.max_places {
            let places: Vec<String> = places
                .iter()
                .map(|(path, line)| format!("{}:{line}", path.display()))
                .collect();
            let count = places.len();
            let max_places = habit.max_places;
            let name = habit.name;
            spread.push(format!(
                "{count} places, not {max_places}: {name}\n{}",
                places.join("\n")
            ));
        }
    }
    assert!(spread.is_empty(), "{}", spread.join("\n\n"));
}

#[test]
fn each_habit_is_found_in_an_example() {
    let long_body = "    step();\n".repeat(39);
    let long_function = format!("fn run() {{\n{long_body}}}\n");
    let examples = [
        "let (count, pets) = (0, Vec::new());",
        "let found = search(|of| of.id);",
        "pub(super) fn of(file: PhotoFile) -> Path {",
        "number.filter(|_| is_known)",
        &long_function,
        "/// The path of a photo.\nfn path() {\n}",
        "/// Returns those of the others.",
    ];
    for (habit, example) in HABITS.iter().zip(examples) {
        assert_eq!((habit.find)(example), [1], "{}", habit.name);
    }
    let plain = "/// Returns the path of a photo.\nfn path() {\n    let pets = search();\n}\n";
    for habit in HABITS {
        assert_eq!((habit.find)(plain), [0; 0], "{}", habit.name);
    }
}
