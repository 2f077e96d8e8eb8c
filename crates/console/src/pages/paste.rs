//! Animals on the lines of a spreadsheet.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::{
    NewPet, PetStatus,
    store_area::{
        Category, Currency, FieldDefinition, FieldKind, FieldPatch, FieldSet, FieldValues,
    },
};
use petstore_formats::files::{Table, TableLimits, TableProblem, TableRow, read_table};
use petstore_languages::{console::Label, quoted};
use petstore_web::edge::Reader;

use super::{
    add_one::species,
    cells,
    column_meanings::{ColumnMeanings, MEMBERS, column_choices},
    values,
};
use crate::prelude::*;

/// How many animals can be added at once.
pub(super) const MAX_LINES: usize = 100;

/// What is kept of a pasted table: the headings, the animals that can be added at once, and the line after them.
const LIMITS: TableLimits = TableLimits {
    rows: MAX_LINES + 2,
    columns: 100,
};

const LINE_END: [char; 2] = ['\r', '\n'];

/// The beginning of the name of the input for a column, before its number from 1.
const COLUMN: &str = "column-";

/// The input that says whether the first line has headings.
pub(super) const HEADINGS: &str = "headings";

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
    pub(super) input: String,
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

/// The lines that were pasted into a form.
pub(super) struct PastedText {
    text: Arc<str>,
    table: Result<Table, TableProblem>,
}

impl PastedText {
    /// Reads the lines of a form on another thread, because a megabyte takes some milliseconds.
    pub(super) async fn read(desk: &Desk<'_>, form: &Form) -> Result<Self, ApiError> {
        let text: Arc<str> = form.raw("lines").into();
        let shared = Arc::clone(&text);
        let work = move || read_table(&shared, LIMITS);
        let table = desk
            .visit
            .console
            .heavy_work
            .run(Reader::Known, work)
            .await?;
        Ok(Self { text, table })
    }

    /// Returns the first lines, among them the headings if there are any.
    fn rows(&self) -> &[TableRow] {
        self.table
            .as_ref()
            .map(|table| &*table.rows)
            .unwrap_or_default()
    }

    fn row_count(&self) -> usize {
        self.table
            .as_ref()
            .map(|table| table.row_count)
            .unwrap_or_default()
    }

    /// Returns all cells that are shown, among them the categories.
    pub(super) fn cells(&self) -> impl Iterator<Item = &String> {
        self.rows().iter().flat_map(|row| &row.cells)
    }

    /// Returns why no line can be added; `None` if there are lines.
    pub(super) fn problem(&self) -> Option<String> {
        match &self.table {
            Ok(table) if table.rows.is_empty() => Some(texts().nothing_pasted.to_owned()),
            Ok(_) => None,
            Err(TableProblem::Quote { line }) => {
                Some(texts().on_line(*line, texts().quote_not_closed))
            }
        }
    }
}

/// Pasted lines.
pub(super) struct Pasted {
    pub(super) columns: Vec<Column>,
    pub(super) has_headings: bool,
    /// The first lines.
    pub(super) lines: Vec<Line>,
    /// The lines after them, with the headings, and how many they are.
    pub(super) rest: (String, usize),
    /// The problems of the columns: the input of one, and the message.
    pub(super) problems: Errors,
}

