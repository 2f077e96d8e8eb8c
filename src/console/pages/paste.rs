//! Animals on the lines of a spreadsheet.

use jiff::Timestamp;

use super::{add_one::species, cells, values};
use crate::console::prelude::*;
use crate::languages::{all_field_labels, console::Label, in_each_language, quoted};
use crate::{
    domain::{
        NewPet, PetStatus,
        store_area::{
            Category, Currency, FieldDefinition, FieldKind, FieldPatch, FieldSet, FieldValues,
        },
    },
    text,
};

/// How many animals can be added at once.
pub(super) const MAX_LINES: usize = 100;

/// How many columns are read.
const MAX_COLUMNS: usize = 100;

const LINE_END: [char; 2] = ['\r', '\n'];

/// The beginning of the name of the input for a column, before its number from 1.
const COLUMN: &str = "column-";

/// The input that says whether the first line has headings.
pub(super) const HEADINGS: &str = "headings";

/// The members that a column can have, besides the fields: the inputs for them, and their labels.
const MEMBERS: [(&str, Label); 3] =
    [("name", |of| of.name), ("category", |of| of.category), ("status", |of| of.status_label)];

/// The categories, the fields and the currency of the store.
pub(super) struct Known<'k> {
    pub(super) categories: &'k [Category],
    pub(super) fields: &'k FieldSet,
    pub(super) currency: Option<&'k Currency>,
    pub(super) now: Timestamp,
}

/// A column of the lines.
pub(super) struct Column {
    /// The name of the input that chooses what it is.
    pub(super) id: String,
    /// Its heading, or its number.
    pub(super) heading: String,
    /// The name of the input of an animal that its cells are for; empty if it is left out.
    pub(super) of: String,
    /// The label of that input.
    pub(super) label: String,
    is_empty: bool,
}

/// A line: what it says, and the animal or all that is wrong.
pub(super) struct Line {
    /// From 1.
    pub(super) number: usize,
    /// Its cells, one for each column.
    pub(super) cells: Vec<String>,
    pub(super) result: Result<(NewPet, FieldPatch), Vec<String>>,
    /// Its species, and the name of the category of this species, if it names no other one.
    pub(super) of_species: Option<(String, String)>,
}

/// Pasted lines.
pub(super) struct Pasted {
    pub(super) columns: Vec<Column>,
    pub(super) has_headings: bool,
    /// The first lines.
    pub(super) lines: Vec<Line>,
    /// The lines behind them, with the headings, and how many they are.
    pub(super) rest: (String, usize),
    /// The problems of the columns: the input of one, and the message.
    pub(super) problems: Errors,
}

impl Pasted {
    /// The headings of the columns that are left out.
    pub(super) fn left_out(&self) -> String {
        let is_left_out = |column: &&Column| column.of.is_empty() && !column.is_empty;
        let headings = self.columns.iter().filter(is_left_out);
        headings.map(|column| quoted(&column.heading)).collect::<Vec<_>>().join(", ")
    }
}

/// The possible meanings of a column: the name of an input of an animal, and its label.
pub(super) fn choices(fields: &FieldSet) -> impl Iterator<Item = (String, String)> {
    let label = |field: &FieldDefinition| values::label_of(field);
    let fields = fields.all().iter().map(move |field| (values::input_of(field), label(field)));
    MEMBERS
        .into_iter()
        .map(|(name, label)| (name.to_owned(), label(texts()).to_owned()))
        .chain(fields)
}

/// All cells, among them the categories.
pub(super) fn typed(text: &str) -> impl Iterator<Item = String> {
    records(text).into_iter().flat_map(|(_, cells)| cells)
}

