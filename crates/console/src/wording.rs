//! Composes the words on pages from translated texts and values of the store.

use std::time::Duration;

use jiff::{Timestamp, civil::Date};
use petstore_domain::{
    Actor, NamedActor,
    named_enum::MaybeKnown,
    store_area::{AuditType, ChangeType, Currency, FieldDefinition, JournalSubject},
    text::readable::{SHORT_LENGTH, readable},
};
use petstore_languages::{Unit, console_texts as texts, numbers, window_texts};

use super::zone;

const SECONDS_PER_MINUTE: i64 = 60;
const SECONDS_PER_HOUR: i64 = 60 * SECONDS_PER_MINUTE;
const SECONDS_PER_DAY: i64 = 24 * SECONDS_PER_HOUR;
const SECONDS_PER_WEEK: i64 = 7 * SECONDS_PER_DAY;

/// The text of a flash message, which reports the last action on the next page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FlashText {
    pub(super) message: String,
    /// The link after the message.
    pub(super) link: Option<FlashLink>,
}

/// The link after a flash message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FlashLink {
    pub(super) path: String,
    pub(super) label: &'static str,
}

/// Returns the words for a type of change in the journal. A type that a later release wrote is
/// unknown, and gets its [readable name](readable_name).
pub(super) fn change_type(kind: &MaybeKnown<ChangeType>) -> String {
    match kind {
        MaybeKnown::Known(kind) => texts().change(*kind).to_owned(),
        MaybeKnown::Other(name) => readable_name(name),
    }
}

/// Converts a technical name to words: `coat_length` becomes `Coat length`.
pub(super) fn readable_name(name: &str) -> String {
    let words = name.replace(['.', '_'], " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first_letter) => first_letter.to_uppercase().to_string() + letters.as_str(),
        None => String::new(),
    }
}

/// Returns the name of the actor behind a change: a member, a program, the service or the operator.
pub(super) fn actor(NamedActor { actor, name }: &NamedActor) -> String {
    match (actor, name.as_deref()) {
        (Actor::Staff(_), name) => name.unwrap_or(texts().staff_member).to_owned(),
        (Actor::Key(_), Some(name)) => texts().program(name),
        (Actor::Key(_), None) => texts().a_program.to_owned(),
        (Actor::Clock, _) => texts().the_service.to_owned(),
        (Actor::Command | Actor::Database, _) => texts().the_operator.to_owned(),
    }
}

/// Returns the words for who placed an order, if that is known. The page adds the time after them.
pub(super) fn placed_by(placing_actor: Option<&NamedActor>) -> String {
    match placing_actor {
        Some(placing_actor) => texts().did_that(&actor(placing_actor)),
        None => texts().that_was.to_owned(),
    }
}

/// Returns the words for the type of an entry in the audit trail.
pub(super) fn audit_type(kind: &str) -> String {
    match AuditType::parse(kind) {
        Some(AuditType::Change(kind)) => texts().audited_change(kind).to_owned(),
        Some(AuditType::Act(kind)) => texts().act(kind).to_owned(),
        None => readable_name(kind),
    }
}

/// Returns the label and the value of a detail in the audit trail, both in words. The label of an
/// unknown detail is its [readable name](readable_name).
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
        unknown_name => return (readable_name(unknown_name), value.to_owned()),
    };
    let words = match name {
        "role" => value.parse().ok().map(|role| texts.role(role)),
        "scope" => value.parse().ok().map(|scope| texts.scope(scope)),
        "kind" => value.parse().ok().map(|kind| texts.kind(kind).0),
        "reason" => value.parse().ok().map(|reason| texts.disabled(reason)),
        "public" | "unique" if value == "yes" => Some(window_texts().yes),
        "public" | "unique" if value == "no" => Some(window_texts().no),
        _ => None,
    };
    (label.to_owned(), words.unwrap_or(value).to_owned())
}

/// Returns the words for the subject of an entry in the journal or the audit trail: `Order 7`.
pub(super) fn subject(JournalSubject { kind, id }: &JournalSubject) -> String {
    let kind_words = match kind.value() {
        Some(kind) => texts().subject(kind).to_owned(),
        None => readable_name(kind.as_str()),
    };
    match id {
        Some(id) => format!("{kind_words} {id}"),
        None => kind_words,
    }
}

/// Returns the error message for an invalid value of a field: the label of the field, and what its
/// kind accepts.
pub(super) fn value_invalid(label: &str, field: &FieldDefinition) -> String {
    let message = if field.is_price() {
        texts().price_invalid
    } else if field.is_birth() {
        texts().birth_invalid
    } else {
        let (_, message) = texts().kind(field.kind);
        message
    };
    [label, window_texts().colon, message].concat()
}

