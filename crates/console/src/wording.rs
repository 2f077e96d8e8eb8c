//! Words of pages that are put together of texts and of what the store has.

use std::time::Duration;

use jiff::{Timestamp, civil::Date};
use petstore_domain::{
    Actor, NamedActor,
    store_area::{AuditType, ChangeType, Currency, FieldDefinition, JournalSubject},
    text::readable::{SHORT, readable},
    words::Word,
};
use petstore_languages::{Unit, console_texts as texts, numbers, window_texts};
use serde_json::Value;

/// The words for a change in the journal, which a later release may have made.
pub(super) fn change_type(kind: &Word<ChangeType>) -> String {
    match kind {
        Word::Known(kind) => texts().change(*kind).to_owned(),
        Word::Other(name) => readable_name(name),
    }
}

/// A name for programs, such as `coat_length`, for people.
pub(super) fn readable_name(name: &str) -> String {
    let words = name.replace(['.', '_'], " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Who made a change.
pub(super) fn actor(NamedActor { actor, name }: &NamedActor) -> String {
    match (actor, name.as_deref()) {
        (Actor::Staff(_), name) => name.unwrap_or(texts().staff_member).to_owned(),
        (Actor::Key(_), Some(name)) => texts().program(name),
        (Actor::Key(_), None) => texts().a_program.to_owned(),
        (Actor::Clock, _) => texts().the_service.to_owned(),
        (Actor::Command | Actor::Database, _) => texts().the_operator.to_owned(),
    }
}

/// Who placed an order, before the time.
pub(super) fn placed_by(who: Option<&NamedActor>) -> String {
    who.map_or_else(
        || texts().that_was.to_owned(),
        |who| texts().did_that(&actor(who)),
    )
}

/// The words for an entry of the audit trail with this type.
pub(super) fn audit_type(kind: &str) -> String {
    match AuditType::parse(kind) {
        Some(AuditType::Change(kind)) => texts().audited_change(kind).to_owned(),
        Some(AuditType::Act(kind)) => texts().act(kind).to_owned(),
        None => readable_name(kind),
    }
}

/// A detail of an entry: what it is called, and the value.
pub(super) fn detail(name: &str, value: &str) -> (String, String) {
    let texts = texts();
    let label = match name {
        "name" => texts.name,
        "label" => texts.field_label,
        "kind" => texts.field_kind,
        "public" => texts.field_public,
        "unique" => texts.field_unique,
        "position" => texts.field_position,
        "choices" => texts.field_choices,
        "reason" => texts.reason_label,
        "role" => texts.role_label,
        "address" => texts.ip_address,
        "issuer" => texts.provider,
        "passkey" => texts.passkey,
        "count" => texts.passkey_count,
        "scope" => texts.allows,
        "successor" => texts.new_key,
        "members" => texts.difference,
        other => return (readable_name(other), value.to_owned()),
    };
    let known = match name {
        "role" => value.parse().ok().map(|role| texts.role(role)),
        "scope" => value.parse().ok().map(|scope| texts.scope(scope)),
        "kind" => value.parse().ok().map(|kind| texts.kind(kind).0),
        "reason" => value.parse().ok().map(|reason| texts.disabled(reason)),
        "public" | "unique" if value == "yes" => Some(window_texts().yes),
        "public" | "unique" if value == "no" => Some(window_texts().no),
        _ => None,
    };
    (
        label.to_owned(),
        known.map_or_else(|| value.to_owned(), str::to_owned),
    )
}

/// The subject of an entry.
pub(super) fn subject(JournalSubject { kind, id }: &JournalSubject) -> String {
    let what = kind.known().map_or_else(
        || readable_name(kind.as_str()),
        |kind| texts().subject(kind).to_owned(),
    );
    match id {
        Some(id) => format!("{what} {id}"),
        None => what,
    }
}

/// A value as the journal has it.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => window_texts().yes.to_owned(),
        Value::Bool(false) => window_texts().no.to_owned(),
        other => other.to_string(),
    }
}

/// The problem with a value.
pub(super) fn value_invalid(label: &str, field: &FieldDefinition) -> String {
    let enter = match texts().kind(field.kind) {
        _ if field.is_price() => texts().price_invalid,
        _ if field.is_birth() => texts().birth_invalid,
        (_, enter) => enter,
    };
    [label, window_texts().colon, enter].concat()
}

/// How many animals a list has: counted up to `most`, or if that is not known, at least those on the page.
pub(super) fn animal_count(count: Option<usize>, on_page: usize, most: usize) -> String {
    match count {
        Some(count) if count > most => texts().more_than(most),
        Some(count) => texts().animals(count),
        None => texts().first_shown(on_page),
    }
}

/// A heading of pasted lines, or the number of its column.
pub(super) fn heading(at: usize, heading: &str) -> String {
    let shown = readable(heading, SHORT);
    if shown.is_empty() {
        texts().column_number(at + 1)
    } else {
        shown
    }
}

