//! What the pages ask before they do something, and what they say first afterwards.

use super::{animals, day, photos_added, reason, role, what_role_may};
use crate::{
    domain::{Role, store_area::WithdrawalReason},
    text::readable::{SHORT, readable},
};

// Categories
pub(crate) const MORE_CATEGORIES: &str = "For others, open Categories.";
pub(crate) const NAME_IT: &str = "Give it this name";

pub(crate) fn rename_category(old: &str, new: &str) -> String {
    format!("Rename the category “{old}” to “{new}”?")
}

pub(crate) fn name_category(id: i64, label: &str) -> String {
    format!("Give category {id} the name “{label}”?")
}

/// A category in the history, which goes on to show the number if the name changes.
pub(crate) fn category_now(id: i64, label: &str) -> String {
    format!("{id} (now “{label}”)")
}

pub(crate) fn category_has(count: u64) -> String {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let (is, show) = if count == 1 { ("is", "shows") } else { ("are", "show") };
    format!("{} {is} in this category and {show} this name from then on.", animals(count))
}

pub(crate) fn label_taken(label: &str, id: i64) -> String {
    format!("Category {id} already has the name “{label}”. Both would look the same in all lists.")
}

pub(crate) fn cancels(order: i64) -> String {
    format!("The animal is reserved. Its reservation, order {order}, is cancelled.")
}

// Several animals at once
pub(crate) const MOVE_VERB: &str = "Move";
pub(crate) const CHANGE_VERB: &str = "Change";

pub(crate) fn change_selected(verb: &str, count: usize, rest: &str) -> String {
    let of = if verb == super::CANCEL_RESERVATIONS { " of" } else { "" };
    format!("{verb}{of} {}{rest}?", animals(i64::try_from(count).unwrap_or(i64::MAX)))
}

/// A value that animals get.
pub(crate) fn so_that(label: &str, value: &str) -> String {
    format!(" so that {label} is “{value}”")
}

/// The day is one of the reader, as the browser sends it.
pub(crate) fn until_day(typed: &str) -> String {
    format!(" until the end of {}", day(typed))
}

pub(crate) fn because(why: WithdrawalReason) -> String {
    format!(" ({})", reason(why).to_lowercase())
}

pub(crate) fn to_category(category: &str) -> String {
    format!(" to “{category}”")
}

// Pasted lines
pub(crate) const NO_HEADING: &str = "It has more cells than there are columns.";
pub(crate) const SEVERAL_LINES: &str = "The cell has several lines. Is a quote not closed?";
pub(crate) const COLUMNS: &str = "Columns";
pub(crate) const LEAVE_OUT: &str = "Leave out";
pub(crate) const FIRST_LINE: &str = "The first line";
pub(crate) const FIRST_LINE_IS: [(&str, &str); 2] =
    [("no", "is an animal"), ("yes", "has the headings")];

pub(crate) fn heading(at: usize, heading: &str) -> String {
    let shown = readable(heading, SHORT);
    if shown.is_empty() { format!("column {}", at + 1) } else { shown }
}

pub(crate) fn column(heading: &str) -> String {
    format!("“{heading}” is")
}

pub(crate) fn chosen_twice(label: &str) -> String {
    format!("Two columns are {label}. Choose something else for one of them.")
}

pub(crate) fn column_missing(label: &str) -> String {
    format!("Choose the column that is {label}.")
}

pub(crate) fn left_out(headings: &[String]) -> String {
    let named: Vec<String> = headings.iter().map(|heading| format!("“{heading}”")).collect();
    format!("Leave out {}", named.join(", "))
}

pub(crate) const LEFT_OUT: &str =
    "These columns are not taken. Choose below what they are, or confirm that they are left out:";
pub(crate) const LEAVE_OUT_FIRST: &str =
    "Tick the box to leave out the other columns, or choose what they are.";

pub(crate) fn first_lines(taken: usize, rest: usize) -> String {
    format!(
        "At most {taken} animals are added at once. The other {rest} stay here and follow in the next \
         preview."
    )
}

pub(crate) fn lines_added(added: usize) -> String {
    format!("{added} animals added. Here are the next ones.")
}

pub(crate) fn on_line(number: usize, why: &str) -> String {
    format!("Line {number}: {why}")
}

pub(crate) fn no_category(number: i64) -> String {
    format!(
        "There is no category {number}. Name it on the page Categories first, or correct the number."
    )
}

pub(crate) fn no_choice(typed: &str) -> String {
    format!("“{typed}” is none of the choices.")
}

/// The dates that a text can mean.
pub(crate) fn ambiguous_date(one: &str, other: &str) -> String {
    let [first, second] = [one, other].map(super::day);
    format!("It can mean {first} or {second}. Write {one} or {other}.")
}

