//! Adding one animal, or many at once.

use maud::{Markup, html};

use super::{
    animal_fields,
    paste::{self, Line, MAX_LINES, Pasted},
    photos, values,
};
use crate::{
    console::{
        desk::Desk,
        forms::{self, Errors, Input},
        layout::Menu,
        markup::{self, SHORT},
        reply::{Page, Reply},
        texts,
    },
    domain::{
        NewPet,
        store_area::{Category, Command, FieldSet, FieldValues, Label, Preconditions},
    },
    edge::ApiError,
};

pub(super) async fn add_form(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let categories = desk.categories_with([].into()).await?;
    let fields = desk.store().fields().await?;
    Ok(page(desk, (&categories, &fields), &Errors::default()).into())
}

/// Both forms, with what was typed and what is wrong with it.
fn page(desk: &Desk<'_>, known: (&[Category], &FieldSet), errors: &Errors) -> Page {
    let (categories, _) = known;
    let lines = Input {
        hint: Some(texts::PASTE_HINT),
        kind: "textarea",
        ..Input::of("lines", texts::PASTE, &desk.visit.form, errors)
    };
    let content = html! {
        div.head {
            h1 { (texts::ADD_ANIMALS) }
            a href="/categories" { (texts::CATEGORIES) }
        }
        (errors.summary())
        div.columns {
            section.card {
                h2 { (texts::ADD_ONE) }
                form.fields method="post" action="/add" {
                    (desk.key("add"))
                    (animal_fields::inputs(&desk.visit.form, known, errors, None))
                    (photos::of_new_animal(desk))
                    @let new = new_category(desk, categories)
                        .filter(|_| errors.of("category").is_some());
                    div.buttons {
                        button.main[new.is_none()] { (texts::ADD_ANIMAL) }
                        @if let Some(label) = new {
                            button.main name="new-category" value="yes" {
                                (texts::add_with_category(&markup::readable(label.as_str(), SHORT)))
                            }
                        }
                    }
                }
            }
            section.card {
                h2 { (texts::ADD_MANY) }
                form.fields method="post" action="/add/preview" {
                    (lines.show())
                    div { button { (texts::PREVIEW) } }
                }
            }
        }
    };
    Page::new(Menu::Add, texts::ADD_ANIMALS, content).wrong_if(!errors.is_empty())
}

/// The name of the category that is typed but does not exist.
fn new_category(desk: &Desk<'_>, categories: &[Category]) -> Option<Label> {
    let typed = desk.visit.form.get("category");
    let is_new = forms::category(typed, categories).is_err()
        && !categories.iter().any(|category| forms::is_named(category, typed));
    is_new.then(|| forms::label(typed).ok()).flatten()
}

pub(super) async fn add_one(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let categories = desk.categories_typed([form.get("category")]).await?;
    let name = errors.take("name", forms::name(form.raw("name")));
    let is_wanted = form.get("new-category") == "yes";
    let new = new_category(desk, &categories).filter(|_| is_wanted);
    let category = match &new {
        Some(_) => desk.free_number().await?.ok_or_else(|| texts::NO_FREE_NUMBER.to_owned()),
        None => forms::category(form.get("category"), &categories),
    };
    let category = errors.take("category", category);
    let status = errors.take("status", forms::status(form.get("status")));
    let fields = desk.store().fields().await?;
    values::name_removed(&fields, form, &mut errors);
    let given = values::patch(&fields, form, (&FieldValues::NONE, desk.visit.now), &mut errors);
    let (Some(name), Some(category_id), Some(status), true) =
        (name, category, status, errors.is_empty())
    else {
        return Ok(page(desk, (&categories, &fields), &errors).into());
    };
    let pet = NewPet { name, category_id, status };
    let preconditions = Preconditions { if_match: None, if_absent: true };
    let category = new.map(|label| Command::PutCategory { id: category_id, label, preconditions });
    let commands = [Command::AddPet(pet, given)].into_iter().chain(category).collect();
    match desk.execute(commands).await? {
        Ok(flash) => Ok(Reply::See(format!("/animals/{}", flash.id), Some(flash))),
        Err(not_done) => Ok(page(desk, (&categories, &fields), &not_done.errors(&fields)).into()),
    }
}

