//! The fields with which the store describes its animals, in the settings.

use maud::{Markup, html};

use super::parts::missing;
use crate::{
    app::FieldChanged,
    console::{
        ask::Question,
        desk::Desk,
        forms::{self, Errors, Input},
        layout::Menu,
        markup::{self, LONG, SHORT},
        reply::{Flash, Page, Reply},
        staff, texts,
        visit::Form,
    },
    domain::{
        StoredResponse,
        store_area::{
            Choices, FieldDecision, FieldDefinition, FieldKind, FieldName, FieldRefusal, FieldWish,
            Preconditions,
        },
    },
    edge::ApiError,
};

const PAGE: &str = "/settings/fields";

pub(super) async fn list(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let labels = [
        texts::FIELD_LABEL,
        texts::FIELD_NAME,
        texts::FIELD_KIND,
        texts::FIELD_PUBLIC,
        texts::FIELD_UNIQUE,
        texts::FIELD_POSITION,
    ];
    let yes_or_no = |yes| if yes { texts::YES } else { texts::NO };
    let rows = html! {
        @for field in fields.all() {
            tr {
                td.first {
                    a href={ (PAGE) "/" (field.name.as_str()) } {
                        (markup::text(field.label.as_str(), SHORT))
                    }
                }
                td data-label=(labels[1]) { (field.name.as_str()) }
                td data-label=(labels[2]) { (texts::kind(field.kind)) }
                td data-label=(labels[3]) { (yes_or_no(field.is_public)) }
                td data-label=(labels[4]) { (yes_or_no(field.is_unique)) }
                td.number data-label=(labels[5]) { (field.position) }
            }
        }
    };
    let form = &desk.visit.form;
    let name = Input {
        hint: Some(texts::FIELD_NAME_HINT),
        ..Input::of("name", texts::FIELD_NAME, form, errors)
    };
    let content = html! {
        h1 { (texts::FIELDS) }
        (staff::settings_menu(texts::FIELDS))
        p.muted { (texts::FIELDS_HINT) }
        (errors.summary())
        @if !fields.all().is_empty() { (markup::table(&markup::headings(&labels), &rows)) }
        details.card open[!errors.is_empty() || fields.all().is_empty()] {
            summary { (texts::ADD_FIELD) }
            form.fields method="post" action=(PAGE) {
                (desk.key("field"))
                (Input { hint: Some(texts::FIELD_LABEL_HINT), ..Input::of("label", texts::FIELD_LABEL, form, errors) }.show())
                (name.show())
                (inputs(form, errors))
                div { button.main { (texts::ADD_FIELD) } }
            }
        }
    };
    let page = Page::new(Menu::Settings, texts::FIELDS, content);
    Ok(page.wrong_if(!errors.is_empty()).into())
}

/// The inputs for all members but the label and the name.
fn inputs(form: &Form, errors: &Errors) -> Markup {
    let kinds = FieldKind::ALL.map(|kind| (kind.as_str(), texts::kind(kind)));
    let kinds = [[("", texts::CHOOSE_KIND)].as_slice(), &kinds].concat();
    let choices = Input {
        hint: Some(texts::FIELD_CHOICES_HINT),
        kind: "textarea",
        ..Input::of("choices", texts::FIELD_CHOICES, form, errors)
    };
    let position = Input {
        hint: Some(texts::FIELD_POSITION_HINT),
        ..Input::of("position", texts::FIELD_POSITION, form, errors)
    };
    let boxes = [
        ("public", texts::FIELD_PUBLIC, texts::FIELD_PUBLIC_HINT),
        ("unique", texts::FIELD_UNIQUE, texts::FIELD_UNIQUE_HINT),
    ];
    html! {
        (Input::of("kind", texts::FIELD_KIND, form, errors).choose(&kinds))
        (choices.show())
        (position.show())
        fieldset {
            @for (name, label, hint) in boxes {
                div {
                    label {
                        input #(name) type="checkbox" name=(name) value="yes" checked[!form.get(name).is_empty()];
                        (label) " " span.hint { (hint) }
                    }
                    @if let Some(error) = errors.of(name) { p.error { (error) } }
                }
            }
        }
    }
}

