//! Adding many animals at once.

use std::collections::{BTreeSet, HashMap, HashSet, hash_map::Entry};

use petstore_domain::{
    NewPet, PetStatus,
    store_area::{Category, Command, FieldPatch, FieldSet, FirstStep, Given, Preconditions},
};

use super::{
    add_one::{page, usual},
    column_meanings::column_choices,
    commands::called,
    paste::{self, Column, Known, Line, Pasted, PastedText},
    values,
};
use crate::prelude::*;

/// The lines pasted into the form, with the categories and the fields of the store. A number that neither
/// a category nor an animal has is no category. Categories of version 0 are those that species still lack.
async fn read(
    desk: &Desk<'_>,
    text: &PastedText,
    form: &Form,
) -> Result<(Pasted, Vec<Category>, FieldSet), ApiError> {
    let mut typed: Vec<String> = text.cells().cloned().collect();
    let (fields, now, currency) = (
        desk.store().fields().await?,
        desk.visit.now,
        desk.currency(),
    );
    let read = |categories: &[Category]| {
        paste::read(
            text,
            form,
            &Known {
                categories,
                fields: &fields,
                currency,
                now,
            },
        )
    };
    let of_species: BTreeSet<_> = read(&[])
        .lines
        .into_iter()
        .filter_map(|line| line.of_species)
        .collect();
    typed.extend(of_species.iter().map(|(_, label)| label.clone()));
    let mut categories = desk.load_categories_by_names(&typed).await?;
    let mut above = 0;
    for (species, label) in of_species {
        let is_new = !categories
            .iter()
            .any(|category| forms::is_named(category, &label));
        let (true, Ok(label)) = (is_new, forms::parse_label(&label)) else {
            continue;
        };
        if let Some(id) = usual(desk, &species, &fields).await? {
            // The first one with its number is the one that the page shows.
            categories.extend(desk.load_category(id).await?);
            categories.push(Category {
                id,
                label,
                version: 1,
            });
        } else if let Some(id) = desk.find_free_category_number(above).await? {
            categories.push(Category {
                id,
                label,
                version: 0,
            });
            above = id;
        }
    }
    let mut pasted = read(&categories);
    let mut checked = HashMap::new();
    for line in &mut pasted.lines {
        let Ok((pet, _)) = &line.result else { continue };
        let id = pet.category_id;
        let is_named = categories.iter().any(|category| category.id == id);
        if let Entry::Vacant(entry) = checked.entry(id) {
            entry.insert(is_named || desk.is_category_number_used(id).await?);
        }
        if !checked[&id] {
            line.result = Err(vec![texts().no_category(id)]);
        }
    }
    Ok((pasted, categories, fields))
}

/// Names the lines that have a value which no two animals may have, and an animal or a line before has.
async fn name_taken(
    desk: &Desk<'_>,
    pasted: &mut Pasted,
    fields: &FieldSet,
) -> Result<(), ApiError> {
    let mut before = HashSet::new();
    for line in &mut pasted.lines {
        let Ok((_, given)) = &line.result else {
            continue;
        };
        let mut problems = Vec::new();
        for field in fields.all() {
            let Some(Given::Set(value)) = given.get(field.name.as_str()) else {
                continue;
            };
            let Some(key) = fields.unique_key(field.name.as_str(), value) else {
                continue;
            };
            let owner = match desk.store().owners(key.clone()).await?.first() {
                Some(owner) => desk
                    .store()
                    .get_store_pet(*owner)
                    .await?
                    .map(|pet| called(&pet)),
                None => None,
            };
            let is_new = before.insert(key);
            if let Some(other) = owner.or((!is_new).then(|| texts().other_new.to_owned())) {
                let label = values::label_of(field);
                problems.push(texts().value_taken(&label, &other));
            }
        }
        if !problems.is_empty() {
            line.result = Err(problems);
        }
    }
    Ok(())
}

/// Shows what would be added. Changes nothing.
pub(super) async fn preview(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = PastedText::read(desk, &desk.visit.form).await?;
    preview_of(desk, &text, &desk.visit.form, 0).await
}

