//! Acts of administration, as the audit trail stores them.
//!
//! An act is an action that changes no animal, order or category: for example the creation of an
//! API key, or a failed attempt to sign in.

use std::borrow::Cow;

use petstore_domain::{
    KeyId, NewKey, WriteContext,
    named_enum::MaybeKnown,
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use petstore_formats::json;

use super::Sql;
use crate::journal_rows::{Origin, render_json};

/// The details of an act: names and values.
type ActDetails = Vec<(Cow<'static, str>, String)>;

/// Records an act of administration in the audit trail.
///
/// In the audit trail, the act follows the last change that has a number. So the caller must first
/// number all earlier changes, with [`super::Database::assign_change_numbers`].
pub async fn record_act<S: Sql>(
    connection: &mut S,
    act: &Act,
    context: &WriteContext,
) -> Result<(), S::Error> {
    let Origin {
        at,
        actor,
        request_id,
    } = context.into();
    connection
        .execute(
            S::RECORD,
            &[
                &at,
                &act.kind.as_str(),
                &act.subject.id,
                &actor.actor.kind(),
                &actor.actor.id(),
                &actor.name.as_deref(),
                &request_id,
                &details_as_json(act),
            ],
        )
        .await?;
    Ok(())
}

/// Returns the details of an act as JSON, such as `{"successor":"7"}`.
fn details_as_json(act: &Act) -> String {
    render_json(0, |out| {
        let mut object = json::Object::begin(out);
        for (name, value) in &act.details {
            object.text(name, value);
        }
        object.end();
    })
}

/// Parses an act from its columns. Returns `None` if one of them is invalid.
pub(super) fn parse_act(kind: &str, subject: Option<i64>, details_json: &str) -> Option<Act> {
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(details_json).ok()?;
    let mut details = ActDetails::new();
    for (name, value) in object {
        details.push((Cow::Owned(name), value.as_str()?.to_owned()));
    }

    Some(Act {
        kind: MaybeKnown::from_name(kind),
        subject: JournalSubject::from_type(kind, subject)?,
        details,
    })
}

/// Makes an act whose subject is an API key.
pub(super) fn key_act(kind: ActType, id: KeyId, details: ActDetails) -> Act {
    let subject = JournalSubject {
        kind: SubjectKind::Key.into(),
        id: Some(id.0),
    };
    Act {
        kind: kind.into(),
        subject,
        details,
    }
}

/// Returns the details that the audit trail shows for a new key.
pub(super) fn new_key_details(key: &NewKey) -> ActDetails {
    vec![
        ("name".into(), key.name.clone()),
        ("scope".into(), key.scope.as_str().to_owned()),
    ]
}