/// The form of a field as it is.
fn form_of(field: &FieldDefinition) -> Form {
    let choices = field.choices.as_ref().map(Choices::all).unwrap_or_default().join("\n");
    let checked = |is| if is { "yes" } else { "" };
    Form::with(&[
        ("label", field.label.as_str()),
        ("kind", field.kind.as_str()),
        ("choices", &choices),
        ("position", &field.position.to_string()),
        ("public", checked(field.is_public)),
        ("unique", checked(field.is_unique)),
        ("version", &field.version.to_string()),
    ])
}

/// The field that was typed, under this name. Reads all inputs even without one, to find all errors.
/// `next` is the position of a field for which none was typed.
fn read(
    name: Option<FieldName>,
    next: i64,
    form: &Form,
    errors: &mut Errors,
) -> Option<FieldDefinition> {
    let label = forms::label(form.get("label"));
    let label = errors.take("label", label.map_err(|_| texts::FIELD_LABEL_INVALID.to_owned()));
    let kind: Result<FieldKind, _> = form.get("kind").parse();
    let kind = errors.take("kind", kind.map_err(|_| texts::FIELD_KIND_MISSING.to_owned()));
    let lines = form.raw("choices").lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    let choices = if kind == Some(FieldKind::Choice) || !lines.is_empty() {
        let choices = Choices::new(lines).filter(|_| kind == Some(FieldKind::Choice));
        errors.take("choices", choices.ok_or_else(|| texts::FIELD_CHOICES_INVALID.to_owned()))
    } else {
        None
    };
    let position = match form.get("position") {
        "" => Some(next),
        _ => form.integer("position"),
    };
    let position = position.filter(|at| (0..=FieldDefinition::HIGHEST_POSITION).contains(at));
    let position =
        errors.take("position", position.ok_or_else(|| texts::FIELD_POSITION_INVALID.to_owned()));
    let is = |name| !form.get(name).is_empty();
    let (is_public, is_unique) = (is("public"), is("unique"));
    let (name, label, kind, position) = (name?, label?, kind?, position?);
    let field =
        FieldDefinition { name, label, kind, choices, is_public, is_unique, position, version: 0 };
    if errors.is_empty() && field.problem().is_some() {
        errors.add("unique", texts::FIELD_UNIQUE_HINT);
    }
    errors.is_empty().then_some(field)
}

pub(super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let name = FieldName::new(form.get("name"));
    let name = errors.take("name", name.ok_or_else(|| texts::FIELD_NAME_INVALID.to_owned()));
    let fields = desk.store().fields().await?;
    let last = fields.all().iter().map(|field| field.position).max();
    let next = last.map_or(0, |last| (last + 10).min(FieldDefinition::HIGHEST_POSITION));
    let Some(field) = read(name, next, form, &mut errors) else {
        return list(desk, &errors).await;
    };
    match change(desk, FieldWish::Put(field), None).await? {
        Ok(()) => Ok(see("saved")),
        Err(why) if why == texts::FIELD_NAME_TAKEN => {
            errors.add("name", why);
            list(desk, &errors).await
        }
        Err(why) => list(desk, &Errors::text(why)).await,
    }
}

pub(super) async fn show(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = present(desk).await? else {
        return Ok(missing(Menu::Settings, texts::NO_FIELD));
    };
    Ok(page(desk, &field, &form_of(&field), &Errors::default()))
}