/// Returns the number of animals in a list, in words. The store stops counting after `max_count`,
/// so a higher `count` becomes "more than `max_count`". Without a count, the words only say how
/// many animals are on the page.
pub(super) fn animal_count(count: Option<usize>, on_page: usize, max_count: usize) -> String {
    match count {
        Some(count) if count > max_count => texts().more_than(max_count),
        Some(count) => texts().animals(count),
        None => texts().first_shown(on_page),
    }
}

/// Returns the heading of a pasted column as people read it, or the number of the column if it has
/// no heading.
pub(super) fn heading(column_index: usize, heading: &str) -> String {
    let readable_heading = readable(heading, SHORT_LENGTH);
    if readable_heading.is_empty() {
        return texts().column_number(column_index + 1);
    }
    readable_heading
}

/// Returns the label of the input for a price in this currency: `Price (EUR)`.
pub(super) fn price_in(currency: &Currency) -> String {
    format!("{} ({})", texts().price, currency.as_str())
}

/// Returns the number of whole days in a duration.
pub(super) fn days(duration: Duration) -> u64 {
    duration.as_secs() / SECONDS_PER_DAY.unsigned_abs()
}

/// Returns a time relative to `now` in words, such as `3 hours ago` or `tomorrow`; `None` if it is
/// a week or more away.
pub(super) fn relative_time(time: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = time.as_second() - now.as_second();
    let distance = seconds.abs();
    if distance >= SECONDS_PER_WEEK {
        return None;
    }
    if distance >= SECONDS_PER_DAY
        && let Some(words) = relative_day(time, now)
    {
        return Some(words);
    }
    if distance < SECONDS_PER_MINUTE {
        let words = if seconds <= 0 {
            texts().just_now
        } else {
            texts().soon
        };
        return Some(words.to_owned());
    }
    let (count, unit) = if distance >= SECONDS_PER_HOUR {
        (distance / SECONDS_PER_HOUR, Unit::Hour)
    } else {
        (distance / SECONDS_PER_MINUTE, Unit::Minute)
    };
    Some(relative_words(count * seconds.signum(), unit))
}

/// Returns a day relative to today in words, by the calendar of the store. Returns `None` if both
/// times are on one day. This is possible although they are 24 hours apart: a day has 25 hours when
/// the clocks go back.
fn relative_day(time: Timestamp, now: Timestamp) -> Option<String> {
    let zone = zone::store_zone().unwrap_or_default();
    let distance = zone.day_of(time) - zone.day_of(now);
    match i64::from(distance.get_days()) {
        0 => None,
        1 => Some(texts().tomorrow.to_owned()),
        -1 => Some(texts().yesterday.to_owned()),
        days => Some(relative_words(days, Unit::Day)),
    }
}

/// Returns a distance in time in words: `3 hours ago` for -3, and `in 3 hours` for 3.
fn relative_words(signed_count: i64, unit: Unit) -> String {
    if signed_count < 0 {
        texts().ago(signed_count.abs(), unit)
    } else {
        texts().ahead(signed_count, unit)
    }
}

/// Returns a day in words: `2 January 2026` for `2026-01-02`, the form in which browsers submit it.
/// Returns other text unchanged.
pub(super) fn day(text: &str) -> String {
    match text.parse::<Date>() {
        Ok(day) => numbers().date(day),
        Err(_) => text.to_owned(),
    }
}

/// Returns the date and the time in the store's time zone: `2 January 2026, 03:04`. If the store
/// has no time zone, they are in UTC and say so: `2 January 2026, 02:04 UTC`.
pub(super) fn exact_time(time: Timestamp) -> String {
    let zone = zone::store_zone();
    let suffix = if zone.is_none() { " UTC" } else { "" };
    let local_time = zone.unwrap_or_default().as_zone().to_datetime(time);
    let day = numbers().date(local_time.date());
    format!("{day}, {}{suffix}", local_time.strftime("%H:%M"))
}

/// Returns the words for what submitting a form does. `action` is the label of the form's route,
/// and `command` is the value of the pressed button, which only forms with several buttons have. A
/// command without words of its own is appended in parentheses.
pub(super) fn form_action(action: &str, command: &str) -> String {
    if action == texts().reserve && command == "sell" {
        return texts().sell.to_owned();
    }
    // The other command of the form for an order is to reserve, which its label says already.
    // Routes without a label of their own have the label "Settings".
    if command.is_empty() || action == texts().reserve || action == texts().settings {
        return action.to_owned();
    }
    format!("{action} ({command})")
}

