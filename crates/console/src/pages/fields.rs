//! The settings pages of the fields of a store.
//!
//! A field, such as "Coat length", is a property of animals that the managers of a store define.

use petstore_app::Changed;
use petstore_domain::{
    StoredResponse,
    store_area::{
        FieldCommand, FieldDecision, FieldDefinition, FieldName, FieldRefusal, FieldSet,
        Preconditions,
    },
};

use super::{
    field_effects::find_effects,
    field_form::{
        FieldFormReader, choice_inputs, form_of_field, input_in_words, kind_label, property_inputs,
        suggest_name,
    },
    parts::missing_page,
    values::label_of,
};
use crate::{
    ask::{Question, SettingChange},
    merge::{self, MergedForm, ReportedChanges},
    prelude::*,
    staff,
};

/// The path of the list of fields.
pub(super) const FIELDS_PATH: &str = "/settings/fields";

/// The gap between the positions of two fields, which leaves room to move another field between
/// them.
const POSITION_STEP: i64 = 10;

/// The reason why a field was not changed.
#[derive(Clone, Copy)]
pub(super) enum FieldError {
    NotFound,
    /// The store has the maximum number of fields.
    TooMany,
    /// An animal has a value of the field, which the change does not allow.
    InUse,
    NameTaken,
    LabelTaken,
    /// Somebody else changed the field after the form was shown.
    Outdated,
}

impl FieldError {
    /// Returns the message for the member.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::NotFound => texts().no_field,
            Self::TooMany => texts().too_many_fields,
            Self::InUse => texts().field_in_use,
            Self::NameTaken => texts().field_name_taken,
            Self::LabelTaken => texts().field_label_taken,
            Self::Outdated => texts().field_changed,
        }
    }
}

/// Shows the page with the table of fields and the form that adds one, followed by `footer`.
/// `errors` are those of the submitted form.
pub(super) async fn list(
    desk: &Desk<'_>,
    errors: &Errors,
    footer: &Markup,
) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let has_fields = !fields.all().is_empty();
    let content = html! {
        @if has_fields { (field_table(&fields)) }
        details.card open[!errors.is_empty() || !has_fields] {
            summary { (texts().add_field) }
            (add_form(desk, errors))
        }
        (footer)
    };
    let hint = Some(texts().fields_hint);
    Ok(staff::settings_page(texts().fields, hint, errors, &content))
}

/// Shows the page with the errors of the form that adds a field, and without a footer.
async fn list_with_errors(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let no_footer = html! {};
    list(desk, errors, &no_footer).await
}