fn page(desk: &Desk<'_>, field: &FieldDefinition, form: &Form, errors: &Errors) -> Reply {
    let path = format!("{PAGE}/{}", field.name.as_str());
    let label = markup::readable(field.label.as_str(), SHORT);
    let content = html! {
        h1 { (markup::text(field.label.as_str(), LONG)) }
        (staff::settings_menu(texts::FIELDS))
        p.muted { (texts::FIELD_NAME) ": " (field.name.as_str()) }
        (errors.summary())
        form.card.fields method="post" action=(path) {
            (desk.key("field"))
            input type="hidden" name="version" value=(form.get("version"));
            (Input::of("label", texts::FIELD_LABEL, form, errors).show())
            (inputs(form, errors))
            div.buttons {
                button.main { (texts::SAVE) }
                a.button.quiet href=(PAGE) { (texts::CANCEL) }
            }
        }
        form method="post" action={ (path) "/delete" } {
            (desk.key("delete"))
            input type="hidden" name="version" value=(field.version);
            button { (texts::DELETE_FIELD) }
        }
    };
    Page::new(Menu::Settings, label, content).wrong_if(!errors.is_empty()).into()
}

pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = present(desk).await? else {
        return Ok(missing(Menu::Settings, texts::NO_FIELD));
    };
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let Some(wanted) = read(Some(field.name.clone()), field.position, form, &mut errors) else {
        return Ok(page(desk, &field, form, &errors));
    };
    match change(desk, FieldWish::Put(wanted), form.integer("version")).await? {
        Ok(()) => Ok(see("saved")),
        Err(why) => {
            // What is typed can be saved over what it is now.
            let field = present(desk).await?.unwrap_or(field);
            let version = field.version.to_string();
            let again = form.fields().iter().filter(|(name, _)| name != "version").cloned();
            let again = again.chain([("version".to_owned(), version)]).collect();
            Ok(page(desk, &field, &again, &Errors::text(why)))
        }
    }
}

pub(super) async fn delete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = present(desk).await? else {
        return Ok(missing(Menu::Settings, texts::NO_FIELD));
    };
    let effect = texts::FIELD_DELETED_EFFECT.to_owned();
    let asked = Question::of_setting(desk, texts::DELETE_FIELD, field.label.as_str(), effect, PAGE);
    if let Some(asked) = asked {
        return Ok(asked);
    }
    let wish = FieldWish::Delete(field.name.clone());
    match change(desk, wish, desk.visit.form.integer("version")).await? {
        Ok(()) => Ok(see("deleted")),
        Err(why) => Ok(page(desk, &field, &form_of(&field), &Errors::text(why))),
    }
}

/// The field in the path.
async fn present(desk: &Desk<'_>) -> Result<Option<FieldDefinition>, ApiError> {
    Ok(desk.store().fields().await?.find(desk.visit.parameter).cloned())
}

/// Makes a change of a field with this version, or of none. Returns why it is not made.
async fn change(
    desk: &Desk<'_>,
    wish: FieldWish,
    version: Option<i64>,
) -> Result<Result<(), &'static str>, ApiError> {
    let preconditions = match version {
        Some(version) => Preconditions::version(version),
        None => Preconditions { if_match: None, if_absent: true },
    };
    let respond = |_: &FieldDecision| StoredResponse { status: 200, ..StoredResponse::default() };
    let changed = desk.app().fields.change(&wish, &preconditions, desk.context(), respond).await?;
    Ok(match changed {
        FieldChanged::Done(_) => Ok(()),
        FieldChanged::Refused(FieldRefusal::NotFound) => Err(texts::NO_FIELD),
        FieldChanged::Refused(FieldRefusal::TooMany) => Err(texts::TOO_MANY_FIELDS),
        FieldChanged::Refused(FieldRefusal::InUse(_)) => Err(texts::FIELD_IN_USE),
        FieldChanged::Refused(_) if version.is_none() => Err(texts::FIELD_NAME_TAKEN),
        FieldChanged::Refused(_) | FieldChanged::IdempotencyConflict => Err(texts::FIELD_CHANGED),
    })
}

fn see(code: &'static str) -> Reply {
    Reply::See(PAGE.to_owned(), Some(Flash::new(code, 0)))
}