// Settings
pub(crate) const MAKE_LINK: &str = "Create a new link";
pub(crate) const REVOKE_EFFECT: &str =
    "Every program with this key is rejected from then on. A revoked key stays invalid.";

pub(crate) fn really(verb: &str, what: &str) -> String {
    format!("{verb} {what}?")
}

pub(crate) fn disable_member(name: &str) -> String {
    format!("All sessions of {name} end at once, and {name} cannot sign in any more.")
}

pub(crate) const CHANGE_ROLE: &str = "Change the role";

pub(crate) fn role_becomes(name: &str, old: Role, new: Role) -> String {
    format!("{name} is {} now, and {} from then on: {}", role(old), role(new), what_role_may(new))
}

pub(crate) fn reset_member(name: &str) -> String {
    format!(
        "All sessions of {name} end at once. The password and the second factor of {name} become invalid. \
         {name} chooses a new password with the link."
    )
}

// Forms that several people fill in
/// A change by somebody else since a form was shown.
pub(crate) fn now_changed(label: &str, now: &str, was: Option<&str>) -> String {
    let was = was.map(|was| if was.is_empty() { "empty" } else { was });
    let it_was = was.map(|was| format!("; it was {was}")).unwrap_or_default();
    format!(
        "{label} is now {now}{it_was}. Nothing is changed yet. Check what is typed here, and press again."
    )
}

// Forms that outlived their session
pub(crate) const FORM_OF_ANOTHER: &str = "Somebody else filled in this form";
pub(crate) const SOMEBODY: &str = "Somebody else";

pub(crate) fn form_of(owner: &str, you: &str) -> String {
    format!("{owner} filled in this form, and you are signed in as {you}. Nothing is changed yet.")
}

pub(crate) fn send_as(you: &str) -> String {
    format!("Send it as {you}")
}

/// The action of a form whose button has this command.
pub(crate) fn form(does: &str, command: &str) -> String {
    match (does, command) {
        (super::RESERVE, "sell") => super::SELL.to_owned(),
        (super::RESERVE | super::SETTINGS, _) | (_, "") => does.to_owned(),
        _ => format!("{does} ({command})"),
    }
}

/// The label of an input that people fill in, and that is not one of an order.
pub(crate) fn field(name: &str) -> Option<&'static str> {
    Some(match name {
        "name" | "label" => super::NAME,
        "category" | "to" => super::CATEGORY,
        "number" => super::NUMBER,
        "of" => super::FIELD,
        "value" => super::VALUE,
        "status" => super::STATUS,
        "until" => super::UNTIL,
        "remark" => super::NOTE,
        "why" | "reason" => super::REASON,
        "lines" => super::PASTE,
        "role" => super::ROLE,
        "url" => super::ADDRESS,
        _ => return None,
    })
}

// After something was done
/// The button that undoes it.
pub(crate) const UNDO: &str = "Undo";

/// A message after a change was made, and what it links to. `id` is what the change was about.
pub(crate) fn flash(code: &str, id: i64) -> Option<(String, Option<(String, &'static str)>)> {
    let to_order = Some((format!("/orders/{id}"), "Show the order"));
    let to_next = Some((format!("/add?like={id}"), "Add another like this"));
    let message = match code {
        "reserved" => return Some((format!("Reserved as order {id}."), to_order)),
        "sold" => return Some((format!("Sold as order {id}."), to_order)),
        "added" => return Some((format!("Added as animal {id}."), to_next)),
        "added-about" => {
            let message =
                format!("Added as animal {id}. Its day of birth is counted back from its age.");
            return Some((message, to_next));
        }
        "added-many" => return Some((format!("{} added.", animals(id)), None)),
        "changed-many" => return Some((format!("{} changed.", animals(id)), None)),
        "cancelled" => "The reservation is cancelled. The animal is available.",
        "returned" => "Taken back. The animal is available.",
        "photo-removed" => "Photo removed.",
        "photo-turned" => "Photo turned.",
        "photo-restored" => "The photo is back.",
        "photos-added" => return Some((photos_added(u32::try_from(id).unwrap_or(u32::MAX)), None)),
        "extended" => "The end of the reservation is changed.",
        "saved" => "Saved.",
        "withdrawn" => "Withdrawn.",
        "restored" => "Restored.",
        "deleted" => "Deleted.",
        "disabled" => "Nothing more is sent to it.",
        "enabled" => "It is enabled.",
        "tested" => "A test message is on its way. Reload in a moment to see the result.",
        "password-changed" => "Your password is changed. Your other sessions have ended.",
        "session-ended" => "The session has ended.",
        "second-factor-removed" => "Your second factor is removed. Your other sessions have ended.",
        "role-changed" => "The role is changed.",
        "member-disabled" => "This member can no longer sign in. Their sessions have ended.",
        "key-revoked" => "The key is revoked.",
        _ => return None,
    };
    Some((message.to_owned(), None))
}