/// The lines that are not empty, each with its first byte, and with its cells. One that is quoted may
/// have several lines.
fn records(text: &str) -> Vec<(usize, Vec<String>)> {
    // A spreadsheet copies tabs; a file of comma-separated values has commas or semicolons.
    let separator = b"\t;,".iter().copied().find(|of| text.as_bytes().contains(of));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator.unwrap_or(b','))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let record = |record: csv::StringRecord| {
        let start = record.position().map_or(0, csv::Position::byte);
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        (start, record.iter().map(|cell| cell.trim().to_owned()).collect())
    };
    let is_filled = |(_, cells): &(_, Vec<String>)| cells.iter().any(|cell| !cell.is_empty());
    reader.records().filter_map(Result::ok).map(record).filter(is_filled).collect()
}

/// Reads the lines. What each column is, the form says, or else the heading of the column.
pub(super) fn read(form: &Form, known: &Known<'_>) -> Pasted {
    let text = form.raw("lines");
    let mut records = records(text);
    let first = records.first().map(|(_, cells)| &**cells).unwrap_or_default();
    let has_headings = match form.raw(HEADINGS) {
        "" => first.iter().filter(|cell| meaning(cell, known.fields).is_some()).count() > 1,
        chosen => chosen == "yes",
    };
    let headings = if has_headings { Some(records.remove(0).1) } else { None };
    let mut problems = Errors::default();
    let columns = columns(form, headings.as_deref(), &records, known.fields, &mut problems);
    let after = records.get(MAX_LINES).map_or(text.len(), |(start, _)| *start);
    let more = records.len().saturating_sub(MAX_LINES);
    let until = records.first().filter(|_| has_headings).map_or(0, |(start, _)| *start);
    let [heading_line, others] =
        [&text[..until], &text[after..]].map(|of| of.trim_matches(LINE_END));
    let rest = format!("{heading_line}\n{others}").trim_start_matches(LINE_END).to_owned();
    let number = |start: usize| {
        let behind = text[start..].trim_start_matches(LINE_END);
        1 + text[..text.len() - behind.len()].matches('\n').count()
    };
    let records = records.iter().take(MAX_LINES);
    let lines = records.map(|(start, cells)| line(number(*start), cells, &columns, known));
    let lines = lines.collect();
    Pasted { lines, columns, has_headings, rest: (rest, more), problems }
}

/// The meaning of a heading in any language: the name of an input of an animal.
fn meaning(heading: &str, fields: &FieldSet) -> Option<String> {
    let heading = text::heading(heading);
    let member = match &*heading {
        "animal" => Some("name"),
        "categoryid" => Some("category"),
        other => MEMBERS.iter().map(|(name, _)| *name).find(|name| *name == other),
    };
    let is_it = |text: &str| text::heading(text) == heading;
    let is_own = |field: &&FieldDefinition| {
        [field.name.as_str(), field.label.as_str(), &values::label_of(field)].into_iter().any(is_it)
    };
    let field = || fields.all().iter().find(is_own).map(values::input_of);
    let other = || MEMBERS.iter().find(|(_, label)| in_each_language(*label).any(is_it));
    let usual = || {
        let price = in_each_language(|of| of.price).any(is_it).then_some("price");
        let names = all_field_labels().filter(|of| is_it(of.label)).map(|of| of.name);
        names.chain(price).find_map(|name| fields.find(name)).map(values::input_of)
    };
    let other = || other().map(|(name, _)| (*name).to_owned()).or_else(usual);
    member.map(str::to_owned).or_else(field).or_else(other)
}

