//! Acts of administration, as the audit trail stores them.

use std::borrow::Cow;

use petstore_domain::{
    KeyId, NewKey, WriteContext,
    store_area::{Act, ActType, JournalSubject, SubjectKind},
    words::Word,
};
use petstore_formats::json;

use super::Sql;
use crate::journal_rows::{Origin, write_json};

/// The names and texts of the details of an act.
type ActDetails = Vec<(Cow<'static, str>, String)>;

/// Records an act of administration.
///
/// In the audit trail, the act follows the changes that have a number. So the changes before the act must get theirs
/// first, by [`super::Database::assign_change_numbers`].
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
                &write_details(act),
            ],
        )
        .await?;
    Ok(())
}

/// Returns the details of an act as JSON, such as `{"successor":"7"}`.
fn write_details(act: &Act) -> String {
    write_json(0, |out| {
        let mut object = json::Object::begin(out);
        for (name, value) in &act.details {
            object.text(name, value);
        }
        object.end();
    })
}

/// Returns the act with these columns; `None` if a value is invalid.
pub(super) fn parse_act(kind: &str, subject: Option<i64>, details: &str) -> Option<Act> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(details).ok()?;
    let mut details = ActDetails::new();
    for (name, value) in object {
        details.push((Cow::Owned(name), value.as_str()?.to_owned()));
    }

    Some(Act {
        kind: Word::from_name(kind),
        subject: JournalSubject::from_type(kind, subject)?,
        details,
    })
}

/// Returns an act on an API key.
pub(super) fn act_on_key(kind: ActType, id: KeyId, details: ActDetails) -> Act {
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

/// Returns the details of a new key in the audit trail.
pub(super) fn details_of_key(key: &NewKey) -> ActDetails {
    vec![
        ("name".into(), key.name.clone()),
        ("scope".into(), key.scope.as_str().to_owned()),
    ]
}
