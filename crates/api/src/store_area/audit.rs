//! `listAudit`: `GET /v1/store/audit`.

use petstore_domain::{
    Actor,
    store_area::{AuditEntry, AuditPosition, AuditQuery, AuditType, JournalSubject},
    text,
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response};

use super::{
    cursor::{self, Walk},
    page::{self, Element},
    shared::StoreArea,
};
use crate::{context::Call, query};

/// Responds with a page of the audit trail and a link to the next one.
pub(crate) async fn list(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let names = [
        "subject", "actor", "type", "since", "until", "limit", "cursor",
    ];
    let [subject, actor, kind, since, until, limit, cursor] =
        query::parameters(request.uri.query(), names)?;
    let is_subject = "what an entry is about, such as pet:7";
    let is_actor = "a key or member of the staff by its number, such as key:3 or staff:1, or clock, \
                    command or database";
    let is_type = "a type of entry, such as pet.changed or key.created";
    let is_time = "a time such as 2026-11-22T00:00:00Z";
    let limit = query::limit(limit.as_ref())?;
    let mut query = AuditQuery {
        subject: query::filter(
            "subject",
            subject.as_ref(),
            JournalSubject::parse,
            is_subject,
        )?,
        actor: query::filter("actor", actor.as_ref(), Actor::parse, is_actor)?,
        kind: query::filter("type", kind.as_ref(), AuditType::parse, is_type)?,
        since: query::filter("since", since.as_ref(), json::times::parse, is_time)?,
        until: query::filter("until", until.as_ref(), json::times::parse, is_time)?,
        limit: limit.get().into(),
        ..AuditQuery::default()
    };
    let filters = [
        ("subject", subject.as_deref()),
        ("actor", actor.as_deref()),
        ("type", kind.as_deref()),
        ("since", since.as_deref()),
        ("until", until.as_deref()),
    ];
    let walk = Walk::new(cursor::AUDIT, &filters.map(|(_, value)| value));
    if let Some(cursor) = cursor {
        let (seq, act) = walk.decode(&cursor)?;
        let seq = text::parse_integer(&seq).ok_or_else(cursor::invalid)?;
        query.after = Some(AuditPosition { seq, act });
    }
    let _turn = area.turns.take(caller).await?;
    let (entries, next) = area.app.store.list_audit(&query).await?;
    let next = next.and_then(|AuditPosition { seq, act }| {
        let cursor = walk.encode(&seq.to_string(), act);
        page::next_link(area, "/store/audit", limit, &filters, &cursor)
    });
    let element: Element<AuditEntry> = Element {
        length,
        write: json::write_audit_entry,
    };
    page::respond(area, request, entries, element, next).await
}

fn length(entry: &AuditEntry) -> usize {
    match entry {
        AuditEntry::Change(change) => change.length(),
        AuditEntry::Act { act, .. } => act.details.iter().map(|(_, text)| text.len()).sum(),
    }
}