impl Pasted {
    /// The headings of the columns that are left out.
    pub(super) fn left_out(&self) -> String {
        let is_left_out = |column: &&Column| column.input.is_empty() && !column.is_empty;
        let headings = self.columns.iter().filter(is_left_out);
        headings
            .map(|column| quoted(&column.heading))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Reads the lines. What each column is, the form says, or else the heading of the column.
pub(super) fn read(pasted: &PastedText, form: &Form, known: &Known<'_>) -> Pasted {
    let meanings = ColumnMeanings::new(known.fields);
    let (headings, animals) = split_headings(pasted, form, &meanings);
    let mut problems = Errors::default();
    let columns = columns(
        form,
        headings,
        animals,
        &meanings,
        known.fields,
        &mut problems,
    );
    let shown = &animals[..animals.len().min(MAX_LINES)];
    let fields: Vec<_> = columns
        .iter()
        .map(|column| field_of(column, known.fields))
        .collect();
    let lines = shown
        .iter()
        .map(|row| line(row, &columns, &fields, known))
        .collect();

    let heading_count = usize::from(headings.is_some());
    let rest_count = pasted
        .row_count()
        .saturating_sub(heading_count + shown.len());
    let rest = rest_text(pasted, headings.is_some(), animals);
    Pasted {
        lines,
        columns,
        has_headings: headings.is_some(),
        rest: (rest, rest_count),
        problems,
    }
}

/// Returns the headings, if the first line has them, and the other lines.
fn split_headings<'p>(
    pasted: &'p PastedText,
    form: &Form,
    meanings: &ColumnMeanings,
) -> (Option<&'p TableRow>, &'p [TableRow]) {
    let Some((first, others)) = pasted.rows().split_first() else {
        return (None, &[]);
    };
    let is_heading = match form.raw(HEADINGS) {
        "" => {
            first
                .cells
                .iter()
                .filter(|cell| meanings.meaning(cell).is_some())
                .count()
                > 1
        }
        chosen => chosen == "yes",
    };
    if is_heading {
        (Some(first), others)
    } else {
        (None, pasted.rows())
    }
}

/// Returns the headings and the lines after the first ones, for the next form.
fn rest_text(pasted: &PastedText, has_headings: bool, animals: &[TableRow]) -> String {
    let text = &*pasted.text;
    let Some(first_of_rest) = animals.get(MAX_LINES) else {
        return String::new();
    };
    let rest = text[first_of_rest.start..].trim_matches(LINE_END);
    match animals.first() {
        Some(first) if has_headings => {
            let headings = text[..first.start].trim_matches(LINE_END);
            format!("{headings}\n{rest}")
        }
        _ => rest.to_owned(),
    }
}

/// Returns the columns, each with what it is: as the form says, or else as its heading or its place says.
fn columns(
    form: &Form,
    headings: Option<&TableRow>,
    rows: &[TableRow],
    meanings: &ColumnMeanings,
    fields: &FieldSet,
    problems: &mut Errors,
) -> Vec<Column> {
    let choices = column_choices(fields);
    let widest = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let width = headings.map_or(widest, |row| row.cells.len());
    let mut columns: Vec<Column> = Vec::new();

    for position in 0..width {
        let id = format!("{COLUMN}{}", position + 1);
        let heading = headings.map_or("", |row| &row.cells[position]);
        let guessed = match headings {
            Some(_) => meanings.meaning(heading),
            None => MEMBERS.get(position).map(|(name, _)| *name),
        };
        let chosen = form.all(&id).next();
        let input = chosen.or(guessed).unwrap_or_default();
        let mut choice = choices.iter().find(|(name, _)| name == input);

        let is_taken = columns
            .iter()
            .any(|column| !input.is_empty() && column.input == input);
        if let Some((_, label)) = choice.take_if(|_| is_taken)
            && chosen.is_some()
        {
            problems.add(id.clone(), texts().chosen_twice(label));
        }
        let (input, label) = choice.cloned().unwrap_or_default();
        let is_empty = heading.is_empty()
            && rows
                .iter()
                .all(|row| row.cells.get(position).is_none_or(String::is_empty));
        let heading = wording::heading(position, heading);
        columns.push(Column {
            id,
            heading,
            input,
            label,
            is_empty,
        });
    }
    name_missing(&columns, fields, problems);
    columns
}

/// Names the members that no column is, at the column that each probably is.
fn name_missing(columns: &[Column], fields: &FieldSet, problems: &mut Errors) {
    let unknown = columns
        .iter()
        .find(|column| column.input.is_empty() && !column.is_empty);
    let place = unknown.map_or_else(|| format!("{COLUMN}1"), |column| column.id.clone());
    let has = |input: &str| columns.iter().any(|column| column.input == input);
    let has_species = fields
        .find("species")
        .is_some_and(|field| has(&values::input_of(field)));
    for (name, label) in &MEMBERS[..2] {
        if !(has(name) || has_species && *name == "category") {
            problems.add(place.clone(), texts().column_missing(label(texts())));
        }
    }
}

/// Returns the field that the cells of a column are for.
fn field_of<'k>(column: &Column, fields: &'k FieldSet) -> Option<&'k FieldDefinition> {
    fields
        .all()
        .iter()
        .find(|field| values::input_of(field) == column.input)
}