/// Shows what would be added. Changes nothing.
pub(super) async fn preview(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = desk.visit.form.raw("lines");
    let categories = desk.categories_typed(paste::typed(text)).await?;
    let pasted = paste::read(text, &categories);
    if pasted.lines.is_empty() {
        let mut errors = Errors::default();
        errors.add("lines", texts::NOTHING_PASTED);
        let fields = desk.store().fields().await?;
        return Ok(page(desk, (&categories, &fields), &errors).into());
    }
    Ok(show_preview(desk, &pasted, &categories, &Errors::default()).into())
}

fn show_preview(
    desk: &Desk<'_>,
    Pasted { lines, left_out }: &Pasted,
    categories: &[Category],
    errors: &Errors,
) -> Page {
    let wrong = lines.iter().filter(|line| line.result.is_err()).count();
    let is_too_long = lines.len() > MAX_LINES;
    let text = desk.visit.form.raw("lines");
    let again =
        Input { kind: "textarea", ..Input::of("lines", texts::PASTE, &desk.visit.form, errors) };
    let content = html! {
        h1 { (texts::PREVIEW) }
        (errors.summary())
        @if is_too_long {
            div.problem role="alert" tabindex="-1" autofocus { (texts::TOO_MANY_LINES) }
        } @else if wrong > 0 {
            div.problem role="alert" tabindex="-1" autofocus { (texts::wrong_lines(wrong)) }
        } @else {
            form.card.stack method="post" action="/add/many" {
                (desk.key("many"))
                input type="hidden" name="lines" value=(text);
                @if !left_out.is_empty() {
                    @let label = texts::left_out(left_out);
                    fieldset {
                        p { (texts::LEFT_OUT) }
                        label {
                            input #left-out type="checkbox" name="left-out" value=(label) required;
                            (label)
                        }
                    }
                }
                div.buttons {
                    button.main { (texts::add_count(lines.len())) }
                    span.muted { (texts::PREVIEW_HINT) }
                }
            }
        }
        (table(lines, categories))
        details.card open[wrong > 0 || is_too_long] {
            summary { (texts::CHANGE_LINES) }
            form.fields method="post" action="/add/preview" {
                (again.show())
                div { button { (texts::PREVIEW_AGAIN) } }
            }
        }
    };
    let is_wrong = wrong > 0 || is_too_long || !errors.is_empty();
    Page::new(Menu::Add, texts::PREVIEW, content).wrong_if(is_wrong)
}

fn table(lines: &[Line], categories: &[Category]) -> Markup {
    let labels = [texts::LINE, texts::NAME, texts::CATEGORY, texts::STATUS, texts::CHECK];
    let rows = html! {
        @for Line { number, cells: [name, category, status], result } in
            lines.iter().take(MAX_LINES) {
            tr.wrong[result.is_err()] {
                td.number data-label=(texts::LINE) { (number) }
                td.first { bdi { (name) } }
                @match result {
                    Ok(pet) => {
                        td data-label=(texts::CATEGORY) {
                            bdi { (markup::category(categories, pet.category_id)) }
                        }
                        td { (markup::status_badge(pet.status)) }
                        td data-label=(texts::CHECK) { (texts::FINE) }
                    }
                    Err(error) => {
                        td data-label=(texts::CATEGORY) { bdi { (category) } }
                        td data-label=(texts::STATUS) { bdi { (status) } }
                        td { p.error { (error) } }
                    }
                }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Adds all animals of the lines in one transaction.
pub(super) async fn add_many(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = desk.visit.form.raw("lines");
    let categories = desk.categories_typed(paste::typed(text)).await?;
    let pasted = paste::read(text, &categories);
    let pets: Result<Vec<_>, _> =
        pasted.lines.iter().map(|line| line.result.clone().map(Command::add)).collect();
    let commands = match pets {
        Ok(commands) if !commands.is_empty() && commands.len() <= MAX_LINES => commands,
        // A category was renamed since the preview.
        _ => return preview(desk).await,
    };
    let is_known = desk.visit.form.raw("left-out") == texts::left_out(&pasted.left_out);
    if !pasted.left_out.is_empty() && !is_known {
        let mut errors = Errors::default();
        errors.add("left-out", texts::LEAVE_OUT_FIRST);
        return Ok(show_preview(desk, &pasted, &categories, &errors).into());
    }
    match desk.execute(commands).await? {
        Ok(flash) if flash.code == "added" => {
            Ok(Reply::See(format!("/animals/{}", flash.id), Some(flash)))
        }
        Ok(flash) => Ok(Reply::See("/animals".to_owned(), Some(flash))),
        Err(not_done) => {
            Ok(show_preview(desk, &pasted, &categories, &Errors::text(&not_done.why)).into())
        }
    }
}