/// Renders the table of fields, each with a link to its page.
fn field_table(fields: &FieldSet) -> Markup {
    let labels = [
        texts().field_label,
        texts().field_name,
        texts().field_kind,
        texts().field_public,
        texts().field_unique,
        texts().field_position,
    ];
    let rows = html! {
        @for field in fields.all() {
            tr {
                td.first {
                    a href={ (FIELDS_PATH) "/" (field.name.as_str()) } {
                        bdi { (label_of(field)) }
                    }
                }
                td data-label=(texts().field_name) { (field.name.as_str()) }
                td data-label=(texts().field_kind) { (kind_label(field.kind)) }
                td data-label=(texts().field_public) { (yes_or_no(field.is_public)) }
                td data-label=(texts().field_unique) { (yes_or_no(field.is_unique)) }
                td.number data-label=(texts().field_position) { (field.position) }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Returns yes or no in the language of the page.
fn yes_or_no(is_true: bool) -> &'static str {
    if is_true {
        window_texts().yes
    } else {
        window_texts().no
    }
}

/// Renders the form that adds a field. The input for the name is collapsed, because an empty name
/// is derived from the label.
fn add_form(desk: &Desk<'_>, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let label_input = Input::from_form("label", texts().field_label, form, errors)
        .with_hint(texts().field_label_hint);
    let name_input = Input::from_form("name", texts().field_name, form, errors)
        .with_hint(texts().field_name_hint)
        .make_optional();
    html! {
        form.fields method="post" action=(FIELDS_PATH) {
            (desk.idempotency_field("field"))
            (label_input.show())
            (property_inputs(form, errors))
            details open[errors.message_for("name").is_some()] {
                summary { (texts().field_name) }
                div.fields { (name_input.show()) }
            }
            div { button.main { (texts().add_field) } }
        }
    }
}

/// Handles `POST /settings/fields`: adds the field in the submitted form.
///
/// Without a name, the name is derived from the label. Without a position, the field becomes the
/// last one.
pub(super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let mut errors = Errors::default();
    let name = match form.get("name") {
        "" => FieldName::new(&suggest_name(form.get("label"))),
        typed_name => FieldName::new(typed_name),
    };
    let name = errors.ok_or_add("name", name.ok_or(texts().field_name_invalid));

    let fields = desk.store().fields().await?;
    let default_position = match fields.all().iter().map(|field| field.position).max() {
        Some(position) => (position + POSITION_STEP).min(FieldDefinition::HIGHEST_POSITION),
        None => 0,
    };
    let reader = FieldFormReader {
        form,
        current_field: None,
        default_position,
    };
    let Some(field) = reader.read(name, &mut errors) else {
        return list_with_errors(desk, &errors).await;
    };

    // A new field has no version: the condition is that no field has the name yet.
    let version = None;
    match change_field(desk, FieldCommand::Put(field), version).await? {
        Ok(()) => Ok(staff::redirect_with_message(FIELDS_PATH, "saved")),
        Err(FieldError::NameTaken) => {
            errors.add("name", FieldError::NameTaken.message());
            list_with_errors(desk, &errors).await
        }
        Err(error) => list_with_errors(desk, &Errors::from_text(error.message())).await,
    }
}

/// Handles `GET /settings/fields/{id}`: shows the page of the field.
pub(super) async fn show(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = load_field_in_path(desk).await? else {
        return Ok(missing_page(texts().no_field));
    };
    let form = form_of_field(&field);
    Ok(field_page(desk, &field, &form, &Errors::default()))
}

/// Renders the page that edits a field, with these form values and errors.
fn field_page(desk: &Desk<'_>, field: &FieldDefinition, form: &Form, errors: &Errors) -> Reply {
    let path = format!("{FIELDS_PATH}/{}", field.name.as_str());
    let content = html! {
        h1 { bdi { (label_of(field)) } }
        (staff::settings_menu(texts().fields))
        p.muted { (texts().field_name) (window_texts().colon) (field.name.as_str()) }
        (errors.summary())
        form.card.fields method="post" action=(path) {
            (desk.idempotency_field("field"))
            (merge::hidden_fields(&form_of_field(field)))
            (Input::from_form("label", texts().field_label, form, errors).show())
            (choice_inputs(field, form, errors))
            (property_inputs(form, errors))
            div.buttons {
                button.main { (texts().save) }
                a.button.quiet href=(FIELDS_PATH) { (texts().cancel) }
            }
        }
        form method="post" action={ (path) "/delete" } {
            (desk.idempotency_field("delete"))
            input type="hidden" name="version" value=(field.version);
            button { (texts().delete_field) }
        }
    };
    Page::new(label_of(field), content)
        .with_error_status_if(!errors.is_empty())
        .into()
}

/// Handles `POST /settings/fields/{id}`: saves the submitted form of the field. Asks for
/// confirmation first if the change affects animals.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = load_field_in_path(desk).await? else {
        return Ok(missing_page(texts().no_field));
    };
    let submitted_form = with_unchecked_boxes(&desk.visit.form);
    let merged_form = MergedForm::new(&submitted_form, &form_of_field(&field));
    let form = &merged_form.form;

    let mut errors = Errors::default();
    let reader = FieldFormReader {
        form,
        current_field: Some(&field),
        default_position: field.position,
    };
    let Some(changed_field) = reader.read(Some(field.name.clone()), &mut errors) else {
        return Ok(field_page(desk, &field, form, &errors));
    };
    if merged_form.is_conflict() {
        let errors = merged_form.change_messages(ReportedChanges::Conflicts, input_in_words);
        return Ok(field_page(desk, &field, form, &errors));
    }
    if let Some(question_page) = ask_about_effects(desk, &field, &changed_field).await? {
        return Ok(question_page);
    }

    let version = form.integer("version");
    match change_field(desk, FieldCommand::Put(changed_field), version).await? {
        Ok(()) => Ok(staff::redirect_with_message(FIELDS_PATH, "saved")),
        Err(error) => {
            // The page gets the current version of the field, so that the member can still save the
            // typed values.
            let current_field = load_field_in_path(desk).await?.unwrap_or(field);
            let errors = Errors::from_text(error.message());
            Ok(field_page(desk, &current_field, form, &errors))
        }
    }
}

/// Returns a submitted form with an empty value for each unchecked checkbox.
///
/// Browsers leave unchecked checkboxes out, and a missing value would count as unchanged.
fn with_unchecked_boxes(form: &Form) -> Form {
    let mut inputs = form.fields().to_vec();
    for name in ["public", "unique"] {
        if form.all(name).next().is_none() {
            inputs.push((name.to_owned(), String::new()));
        }
    }
    inputs.into_iter().collect()
}

/// Returns the page that asks for confirmation of a change that affects animals. Returns `None` if
/// the change affects no animals, or if the member has already confirmed the change.
async fn ask_about_effects(
    desk: &Desk<'_>,
    field: &FieldDefinition,
    changed_field: &FieldDefinition,
) -> Result<Option<Reply>, ApiError> {
    let effects = find_effects(desk, field, changed_field).await?;
    if effects.is_empty() {
        return Ok(None);
    }
    let title = match &*effects {
        [only_effect] => only_effect.question.clone(),
        _ => texts().change_field(&label_of(field)),
    };
    let question = Question {
        title,
        effects: effects.into_iter().map(|effect| effect.sentence).collect(),
        confirm_label: texts().save,
        back_path: &format!("{FIELDS_PATH}/{}", field.name.as_str()),
    };
    Ok(question.ask(desk, &html! {}))
}

/// Handles `POST /settings/fields/{id}/delete`: deletes the field, after a confirmation.
pub(super) async fn delete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(field) = load_field_in_path(desk).await? else {
        return Ok(missing_page(texts().no_field));
    };
    let deletion = SettingChange {
        verb: texts().delete_field,
        object: field.label.as_str(),
        effect: texts().field_deleted_effect,
        back_path: FIELDS_PATH,
    };
    if let Some(question_page) = deletion.confirm(desk) {
        return Ok(question_page);
    }

    let command = FieldCommand::Delete(field.name.clone());
    match change_field(desk, command, desk.visit.form.integer("version")).await? {
        Ok(()) => Ok(staff::redirect_with_message(FIELDS_PATH, "deleted")),
        Err(error) => {
            let errors = Errors::from_text(error.message());
            Ok(field_page(desk, &field, &form_of_field(&field), &errors))
        }
    }
}