/// Shows the lines of a form after so many animals of the lines before these were added. Shows the form again if no
/// line can be added.
async fn preview_of(
    desk: &Desk<'_>,
    text: &PastedText,
    form: &Form,
    added: usize,
) -> Result<Reply, ApiError> {
    let (mut pasted, categories, fields) = read(desk, text, form).await?;
    name_taken(desk, &mut pasted, &fields).await?;
    let mut errors = Errors::default();
    if let Some(problem) = text.problem() {
        errors.add("lines", problem);
    } else if pasted.lines.is_empty() {
        errors.add("lines", texts().nothing_pasted);
    }
    if added == 0 && pasted.lines.is_empty() {
        return Ok(page(desk, form, (&categories, &fields), &errors).into());
    }
    let shown = (&pasted, (&*categories, &fields));
    Ok(show_preview(desk, form, shown, &errors, added).into())
}

/// A preview, after so many animals of the lines before these were added.
fn show_preview(
    desk: &Desk<'_>,
    form: &Form,
    (pasted, known): (&Pasted, (&[Category], &FieldSet)),
    errors: &Errors,
    added: usize,
) -> Page {
    let Pasted {
        columns,
        lines,
        rest: (_, more),
        problems,
        ..
    } = pasted;
    let wrong = lines.iter().filter(|line| line.result.is_err()).count();
    let is_wrong = wrong > 0 || !problems.is_empty() || !errors.is_empty();
    let left_out = pasted.left_out();
    let hidden = |name: &str, value: &str| html! { input type="hidden" name=(name) value=(value); };
    let content = html! {
        h1 { (texts().preview) }
        @if added > 0 { div.flash role="status" { (texts().lines_added(added)) } }
        (errors.summary())
        (problems.summary())
        @if *more > 0 { p { (texts().first_lines(lines.len(), *more)) } }
        @if wrong > 0 && problems.is_empty() {
            div.problem role="alert" tabindex="-1" autofocus { (texts().wrong_lines(wrong)) }
        } @else if problems.is_empty() && !lines.is_empty() {
            form.card.stack method="post" action="/add/many" {
                (desk.key(&format!("many-{more}")))
                (hidden("lines", form.raw("lines")))
                (hidden(paste::HEADINGS, is_first_line(pasted)))
                @for column in columns { (hidden(&column.id, &column.input)) }
                @if !left_out.is_empty() {
                    @let label = texts().left_out(&left_out);
                    fieldset {
                        p { (texts().left_out_hint) }
                        label {
                            input #left-out type="checkbox" name="left-out" value=(label) required;
                            (label)
                        }
                    }
                }
                div.buttons {
                    button.main { (texts().add_count(lines.len())) }
                    span.muted { (texts().preview_hint) }
                }
            }
        }
        div.scrolls tabindex="0" { (table(desk, pasted, known)) }
        form.card.stack method="post" action="/add/preview" {
            (choose_columns(pasted, known.1))
            details open[is_wrong] {
                summary { (texts().change_lines) }
                (Input::from_form("lines", texts().paste, form, errors).as_textarea().show())
            }
            div { button { (texts().preview_again) } }
        }
    };
    Page::new(texts().preview, content).wrong_if(is_wrong)
}

/// What the first line is: an animal, or headings.
const FIRST_LINE: [&str; 2] = ["no", "yes"];

/// Whether the first line has headings, as the input for that says it.
fn is_first_line(pasted: &Pasted) -> &'static str {
    FIRST_LINE[usize::from(pasted.has_headings)]
}

/// The meaning of each column, for a person to change.
fn choose_columns(pasted: &Pasted, fields: &FieldSet) -> Markup {
    let mut choices = vec![(String::new(), texts().leave_out.to_owned())];
    choices.extend(column_choices(fields));
    let first = Input {
        id: paste::HEADINGS,
        label: texts().first_line,
        value: is_first_line(pasted),
        ..Input::default()
    };
    html! {
        h2 { (texts().columns) }
        div.fields {
            (first.choose(&std::array::from_fn::<_, 2, _>(|at| (FIRST_LINE[at], texts().first_line_is[at]))))
            @for Column { id, heading, input, .. } in &pasted.columns {
                @let label = texts().column(heading);
                @let error = pasted.problems.message_for(id);
                (Input { id, label: &label, value: input, error, ..Input::default() }.choose(&choices))
            }
        }
    }
}