/// Returns the label of an input by its name; `None` for an unknown one. Does not know the inputs
/// of orders, which are in [`ORDER_INPUTS`](super::order_inputs::ORDER_INPUTS).
pub(super) fn input_label(name: &str) -> Option<&'static str> {
    let texts = texts();
    let label = match name {
        "name" | "label" => texts.name,
        "category" | "to" => texts.category,
        "number" => texts.number,
        "of" => texts.field_of_animals,
        "value" => texts.new_value,
        "status" => texts.status_label,
        "listed" => texts.website,
        "until" => texts.until,
        "remark" => texts.note,
        "why" | "reason" => texts.reason_label,
        "lines" => texts.paste,
        "role" => texts.role_label,
        "url" => texts.address,
        _ => return None,
    };
    Some(label)
}

/// Returns the text of the flash message with this code; `None` if the code is unknown. `id` is the
/// id of the changed entry, or how many entries were changed.
pub(super) fn compose_flash(code: &str, id: i64) -> Option<FlashText> {
    let texts = texts();
    let link = match code {
        "reserved" | "sold" => Some(FlashLink {
            path: format!("/orders/{id}"),
            label: texts.show_order,
        }),
        "added" | "added-about" => Some(FlashLink {
            path: format!("/add?like={id}"),
            label: texts.add_another,
        }),
        _ => None,
    };
    // A count is never negative. For a message with an id, the count is not used.
    let count = usize::try_from(id).unwrap_or_default();
    let message = match code {
        "reserved" => texts.reserved_as(id),
        "sold" => texts.sold_as(id),
        "added" => texts.added_as(id),
        "added-about" => texts.added_about(id),
        "added-many" => texts.added_many(count),
        "undone-many" => texts.undone_many(count),
        "changed-many" => texts.changed_many(count),
        "photos-added" => texts.photos_added(count),
        _ => fixed_message(code)?.to_owned(),
    };
    Some(FlashText { message, link })
}

/// Returns the flash message with this code, if the message contains no number.
fn fixed_message(code: &str) -> Option<&'static str> {
    let texts = texts();
    let message = match code {
        "cancelled" => texts.reservation_cancelled,
        "sale-undone" => texts.sale_undone,
        "returned" => texts.taken_back,
        "photo-removed" => texts.photo_was_removed,
        "photo-turned" => texts.photo_was_turned,
        "note-added" => texts.note_was_added,
        "note-changed" => texts.note_was_changed,
        "note-deleted" => texts.note_was_deleted,
        "photo-restored" => texts.photo_is_back,
        "extended" => texts.reservation_extended,
        "saved" | "animal-saved" => texts.saved,
        "undone" | "animal-undone" => texts.undone,
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
    Some(message)
}

#[cfg(test)]
mod tests {
    use petstore_domain::store_area::StoreTimeZone;

    use super::*;
    use crate::zone::{set_zone, with_zone};

    /// Times near both changes of the clocks in five time zones. The tests of the pages' script use
    /// the same file.
    const DAYS: &str = include_str!("../../../tests/data/days-in-words.csv");

    #[tokio::test]
    async fn near_both_changes_of_the_clocks_the_words_for_a_day_are_those_of_the_calendar_of_the_store()
     {
        let lines = DAYS.lines().skip(1);
        assert!(lines.clone().count() > 200);
        with_zone(async {
            for line in lines {
                let cells: Vec<&str> = line.split(',').collect();
                let [zone, now, time, words] = *cells else {
                    panic!("{line}");
                };
                set_zone(StoreTimeZone::from_name(zone));
                let now: Timestamp = now.parse().unwrap();
                let relative_words = relative_time(time.parse().unwrap(), now);
                assert_eq!(relative_words.as_deref(), Some(words), "{line}");
            }
        })
        .await;
    }

    #[tokio::test]
    async fn an_exact_time_is_that_of_the_clocks_of_the_store() {
        let time = "2027-03-28T01:30:00Z".parse().unwrap();
        with_zone(async {
            assert_eq!(exact_time(time), "28\u{a0}March\u{a0}2027, 01:30 UTC");
            for (zone, words) in [
                ("UTC", "28\u{a0}March\u{a0}2027, 01:30"),
                ("Europe/Lisbon", "28\u{a0}March\u{a0}2027, 02:30"),
                ("Europe/Berlin", "28\u{a0}March\u{a0}2027, 03:30"),
                ("America/Los_Angeles", "27\u{a0}March\u{a0}2027, 18:30"),
            ] {
                set_zone(StoreTimeZone::from_name(zone));
                assert_eq!(exact_time(time), words);
            }
        })
        .await;
    }
}