/// Loads the field whose name is in the path. Returns `None` if there is no such field.
async fn load_field_in_path(desk: &Desk<'_>) -> Result<Option<FieldDefinition>, ApiError> {
    let fields = desk.store().fields().await?;
    Ok(fields.find(desk.visit.parameter).cloned())
}

/// Executes a command on a field, on the condition that the field still has this version. Without a
/// version, the condition is that no field has the name yet.
///
/// The outer error is a failure of the store, and the inner one says why nothing was changed.
async fn change_field(
    desk: &Desk<'_>,
    command: FieldCommand,
    version: Option<i64>,
) -> Result<Result<(), FieldError>, ApiError> {
    let (preconditions, precondition_error) = match version {
        Some(version) => (Preconditions::version(version), FieldError::Outdated),
        None => (Preconditions::ABSENT, FieldError::NameTaken),
    };
    let outcome = desk
        .app()
        .fields
        .change(&command, &preconditions, desk.context(), stored_response)
        .await?;
    Ok(to_field_result(&outcome, precondition_error))
}

/// Returns the response that the store remembers for the form. The response has no body: if the
/// form is sent again, only the fact that the change was made matters.
fn stored_response(_: &FieldDecision) -> StoredResponse {
    StoredResponse {
        status: 200,
        ..StoredResponse::default()
    }
}

/// Converts the outcome of a change of fields into a result, whose error says why nothing was
/// changed. `precondition_error` is the error for a failed precondition.
pub(super) fn to_field_result(
    outcome: &Changed<FieldRefusal>,
    precondition_error: FieldError,
) -> Result<(), FieldError> {
    match outcome {
        Changed::Done(_) => Ok(()),
        Changed::Refused(FieldRefusal::NotFound) => Err(FieldError::NotFound),
        Changed::Refused(FieldRefusal::TooMany) => Err(FieldError::TooMany),
        Changed::Refused(FieldRefusal::InUse(_)) => Err(FieldError::InUse),
        Changed::Refused(FieldRefusal::DuplicateLabel(_)) => Err(FieldError::LabelTaken),
        Changed::Refused(
            FieldRefusal::PreconditionRequired | FieldRefusal::PreconditionFailed(_),
        ) => Err(precondition_error),
        // The idempotency key was already used for another request, so the form is an old one.
        Changed::IdempotencyConflict => Err(FieldError::Outdated),
    }
}
