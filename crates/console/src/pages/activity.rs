//! Who did what: the audit trail with the newest first, searched and exported.

use std::borrow::Cow;

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use petstore_domain::{
    NamedActor,
    staff::StaffMember,
    store_area::{
        AuditEntry, AuditPosition, AuditQuery, AuditType, Category, FieldSet, JournalSubject,
        OrderId, SubjectKind,
    },
    text::{self, formulas::without_formulas},
};

use super::{
    history, order_rows,
    parts::{link, page_links},
};
use crate::prelude::*;

/// How many entries a page shows.
const SHOWN: u32 = 50;

/// When an export has so many bytes, or has looked through so many parts of the log, it ends after the
/// present part. How many entries are read at once.
const EXPORTED: usize = 4 << 20;
const EXPORTED_PARTS: usize = 400;
const AT_ONCE: u32 = 100;

/// How many parts of the log one page looks through.
const MAX_PARTS: usize = 4;

/// The search, with the fields as they are in links.
fn search(fields: &Form) -> AuditQuery {
    let start = |name: &str| -> Option<Timestamp> {
        let day: Date = fields.get(name).parse().ok()?;
        Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let animal = fields.integer("animal");
    AuditQuery {
        subject: animal.map(|id| JournalSubject {
            kind: SubjectKind::Pet.into(),
            id: Some(id),
        }),
        actor: None,
        kind: AuditType::parse(fields.get("type")),
        since: start("since"),
        // The day belongs to it.
        until: start("until").and_then(|day| day.checked_add(24.hours()).ok()),
        after: None,
        newest_first: true,
        limit: SHOWN,
    }
}

/// The entries of a page, and the position after them. Looks through some parts of the log until
/// there is one.
async fn read(
    desk: &Desk<'_>,
    mut query: AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), ApiError> {
    for _ in 1..MAX_PARTS {
        let (entries, next) = desk.store().list_audit(&query).await?;
        if !entries.is_empty() || next.is_none() {
            return Ok((entries, next));
        }
        query.after = next;
    }
    Ok(desk.store().list_audit(&query).await?)
}

pub(super) async fn activity(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = &desk.visit.query;
    let after = fields.get("after").split_once('.').and_then(|(seq, act)| {
        Some(AuditPosition {
            seq: text::integer(seq)?,
            act: text::integer(act)?,
        })
    });
    let staff = desk.store().list_staff().await?;
    let (entries, next) = read(
        desk,
        AuditQuery {
            after,
            ..search(fields)
        },
    )
    .await?;
    let changes = entries.iter().filter_map(|entry| match entry {
        AuditEntry::Change(change) => Some(history::categories_in(change)),
        AuditEntry::Act { .. } => None,
    });
    let categories = desk.load_categories(changes.flatten().collect()).await?;
    let definitions = desk.store().fields().await?;
    let known = (&*categories, &definitions);
    let order = |entry: &AuditEntry| {
        let JournalSubject { kind, id } = shown(entry).subject;
        id.filter(|_| *kind == SubjectKind::Order)
            .and_then(OrderId::new)
    };
    let orders = order_rows::with_animals(desk, entries.iter().filter_map(order)).await?;
    let filters = ["since", "until", "animal", "type"].map(|name| (name, fields.get(name)));
    let next = next.map(|AuditPosition { seq, act }| {
        link(
            "/activity",
            &[&filters[..], &[("after", &format!("{seq}.{act}"))]].concat(),
        )
    });
    let first = after.map(|_| link("/activity", &filters));
    let content = html! {
        div.head {
            h1 { (texts().activity) }
            a.button href=(link("/activity/export", &filters)) { (texts().export) }
        }
        (form(fields))
        @if entries.is_empty() {
            @let (what, hint) = match next {
                None => (texts().no_activity, texts().no_activity_hint),
                Some(_) => (texts().no_activity_yet, texts().no_activity_yet_hint),
            };
            div.card.empty { strong { (what) } p { (hint) } }
        } @else {
            (table(desk, &entries, known, &staff, &orders))
        }
        (page_links(first.as_deref(), next.as_deref()))
    };
    Ok(Page::new(texts().activity, content).into())
}

fn form(fields: &Form) -> Markup {
    let input = |id, label, kind| Input {
        id,
        label,
        value: fields.get(id),
        kind,
        ..Input::default()
    };
    let is_invalid = !fields.get("animal").is_empty() && fields.integer("animal").is_none();
    let invalid = is_invalid.then_some(texts().number_invalid);
    let mut types = vec![("", texts().any_type.to_owned())];
    types.extend(
        AuditType::all()
            .map(AuditType::as_str)
            .map(|kind| (kind, wording::audited(kind))),
    );
    html! {
        form.card.row method="get" action="/activity" role="search" {
            (input("since", texts().since, "date").show())
            (input("until", texts().up_to, "date").show())
            (Input { error: invalid, ..input("animal", texts().animal_number, "text") }.show())
            (input("type", texts().what, "").choose(&types))
            button.main { (texts().find) }
        }
    }
}

/// The cells of an entry: time, actor, action, subject, and details.
struct Shown<'a> {
    at: Timestamp,
    actor: &'a NamedActor,
    what: String,
    subject: &'a JournalSubject,
}