/// The label of a price in this currency.
pub(super) fn price_in(currency: &Currency) -> String {
    format!("{} ({})", texts().price, currency.as_str())
}

/// How many days the contact of an order is kept after it closed.
pub(super) fn days(kept: Duration) -> u64 {
    kept.as_secs() / (24 * 60 * 60)
}

/// A moment near `now` in words; `None` if it is a week or more away.
pub(super) fn relative(at: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = at.as_second() - now.as_second();
    let (count, unit) = match seconds.abs() {
        0..60 if seconds <= 0 => return Some(texts().just_now.to_owned()),
        0..60 => return Some(texts().soon.to_owned()),
        seconds @ 60..3600 => (seconds / 60, Unit::Minute),
        seconds @ 3600..86_400 => (seconds / 3600, Unit::Hour),
        86_400..604_800 => {
            // As in a calendar, in UTC.
            let days = |moment: Timestamp| moment.as_second().div_euclid(86_400);
            match days(at) - days(now) {
                1 => return Some(texts().tomorrow.to_owned()),
                -1 => return Some(texts().yesterday.to_owned()),
                days => (days.abs(), Unit::Day),
            }
        }
        _ => return None,
    };
    Some(if seconds < 0 {
        texts().ago(count, unit)
    } else {
        texts().ahead(count, unit)
    })
}

/// A day as a browser sends it.
pub(super) fn day(typed: &str) -> String {
    typed
        .parse()
        .map_or_else(|_| typed.to_owned(), |day: Date| numbers().date(day))
}

/// A moment, with its zone.
pub(super) fn exact(at: Timestamp) -> String {
    let at = at.to_zoned(jiff::tz::TimeZone::UTC);
    format!(
        "{}, {}",
        numbers().date(at.date()),
        at.strftime("%H:%M UTC")
    )
}

/// The action of a form whose button has this command.
pub(super) fn form(does: &str, command: &str) -> String {
    match command {
        "sell" if does == texts().reserve => texts().sell.to_owned(),
        "" => does.to_owned(),
        _ if does == texts().reserve || does == texts().settings => does.to_owned(),
        _ => format!("{does} ({command})"),
    }
}

/// The label of an input that people fill in, and that is not one of an order.
pub(super) fn field(name: &str) -> Option<&'static str> {
    let texts = texts();
    Some(match name {
        "name" | "label" => texts.name,
        "category" | "to" => texts.category,
        "number" => texts.number,
        "of" => texts.field_of_animals,
        "value" => texts.new_value,
        "status" => texts.status_label,
        "until" => texts.until,
        "remark" => texts.note,
        "why" | "reason" => texts.reason_label,
        "lines" => texts.paste,
        "role" => texts.role_label,
        "url" => texts.address,
        _ => return None,
    })
}

/// A message after a change was made, and what it links to. `id` is what the change was about.
pub(super) fn flash(code: &str, id: i64) -> Option<(String, Option<(String, &'static str)>)> {
    let texts = texts();
    let to_order = || Some((format!("/orders/{id}"), texts.show_order));
    let to_next = || Some((format!("/add?like={id}"), texts.add_another));
    let count = usize::try_from(id).unwrap_or_default();
    let message = match code {
        "reserved" => return Some((texts.reserved_as(id), to_order())),
        "sold" => return Some((texts.sold_as(id), to_order())),
        "added" => return Some((texts.added_as(id), to_next())),
        "added-about" => return Some((texts.added_about(id), to_next())),
        "added-many" => return Some((texts.added_many(count), None)),
        "undone-many" => return Some((texts.undone_many(count), None)),
        "changed-many" => return Some((texts.changed_many(count), None)),
        "photos-added" => return Some((texts.photos_added(count), None)),
        "cancelled" => texts.reservation_cancelled,
        "sale-undone" => texts.sale_undone,
        "returned" => texts.taken_back,
        "photo-removed" => texts.photo_was_removed,
        "photo-turned" => texts.photo_was_turned,
        "photo-restored" => texts.photo_is_back,
        "extended" => texts.reservation_extended,
        "saved" => texts.saved,
        "undone" => texts.undone,
        "withdrawn" => texts.was_withdrawn,
        "restored" => texts.was_restored,
        "deleted" => texts.was_deleted,
        "disabled" => texts.webhook_disabled,
        "enabled" => texts.webhook_enabled,
        "tested" => texts.webhook_tested,
        "password-changed" => texts.password_changed,
        "session-ended" => texts.session_ended,
        "second-factor-removed" => texts.second_factor_removed,
        "passkey-added" => texts.passkey_added,
        "passkey-removed" => texts.passkey_removed,
        "role-changed" => texts.role_changed,
        "member-disabled" => texts.member_disabled,
        "key-revoked" => texts.key_revoked,
        _ => return None,
    };
    Some((message.to_owned(), None))
}