fn columns(
    form: &Form,
    headings: Option<&[String]>,
    records: &[(usize, Vec<String>)],
    fields: &FieldSet,
    problems: &mut Errors,
) -> Vec<Column> {
    let width = records.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let width = headings.map_or(width, <[String]>::len).min(MAX_COLUMNS);
    let mut columns: Vec<Column> = Vec::new();
    for at in 0..width {
        let id = format!("{COLUMN}{}", at + 1);
        let heading = headings.map_or("", |headings| &headings[at]);
        let usual = || MEMBERS.get(at).map(|(name, _)| (*name).to_owned());
        let guessed = || if headings.is_some() { meaning(heading, fields) } else { usual() };
        let chosen = form.all(&id).next();
        let of = chosen.map(str::to_owned).or_else(guessed).unwrap_or_default();
        let known = choices(fields).find(|(name, _)| *name == of);
        let is_taken = !of.is_empty() && columns.iter().any(|column| column.of == of);
        if let (Some((_, label)), Some(_), true) = (&known, chosen, is_taken) {
            problems.add(id.clone(), texts().chosen_twice(label));
        }
        let (of, label) = known.filter(|_| !is_taken).unwrap_or_default();
        let has_none = |(_, cells): &(_, Vec<String>)| cells.get(at).is_none_or(String::is_empty);
        let is_empty = heading.is_empty() && records.iter().all(has_none);
        columns.push(Column { id, heading: wording::heading(at, heading), of, label, is_empty });
    }
    // The one that it probably is.
    let unknown = columns.iter().find(|column| column.of.is_empty() && !column.is_empty);
    let at = unknown.map_or_else(|| format!("{COLUMN}1"), |column| column.id.clone());
    let has = |of: &str| columns.iter().any(|column| column.of == of);
    let has_species = fields.find("species").is_some_and(|of| has(&values::input_of(of)));
    for (name, label) in &MEMBERS[..2] {
        if !(has(name) || has_species && *name == "category") {
            problems.add(at.clone(), texts().column_missing(label(texts())));
        }
    }
    columns
}

fn line(number: usize, cells: &[String], columns: &[Column], known: &Known<'_>) -> Line {
    let mut errors = Errors::default();
    let mut typed = Vec::new();
    for (column, cell) in columns.iter().zip(cells).filter(|(column, _)| !column.of.is_empty()) {
        let is_it = |field: &&FieldDefinition| values::input_of(field) == column.of;
        let field = known.fields.all().iter().find(is_it);
        let value = match field {
            _ if cell.contains(LINE_END)
                && field.is_none_or(|field| field.kind != FieldKind::LongText) =>
            {
                Err(texts().several_lines.to_owned())
            }
            Some(field) => cells::as_input(field, cell, known.currency),
            None => Ok(cell.clone()),
        };
        match value {
            Ok(value) => typed.push((column.of.clone(), value)),
            Err(message) => errors.add("", labelled(&column.label, &message)),
        }
    }
    if cells.iter().skip(columns.len()).any(|cell| !cell.is_empty()) {
        errors.add("", texts().no_heading);
    }
    let form: Form = typed.into_iter().collect();
    let member =
        |(name, label): (&str, Label)| (form.get(name).to_owned(), label(texts()).to_owned());
    let [name, category, status] = MEMBERS.map(member);
    let mut take = |(_, label): &(String, String), message: String| {
        errors.add("", labelled(label, &message));
    };
    let of_name = forms::name(&name.0).map_err(|message| take(&name, message));
    let of_species = species(&form, known.fields).filter(|_| category.0.is_empty());
    let of_category = match of_species.as_ref().map_or(&*category.0, |(_, label)| label) {
        "" => Err(texts().species_or_category.to_owned()),
        typed => forms::category(typed, known.categories),
    };
    let category_id = of_category.map_err(|message| take(&category, message));
    let of_status = match &*status.0 {
        "" => Ok(PetStatus::default()),
        typed => forms::status(typed).map_err(|message| take(&status, message)),
    };
    let before = (&FieldValues::NONE, known.now, known.currency);
    let fields = values::patch(known.fields, &form, before, &mut errors);
    let result = match (of_name, category_id, of_status) {
        (Ok(name), Ok(category_id), Ok(status)) if errors.is_empty() => {
            Ok((NewPet { name, category_id, status }, fields))
        }
        _ => Err(errors.messages().map(str::to_owned).collect()),
    };
    let shown = |at| cells.get(at).map_or("", String::as_str);
    let cells = (0..columns.len()).map(|at| markup::readable(shown(at), SHORT)).collect();
    Line { number, cells, result, of_species }
}

fn labelled(label: &str, message: &str) -> String {
    [&*markup::readable(label, SHORT), window_texts().colon, message].concat()
}