fn shown(entry: &AuditEntry) -> Shown<'_> {
    match entry {
        AuditEntry::Change(change) => Shown {
            at: change.at,
            actor: &change.actor,
            what: history::replaced(change)
                .map_or_else(|| wording::audited(change.kind.as_str()), str::to_owned),
            subject: &change.subject,
        },
        AuditEntry::Act { at, act, actor, .. } => Shown {
            at: *at,
            actor,
            what: wording::audited(act.kind.as_str()),
            subject: &act.subject,
        },
    }
}

fn table(
    desk: &Desk<'_>,
    entries: &[AuditEntry],
    known: (&[Category], &FieldSet),
    staff: &[StaffMember],
    orders: &[order_rows::Row],
) -> Markup {
    let labels = [
        texts().when,
        texts().who,
        texts().what,
        texts().about,
        texts().difference,
    ];
    let rows = html! {
        @for entry in entries {
            @let Shown { at, actor, what, subject } = shown(entry);
            tr {
                td data-label=(texts().when) { (markup::time(at, desk.visit.now)) }
                td data-label=(texts().who) { bdi { (wording::actor(actor)) } }
                td.first { (what) }
                td data-label=(texts().about) {
                    (link_to(subject, staff, history::name(entry)))
                    @if let Some((_, Some(pet))) = orders.iter().find(|(order, _)| {
                        subject.kind == SubjectKind::Order && subject.id == Some(order.id.get())
                    }) { ", " a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), SHORT)) } }
                }
                td { (details(desk, entry, known)) }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

fn link_to(subject: &JournalSubject, staff: &[StaffMember], name: Option<String>) -> Markup {
    let is_subject = |member: &&StaffMember| {
        subject.kind == SubjectKind::Staff && subject.id == Some(member.id.0)
    };
    if let Some(member) = staff.iter().find(is_subject) {
        return html! { bdi { (member.name.as_str()) } };
    }
    let label = name.map(|name| markup::name(&name, SHORT));
    let label = label.unwrap_or_else(|| html! { (wording::subject(subject)) });
    let path = match (subject.kind.known(), subject.id) {
        (Some(SubjectKind::Pet), Some(id)) => Some(format!("/animals/{id}")),
        (Some(SubjectKind::Order), Some(id)) => Some(format!("/orders/{id}")),
        (Some(SubjectKind::Webhook), Some(id)) => Some(format!("/settings/webhooks/{id}")),
        _ => None,
    };
    html! {
        @if let Some(path) = path { a href=(path) { (label) } } @else { (label) }
    }
}

fn details(desk: &Desk<'_>, entry: &AuditEntry, known: (&[Category], &FieldSet)) -> Markup {
    match entry {
        AuditEntry::Change(change) => history::differences(desk, change, known),
        AuditEntry::Act { act, .. } => {
            let now = |of: &str| act.details.iter().find(|(name, _)| name == of);
            let differs = act.details.iter().filter_map(|(name, old)| {
                let name = name.strip_prefix("before.")?;
                Some((name, old, now(name).map_or("", |(_, new)| new)))
            });
            let differs: Vec<_> = differs.collect();
            // A change of a field shows what differs, and the field.
            let is_shown = |name: &str| differs.is_empty() || name == "name";
            html! {
                @for (name, value) in act.details.iter().filter(|(name, _)| is_shown(name)) {
                    @let (label, value) = wording::detail(name, value);
                    div { (label) (window_texts().colon) (markup::text(&value, SHORT)) }
                }
                @for (name, old, new) in &differs {
                    @let (label, old) = wording::detail(name, old);
                    div {
                        (label) (window_texts().colon) del { (markup::text(&old, SHORT)) } " → "
                        ins { (markup::text(&wording::detail(name, new).1, SHORT)) }
                    }
                }
            }
        }
    }
}

/// The entries that the search selects as CSV.
pub(super) async fn export(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut query = AuditQuery {
        limit: AT_ONCE,
        ..search(&desk.visit.query)
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut size = 0;
    let row = |writer: &mut csv::Writer<Vec<u8>>, cells: [&str; 6]| {
        // A write to memory cannot fail.
        let _ = writer.write_record(cells.map(without_formulas).map(Cow::into_owned));
    };
    row(
        &mut writer,
        ["time", "who", "what", "about", "before", "after"],
    );
    for part in 1.. {
        let (entries, next) = desk.store().list_audit(&query).await?;
        for entry in &entries {
            let Shown {
                at,
                actor,
                what,
                subject,
            } = shown(entry);
            let (before, after) = match entry {
                AuditEntry::Change(change) => (change.before.as_deref(), change.after.as_deref()),
                AuditEntry::Act { .. } => (None, None),
            };
            let (at, subject) = (at.to_string(), subject.to_string());
            let who = wording::actor(actor);
            let cells = [
                &at,
                &*who,
                &what,
                &subject,
                before.unwrap_or(""),
                after.unwrap_or(""),
            ];
            size += cells.iter().map(|cell| cell.len()).sum::<usize>();
            row(&mut writer, cells);
        }
        query.after = next;
        if next.is_none() {
            break;
        }
        if size >= EXPORTED || part == EXPORTED_PARTS {
            row(&mut writer, [texts().export_cut, "", "", "", "", ""]);
            break;
        }
    }
    let name = format!("petstore-activity-{}.csv", desk.visit.now.strftime("%F"));
    Ok(Reply::Csv(name, writer.into_inner().unwrap_or_default()))
}