fn line(
    row: &TableRow,
    columns: &[Column],
    fields: &[Option<&FieldDefinition>],
    known: &Known<'_>,
) -> Line {
    let mut errors = Errors::default();
    let form = typed(row, columns, fields, known, &mut errors);
    if row.is_ambiguous {
        errors.add("", texts().several_lines);
    }
    if row.has_more_cells
        || row
            .cells
            .iter()
            .skip(columns.len())
            .any(|cell| !cell.is_empty())
    {
        errors.add("", texts().no_heading);
    }
    let member =
        |(name, label): (&str, Label)| (form.get(name).to_owned(), label(texts()).to_owned());
    let [name, category, status] = MEMBERS.map(member);
    let mut take = |(_, label): &(String, String), message: String| {
        errors.add("", labelled(label, &message));
    };
    let of_name = forms::parse_name(&name.0).map_err(|message| take(&name, message));
    let of_species = species(&form, known.fields).filter(|_| category.0.is_empty());
    let of_category = match of_species.as_ref().map_or(&*category.0, |(_, label)| label) {
        "" => Err(texts().species_or_category.to_owned()),
        typed => forms::find_category(typed, known.categories),
    };
    let category_id = of_category.map_err(|message| take(&category, message));
    let of_status = match &*status.0 {
        "" => Ok(PetStatus::default()),
        typed => forms::parse_status(typed).map_err(|message| take(&status, message)),
    };
    let before = (&FieldValues::NONE, known.now, known.currency);
    let fields = values::patch(known.fields, &form, before, &mut errors);
    let result = match (of_name, category_id, of_status) {
        (Ok(name), Ok(category_id), Ok(status)) if errors.is_empty() => Ok((
            NewPet {
                name,
                category_id,
                status,
            },
            fields,
        )),
        _ => Err(errors.messages().map(str::to_owned).collect()),
    };
    let shown = |at| row.cells.get(at).map_or("", String::as_str);
    let cells = (0..columns.len())
        .map(|at| markup::readable(shown(at), SHORT))
        .collect();
    Line {
        number: row.line,
        cells,
        result,
        of_species,
    }
}

fn labelled(label: &str, message: &str) -> String {
    [
        &*markup::readable(label, SHORT),
        window_texts().colon,
        message,
    ]
    .concat()
}

/// Returns the cells of a line as a browser would send them, and names those that cannot be read.
fn typed(
    row: &TableRow,
    columns: &[Column],
    fields: &[Option<&FieldDefinition>],
    known: &Known<'_>,
    errors: &mut Errors,
) -> Form {
    let mut typed = Vec::new();
    for ((column, field), cell) in columns.iter().zip(fields).zip(&row.cells) {
        if column.input.is_empty() {
            continue;
        }
        let may_have_lines = field.is_some_and(|field| field.kind == FieldKind::LongText);
        let value = match field {
            _ if cell.contains(LINE_END) && !may_have_lines => {
                Err(texts().several_lines.to_owned())
            }
            Some(field) => cells::normalize(field, cell, known.currency),
            None => Ok(cell.clone()),
        };
        match value {
            Ok(value) => typed.push((column.input.clone(), value)),
            Err(message) => errors.add("", labelled(&column.label, &message)),
        }
    }
    typed.into_iter().collect()
}
