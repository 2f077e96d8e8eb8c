//! The fields with which the store describes its animals, in the settings.

use petstore_app::Changed;
use petstore_domain::{
    Limit, StoredResponse,
    store_area::{
        FieldDecision, FieldDefinition, FieldName, FieldRefusal, FieldWish, PetQuery, Preconditions,
    },
};

use super::{
    field_form::{choices, form_of, in_words, inputs, name_of, read, values_of},
    parts::missing_page,
    values::label_of,
};
use crate::{
    ask::Question,
    merge::{self, MergedForm},
    prelude::*,
    staff,
};

pub(super) const FIELDS_PATH: &str = "/settings/fields";

pub(super) async fn list(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let labels = [
        texts().field_label,
        texts().field_name,
        texts().field_kind,
        texts().field_public,
        texts().field_unique,
        texts().field_position,
    ];
    let yes_or_no = |yes| {
        if yes {
            window_texts().yes
        } else {
            window_texts().no
        }
    };
    let rows = html! {
        @for field in fields.all() {
            tr {
                td.first {
                    a href={ (FIELDS_PATH) "/" (field.name.as_str()) } {
                        bdi { (label_of(field)) }
                    }
                }
                td data-label=(labels[1]) { (field.name.as_str()) }
                td data-label=(labels[2]) { (texts().kind(field.kind).0) }
                td data-label=(labels[3]) { (yes_or_no(field.is_public)) }
                td data-label=(labels[4]) { (yes_or_no(field.is_unique)) }
                td.number data-label=(labels[5]) { (field.position) }
            }
        }
    };
    let form = &desk.visit.form;
    let label = Input::from_form("label", texts().field_label, form, errors)
        .with_hint(texts().field_label_hint);
    let name = Input::from_form("name", texts().field_name, form, errors)
        .with_hint(texts().field_name_hint);
    let content = html! {
        @if !fields.all().is_empty() { (markup::table(&markup::headings(&labels), &rows)) }
        details.card open[!errors.is_empty() || fields.all().is_empty()] {
            summary { (texts().add_field) }
            form.fields method="post" action=(FIELDS_PATH) {
                (desk.key("field"))
                (label.show())
                (inputs(form, errors))
                details open[errors.message_for("name").is_some()] {
                    summary { (texts().field_name) }
                    div.fields { (name.as_optional().show()) }
                }
                div { button.main { (texts().add_field) } }
            }
        }
    };
    let hint = Some(texts().fields_hint);
    Ok(staff::settings_page(texts().fields, hint, errors, &content))
}

pub(super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let name = FieldName::new(&match form.get("name") {
        "" => name_of(form.get("label")),
        typed => typed.to_owned(),
    });
    let name = errors.take("name", name.ok_or_else(|| texts().field_name_invalid));
    let fields = desk.store().fields().await?;
    let last = fields.all().iter().map(|field| field.position).max();
    let next = last.map_or(0, |last| (last + 10).min(FieldDefinition::HIGHEST_POSITION));
    let Some(field) = read(name, (None, next), form, &mut errors) else {
        return list(desk, &errors).await;
    };
    match change(desk, FieldWish::Put(field), None).await? {
        Ok(()) => Ok(staff::redirect_with_message(FIELDS_PATH, "saved")),
        Err(why) if why == texts().field_name_taken => {
            errors.add("name", why);
            list(desk, &errors).await
        }
        Err(why) => list(desk, &Errors::from_text(why)).await,
    }
}

pub(super) async fn show(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = present(desk).await? else {
        return Ok(missing_page(texts().no_field));
    };
    Ok(page(desk, &field, &form_of(&field), &Errors::default()))
}

fn page(desk: &Desk<'_>, field: &FieldDefinition, form: &Form, errors: &Errors) -> Reply {
    let path = format!("{FIELDS_PATH}/{}", field.name.as_str());
    let label = label_of(field);
    let content = html! {
        h1 { (markup::text(field.label.as_str(), LONG)) }
        (staff::settings_menu(texts().fields))
        p.muted { (texts().field_name) (window_texts().colon) (field.name.as_str()) }
        (errors.summary())
        form.card.fields method="post" action=(path) {
            (desk.key("field"))
            (merge::hidden_fields(&form_of(field)))
            (Input::from_form("label", texts().field_label, form, errors).show())
            (choices(field, form, errors))
            (inputs(form, errors))
            div.buttons {
                button.main { (texts().save) }
                a.button.quiet href=(FIELDS_PATH) { (texts().cancel) }
            }
        }
        form method="post" action={ (path) "/delete" } {
            (desk.key("delete"))
            input type="hidden" name="version" value=(field.version);
            button { (texts().delete_field) }
        }
    };
    Page::new(label, content)
        .wrong_if(!errors.is_empty())
        .into()
}

pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = present(desk).await? else {
        return Ok(missing_page(texts().no_field));
    };
    // A browser does not send a box without a tick.
    let sent = &desk.visit.form;
    let without = ["public", "unique"]
        .into_iter()
        .filter(|name| sent.all(name).next().is_none());
    let without = without.map(|name| (name.to_owned(), String::new()));
    let sent: Form = sent.fields().iter().cloned().chain(without).collect();
    let merged = MergedForm::new(&sent, &form_of(&field));
    let (form, mut errors) = (&merged.form, Errors::default());
    let known = (Some(&field), field.position);
    let Some(wanted) = read(Some(field.name.clone()), known, form, &mut errors) else {
        return Ok(page(desk, &field, form, &errors));
    };
    if merged.is_conflict() {
        return Ok(page(desk, &field, form, &merged.errors(true, in_words)));
    }
    let effects = effects(desk, &field, &wanted).await?;
    if !effects.is_empty() {
        let title = texts().really(texts().save, &label_of(&field));
        let path = format!("{FIELDS_PATH}/{}", field.name.as_str());
        let question = Question {
            title,
            effects,
            yes: texts().save,
            back: &path,
        };
        if let Some(asked) = question.ask(desk, &html! {}) {
            return Ok(asked);
        }
    }
    match change(desk, FieldWish::Put(wanted), form.integer("version")).await? {
        Ok(()) => Ok(staff::redirect_with_message(FIELDS_PATH, "saved")),
        Err(why) => {
            // What is typed can be saved over what it is now.
            let field = present(desk).await?.unwrap_or(field);
            Ok(page(desk, &field, form, &Errors::from_text(why)))
        }
    }
}

/// How many animals are counted at most.
const COUNTED: usize = 1_000;

/// The effects of a change of a field on animals that a manager should know before.
async fn effects(
    desk: &Desk<'_>,
    before: &FieldDefinition,
    wanted: &FieldDefinition,
) -> Result<Vec<String>, ApiError> {
    let mut effects = Vec::new();
    let limit = Limit::new(Limit::MAX.into()).unwrap_or_default();
    let fields = desk.store().fields().await?;
    for value in values_of(before)
        .iter()
        .filter(|value| !values_of(wanted).contains(value))
    {
        let values = fields
            .searched(before.name.as_str(), value)
            .into_iter()
            .collect();
        let mut query = PetQuery {
            values,
            limit,
            ..PetQuery::default()
        };
        let mut count = 0;
        while count <= COUNTED {
            let (pets, next) = desk.store().list_store_pets(&query).await?;
            (count, query.after) = (count + pets.len(), next);
            if query.after.is_none() {
                break;
            }
        }
        if count > 0 {
            let shown = markup::readable(before.shown(value), SHORT);
            effects.push(texts().choice_in_use(count, COUNTED, &shown));
        }
    }
    if wanted.is_public && !before.is_public {
        let (mut count, mut looked_at, mut after) = (0, 0, None);
        loop {
            let (pets, next) = desk.store().list_on_offer(after, limit, false).await?;
            looked_at += pets.len();
            count += pets
                .iter()
                .filter(|pet| pet.fields.get(before.name.as_str()).is_some())
                .count();
            after = next;
            if after.is_none() || looked_at >= COUNTED {
                break;
            }
        }
        if count > 0 || after.is_some() {
            effects.push(texts().becomes_public(count, after.is_some()));
        }
    }
    Ok(effects)
}

pub(super) async fn delete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = present(desk).await? else {
        return Ok(missing_page(texts().no_field));
    };
    let effect = texts().field_deleted_effect.to_owned();
    let asked = Question::about_setting(
        desk,
        texts().delete_field,
        field.label.as_str(),
        effect,
        FIELDS_PATH,
    );
    if let Some(asked) = asked {
        return Ok(asked);
    }
    let wish = FieldWish::Delete(field.name.clone());
    match change(desk, wish, desk.visit.form.integer("version")).await? {
        Ok(()) => Ok(staff::redirect_with_message(FIELDS_PATH, "deleted")),
        Err(why) => Ok(page(
            desk,
            &field,
            &form_of(&field),
            &Errors::from_text(why),
        )),
    }
}

/// The field in the path.
async fn present(desk: &Desk<'_>) -> Result<Option<FieldDefinition>, ApiError> {
    Ok(desk
        .store()
        .fields()
        .await?
        .find(desk.visit.parameter)
        .cloned())
}

/// Makes a change of a field with this version, or of none. Returns why it is not made.
pub(super) async fn change(
    desk: &Desk<'_>,
    wish: FieldWish,
    version: Option<i64>,
) -> Result<Result<(), &'static str>, ApiError> {
    let preconditions = match version {
        Some(version) => Preconditions::version(version),
        None => Preconditions::ABSENT,
    };
    let respond = |_: &FieldDecision| StoredResponse {
        status: 200,
        ..StoredResponse::default()
    };
    let changed = desk
        .app()
        .fields
        .change(&wish, &preconditions, desk.context(), respond)
        .await?;
    Ok(outcome(&changed, version.is_none()))
}

/// Returns why fields are not changed. `is_new` says whether a field was to be added.
pub(super) fn outcome(changed: &Changed<FieldRefusal>, is_new: bool) -> Result<(), &'static str> {
    match changed {
        Changed::Done(_) => Ok(()),
        Changed::Refused(FieldRefusal::NotFound) => Err(texts().no_field),
        Changed::Refused(FieldRefusal::TooMany) => Err(texts().too_many_fields),
        Changed::Refused(FieldRefusal::InUse(_)) => Err(texts().field_in_use),
        Changed::Refused(_) if is_new => Err(texts().field_name_taken),
        Changed::Refused(_) | Changed::IdempotencyConflict => Err(texts().field_changed),
    }
}