/// The lines, with the columns that are taken. What is right is shown as it is added.
fn table(
    desk: &Desk<'_>,
    pasted: &Pasted,
    (categories, fields): (&[Category], &FieldSet),
) -> Markup {
    let is_taken = |(_, column): &(usize, &Column)| !column.input.is_empty();
    let taken: Vec<_> = (0..).zip(&pasted.columns).filter(is_taken).collect();
    let mut labels = vec![texts().line];
    labels.extend(taken.iter().map(|(_, column)| &*column.label));
    labels.push(texts().check);
    let added = |of: &str, (pet, given): &(NewPet, FieldPatch)| {
        let field = fields
            .all()
            .iter()
            .find(|field| values::input_of(field) == of);
        Some(match (of, field) {
            ("category", _) => html! { bdi { (markup::category(categories, pet.category_id)) } },
            ("status", _) => markup::status_badge(pet.status),
            (_, Some(field)) => html! {
                @if let Some(Given::Set(value)) = given.get(field.name.as_str()) {
                    (values::value_markup(desk, field, value))
                }
            },
            _ => return None,
        })
    };
    let rows = html! {
        @for Line { number, cells, result, .. } in &pasted.lines {
            tr.wrong[result.is_err()] {
                td.number data-label=(texts().line) { (number) }
                @for (at, column) in &taken {
                    td.first[column.input == "name"] data-label=(column.label) {
                        @match result.as_ref().ok().and_then(|pet| added(&column.input, pet)) {
                            Some(value) => (value),
                            None => bdi { (cells[*at]) },
                        }
                    }
                }
                td data-label=(texts().check) {
                    @match result {
                        Ok(_) => (texts().fine),
                        Err(errors) => @for error in errors { p.error { (error) } },
                    }
                }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Adds the animals of the first lines in one transaction. Those behind them have a preview next.
pub(super) async fn add_many(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let text = PastedText::read(desk, form).await?;
    let (pasted, categories, fields) = read(desk, &text, form).await?;
    let adds: Result<Vec<_>, _> = pasted
        .lines
        .iter()
        .map(|line| {
            line.result
                .clone()
                .map(|(pet, given)| Command::AddPet(pet, given, Vec::new()))
        })
        .collect();
    let commands = match adds {
        Ok(commands) if !commands.is_empty() && pasted.problems.is_empty() => {
            let new = categories.iter().filter(|of| of.version == 0).cloned();
            let put = |Category { id, label, .. }| {
                let preconditions = Preconditions::ABSENT;
                Command::PutCategory {
                    id,
                    label,
                    preconditions,
                }
            };
            commands.into_iter().chain(new.map(put)).collect::<Vec<_>>()
        }
        // A category was renamed since the preview.
        _ => return preview_of(desk, &text, form, 0).await,
    };
    let shown = (&pasted, (&*categories, &fields));
    let (left_out, count) = (pasted.left_out(), pasted.lines.len());
    if !left_out.is_empty() && form.raw("left-out") != texts().left_out(&left_out) {
        let errors = Errors::for_field("left-out", texts().leave_out_first);
        return Ok(show_preview(desk, form, shown, &errors, 0).into());
    }
    let executed = desk.execute(commands).await?;
    if executed.is_ok() {
        desk.store().note_step(FirstStep::Import).await?;
    }
    match executed {
        Ok(_) if pasted.rest.1 > 0 => {
            let others = |(name, _): &&(String, String)| {
                name.starts_with("column-") || name == paste::HEADINGS
            };
            let kept = form.fields().iter().filter(others).cloned();
            let next: Form = [("lines".to_owned(), pasted.rest.0)]
                .into_iter()
                .chain(kept)
                .collect();
            let text = PastedText::read(desk, &next).await?;
            preview_of(desk, &text, &next, count).await
        }
        Ok(flash) if flash.code == "added" => {
            Ok(Reply::See(format!("/animals/{}", flash.id), Some(flash)))
        }
        // The list begins with the newest ones, and has no sold ones unless it is asked for them.
        Ok(flash) => {
            let mut added = pasted
                .lines
                .iter()
                .filter_map(|line| line.result.as_ref().ok());
            let is_any_sold = added.any(|(pet, _)| pet.status == PetStatus::Sold);
            let list = if is_any_sold {
                "/animals?status=all"
            } else {
                "/animals"
            };
            Ok(Reply::See(list.to_owned(), Some(flash)))
        }
        Err(not_done) => {
            let line = not_done.index.and_then(|at| pasted.lines.get(at));
            let why = line.map(|line| texts().on_line(line.number, &not_done.why));
            let errors = Errors::from_text(&why.unwrap_or(not_done.why));
            Ok(show_preview(desk, form, shown, &errors, 0).into())
        }
    }
}
