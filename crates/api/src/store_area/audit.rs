//! `listAudit`: `GET /v1/store/audit`.
//!
//! The audit trail has the changes of the journal, which are numbered by `seq`, and acts that are not changes
//! of the journal, such as the creation of a key.

use std::borrow::Cow;

use petstore_domain::{
    Actor, Limit,
    store_area::{AuditEntry, AuditPosition, AuditQuery, AuditType, JournalSubject},
    text,
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response};

use super::{
    cursor::{self, Walk},
    page::{self, ElementRenderer},
    shared::StoreArea,
};
use crate::{context::Call, query};

/// The parameters of `listAudit`.
const PARAMETERS: [&str; 7] = [
    "subject", "actor", "type", "since", "until", "limit", "cursor",
];

/// What the parameter `actor` must be, for error messages.
const AN_ACTOR: &str = "a key or member of the staff by its number, such as key:3 or staff:1, or clock, command or \
     database";

/// What the parameters `since` and `until` must be, for error messages.
const A_TIME: &str = "a time such as 2026-11-22T00:00:00Z";

/// Responds with a page of the audit trail, and a link to the next one.
pub(crate) async fn list_audit(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let parameters = query::parameters(request.uri.query(), PARAMETERS)?;
    let [subject, actor, kind, since, until, limit, cursor] = &parameters;
    let limit = query::parse_limit(limit.as_ref())?;
    let mut query = parse_query(&parameters, limit)?;
    let filters = [
        ("subject", subject.as_deref()),
        ("actor", actor.as_deref()),
        ("type", kind.as_deref()),
        ("since", since.as_deref()),
        ("until", until.as_deref()),
    ];
    let walk = Walk::new(cursor::AUDIT, &filters.map(|(_, value)| value));
    if let Some(cursor) = cursor {
        let position = walk.decode(cursor)?;
        // `seq` is the sort key of an entry, and `act` its id.
        let seq = text::parse_integer(&position.key).ok_or_else(cursor::invalid)?;
        let act = position.id;
        query.after = Some(AuditPosition { seq, act });
    }

    let _turn = area.turns.take(caller).await?;
    let (entries, last_position) = area.app.store.list_audit(&query).await?;

    let next = last_position.and_then(|AuditPosition { seq, act }| {
        let cursor = walk.encode(&seq.to_string(), act);
        page::next_link(area, "/store/audit", limit, &filters, &cursor)
    });
    let renderer: ElementRenderer<AuditEntry> = ElementRenderer {
        texts_length,
        write: json::write_audit_entry,
    };
    page::respond(area, request, entries, renderer, next).await
}

/// Parses all parameters except the cursor and the limit, which is already parsed.
fn parse_query(
    [subject, actor, kind, since, until, _, _]: &[Option<Cow<'_, str>>; PARAMETERS.len()],
    limit: Limit,
) -> Result<AuditQuery, ApiError> {
    Ok(AuditQuery {
        subject: query::parse_parameter(
            "subject",
            subject.as_ref(),
            JournalSubject::parse,
            "what an entry is about, such as pet:7",
        )?,
        actor: query::parse_parameter("actor", actor.as_ref(), Actor::parse, AN_ACTOR)?,
        kind: query::parse_parameter(
            "type",
            kind.as_ref(),
            AuditType::parse,
            "a type of entry, such as pet.changed or key.created",
        )?,
        since: query::parse_parameter("since", since.as_ref(), json::times::parse, A_TIME)?,
        until: query::parse_parameter("until", until.as_ref(), json::times::parse, A_TIME)?,
        limit: limit.get().into(),
        ..AuditQuery::default()
    })
}

/// Returns the total length of the texts of an entry in bytes.
fn texts_length(entry: &AuditEntry) -> usize {
    match entry {
        AuditEntry::Change(change) => change.length(),
        AuditEntry::Act { act, .. } => act.details.iter().map(|(_, text)| text.len()).sum(),
    }
}
