//! The texts of the pages with which staff sign in, and manage their accounts, each other and API
//! keys; those of requests that are rejected; and those of open pages.

use maud::{Markup, html};

use crate::{
    domain::{
        Role, Scope,
        staff::{Password, WeakPassword},
    },
    edge::Problem,
};

// Signing in
pub(crate) const SIGN_IN: &str = "Sign in";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const CODE: &str = "Code";
pub(crate) const CONTINUE: &str = "Continue";
pub(crate) const SIGN_IN_WRONG: &str = "The name or the password is wrong. Check both, and retry.";
pub(crate) const CODE_HINT: &str =
    "The six digits that your app shows, or one of your recovery codes.";
pub(crate) const CODE_WRONG: &str =
    "This code is wrong, or was used before. Wait until the app shows the next code.";
pub(crate) const SIGN_IN_ENDED: &str =
    "Sign in again. This sign-in took too long, or its code was sent twice.";
pub(crate) const FORM_KEPT: &str =
    "Enter your password to continue. What you typed is kept, and is sent afterwards.";
pub(crate) const FORM_TOO_LONG: &str = "Your session has ended, and your text is too long to be kept here. Sign in in another tab, go back in this one, and send it again.";
pub(crate) const NO_PASSWORD: &str =
    "No password yet, or forgotten? A manager can give you a link.";
pub(crate) const SEND_KEPT_HINT: &str = "You are signed in. Send what you typed now.";
pub(crate) const SEND_KEPT: &str = "Send what I typed";
pub(crate) const DROP_KEPT: &str = "Do not send it";
pub(crate) const CHANGED_MEANWHILE: &str = "Somebody else has changed this in the meantime, so nothing was changed this time. Reload the page, and look at the current state.";
// Passwords and links
pub(crate) const CHOOSE_PASSWORD: &str = "Choose a password";
pub(crate) const NEW_PASSWORD: &str = "New password";
pub(crate) const NEW_PASSWORD_AGAIN: &str = "New password again";
pub(crate) const NEW_PASSWORD_HINT: &str =
    "At least 12 characters, such as four random words. You can paste it.";
pub(crate) const PASSWORDS_DIFFERENT: &str =
    "The two passwords are different. Enter the same one twice.";
pub(crate) const SAVE_PASSWORD: &str = "Save and sign in";
pub(crate) const LINK_INVALID: &str = "This link is not valid";
pub(crate) const LINK_INVALID_HINT: &str = "It was used before, is more than 24 hours old, or was replaced by a newer one. If you have chosen a password, sign in with it. Otherwise, ask a manager for another link.";
// Account
pub(crate) const ACCOUNT: &str = "Your account";
pub(crate) const CURRENT_PASSWORD: &str = "Current password";
pub(crate) const CHANGE_PASSWORD: &str = "Change the password";
pub(crate) const CURRENT_PASSWORD_WRONG: &str =
    "The current password is wrong. Enter the password with which you sign in now.";
pub(crate) const SESSIONS: &str = "Sessions";
pub(crate) const ONLY_LAST_SESSIONS: &str = "The 100 sessions that were used last are shown.";
pub(crate) const OWN_SESSIONS: &str = "Where you are signed in";
pub(crate) const BROWSER: &str = "Browser";
pub(crate) const IP_ADDRESS: &str = "Address";
pub(crate) const LAST_USED: &str = "Last used";
pub(crate) const THIS_SESSION: &str = " (this one)";
pub(crate) const END_SESSION: &str = "End";
// The second factor
pub(crate) const SECOND_FACTOR: &str = "Second factor";
pub(crate) const SECOND_FACTOR_OFF: &str =
    "Protect your account with an app on your phone that shows a code.";
pub(crate) const SECOND_FACTOR_REQUIRED: &str =
    "Your role needs a second factor. Set it up to continue.";
pub(crate) const SECOND_FACTOR_STAYS: &str =
    "Your role needs a second factor, so you cannot remove it. You can set up another app.";
pub(crate) const SECOND_FACTOR_SET: &str =
    "Your second factor is set up. Your other sessions have ended.";
pub(crate) const SET_UP: &str = "Set up a second factor";
pub(crate) const CHANGE_SECOND_FACTOR: &str = "Change the second factor";
pub(crate) const REMOVE_SECOND_FACTOR: &str = "Remove the second factor";
pub(crate) const WITHOUT_SECOND_FACTOR: &str = "Without a second factor";
pub(crate) const SET_UP_APP: &str = "Set up an app";
pub(crate) const OPEN_APP: &str = "Open an authenticator app on your phone.";
pub(crate) const SCAN: &str = "Scan this picture, or enter the setup key by hand.";
pub(crate) const QR_CODE: &str = "QR code with the setup key";
pub(crate) const APP_CODE: &str = "Code that the app shows";
pub(crate) const USE_APP: &str = "Use this app";
pub(crate) const APP_CODE_WRONG: &str = "This is not the code of this app. Check the clock of the phone, and enter the code that the app shows now.";
pub(crate) const RECOVERY_CODES: &str = "Recovery codes";
pub(crate) const NEW_CODES_HINT: &str =
    "Make new recovery codes if you have used or lost some. The old ones become invalid.";
pub(crate) const NEW_CODES: &str = "Make new recovery codes";
pub(crate) const CODES_REPLACED: &str =
    "These codes replace the old ones. Your other sessions have ended.";
pub(crate) const CODES_HINT: &str = "Keep these recovery codes where you can find them without your phone, such as on paper. Each one signs you in once. They are not shown again.";
pub(crate) const CODES_KEPT: &str = "I have saved them";
// Staff
pub(crate) const STAFF: &str = "Staff";
pub(crate) const ROLE: &str = "Role";
pub(crate) const STATE: &str = "State";
pub(crate) const YOU: &str = "you";
pub(crate) const ADD_MEMBER: &str = "Add a member";
pub(crate) const PASSWORD_AGAIN: &str = "This needs your password again, because it is more than five minutes old. What you \
     typed is kept, and is done afterwards.";
pub(crate) const ADD_MEMBER_BUTTON: &str = "Add and create a link";
pub(crate) const MEMBER_NAME_HINT: &str = "The member signs in with this name.";
pub(crate) const MEMBER_NAME_INVALID: &str = "The name must be one line of 1 to 64 characters.";
pub(crate) const MEMBER_NAME_TAKEN: &str = "There is a member with this name. Choose another one.";
pub(crate) const TOO_MANY_MEMBERS: &str = "There are 1,000 members already. No more can be added.";
pub(crate) const OWN_ACCESS: &str =
    "You cannot change your own role or access. Ask another manager.";
pub(crate) const CHANGE: &str = "Change";
pub(crate) const NEW_LINK: &str = "New link";
pub(crate) const DISABLED: &str = "disabled";
pub(crate) const ACTIVE: &str = "active";
pub(crate) const ACTIVE_WITH_SECOND_FACTOR: &str = "active, with a second factor";
pub(crate) const HAS_LINK: &str = "has a link";
pub(crate) const LINK_EXPIRED: &str = "link expired";
pub(crate) const LINK: &str = "A link to choose a password";
pub(crate) const COPIED: &str = "I have copied it";
// API keys
pub(crate) const KEYS: &str = "API keys";
pub(crate) const ADD_KEY: &str = "Create a key";
pub(crate) const KEY_NAME_HINT: &str = "The program or person that uses the key, such as website.";
pub(crate) const KEY_NAME_INVALID: &str = "The name must be one line of 1 to 255 characters.";
pub(crate) const ALLOWS: &str = "Allows";
pub(crate) const WHAT_KEY_ALLOWS: &str = "What it allows";
pub(crate) const NEVER: &str = "never";
pub(crate) const CALLED_GET_PET: &str = "still called getPet: ";
pub(crate) const REVOKED: &str = "revoked ";
pub(crate) const EXPIRED: &str = "expired ";
pub(crate) const VALID_UNTIL: &str = "valid until ";
pub(crate) const VALID: &str = "valid";
pub(crate) const ROTATE_KEY: &str = "Rotate";
pub(crate) const REVOKE_KEY: &str = "Revoke";
pub(crate) const KEY_NOT_ROTATED: &str = "This key was rotated or revoked before, or has expired.";
pub(crate) const NEW_KEY: &str = "A new API key";
pub(crate) const NEW_KEY_HINT: &str =
    "Copy the key into the settings of the program now. It is not shown again.";
// Requests that are rejected
pub(crate) const INCOMPLETE_FORM: &str =
    "This form is not complete. Reload the page, and send it again.";
pub(crate) const NOT_ALLOWED: &str = "Your role does not include this page.";
/// `expected` is the host of `--console-url`, if it is set.
pub(crate) fn foreign_host(host: &str, expected: &str) -> String {
    let expected = if expected.is_empty() { "not set" } else { expected };
    format!(
        "The request is for the host \"{host:.255}\", and that of --console-url is {expected}. Open the console at its own address. A proxy must pass on the host with its port (nginx: proxy_set_header Host $http_host)."
    )
}
pub(crate) const NEEDS_HTTPS: &str = "The console needs HTTPS, because a password must not be sent in the clear. Open it with https://, or on the machine where it runs.";
pub(crate) const FOREIGN_FORM: &str = "This form was sent by another site, so it was not carried out. Open the console and send the form there.";
pub(crate) const CONNECTION_REPLACED: &str =
    "Too many connections are open. Wait a moment, and reload the page.";
pub(crate) const TO_FIRST_PAGE: &str = "Go to Today";
pub(crate) const REQUEST: &str = "Request ";

// Open pages
pub(crate) const PAGE_CHANGED: &str =
    "Somebody changed what this page shows. It stays as it is while you use it.";
pub(crate) const CONNECTION_LOST: &str =
    "The connection to the service is lost. This page may be out of date.";
pub(crate) const SIGNED_OUT: &str =
    "You are signed out, so this page may be out of date. Sign in in another tab, or reload it.";
pub(crate) const SHOW_CHANGE: &str = "1 change – show it";
pub(crate) const SHOW_CHANGES: &str = "{} changes – show them";
pub(crate) const RELOAD: &str = "Reload the page";
pub(crate) const MORE_FOLLOW: &str = "More entries follow on the next page of the console.";
pub(crate) const NOT_IN_TEXT: &str =
    "The control character U+0000 is not allowed. Type the text again instead of pasting it.";

/// The orders of the list of animals.
pub(crate) const NEWEST_FIRST: &str = "Newest first";
pub(crate) const LONGEST_FIRST: &str = "Longest stay first";

/// How many animals a list has: counted up to `most`, or if that is not known, at least those on the page.
pub(crate) fn found(count: Option<usize>, on_page: usize, most: usize) -> String {
    let animals = |count: usize| {
        let of_one = super::animals(i64::try_from(count).unwrap_or(i64::MAX));
        if count < 1000 {
            return of_one;
        }
        format!("{},{:03} animals", count / 1000, count % 1000)
    };
    match count {
        Some(count) if count > most => format!("More than {}", animals(most)),
        Some(count) => animals(count),
        None => format!("The first {} are shown.", animals(on_page)),
    }
}

pub(crate) fn too_many_attempts(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    format!(
        "There were too many attempts to sign in. Wait {minutes} minutes, or ask a manager for a link."
    )
}

pub(crate) fn weak(weak: WeakPassword) -> String {
    match weak {
        WeakPassword::Short => {
            format!("The password must have at least {} characters.", Password::MIN_LENGTH)
        }
        WeakPassword::Long => {
            format!("The password must have at most {} characters.", Password::MAX_LENGTH)
        }
        WeakPassword::Common => "This password is easy to guess. Choose another one, such as four \
                                 random words."
            .to_owned(),
    }
}

pub(crate) fn welcome(name: &str) -> Markup {
    html! { "Welcome, " bdi { (name) } ". Choose the password with which you will sign in." }
}

pub(crate) fn you_are(name: &str, of: Role) -> Markup {
    html! { "Signed in as " bdi { (name) } " (" (role(of)) ")" }
}

pub(crate) fn second_factor_on(recovery_codes: usize) -> String {
    let plural = if recovery_codes == 1 { "" } else { "s" };
    format!("You need your app to sign in. You have {recovery_codes} recovery code{plural} left.")
}

/// A browser and its system as people name them; all that it says of itself if they are unknown.
pub(crate) fn browser(agent: &str) -> String {
    let find = |known: &[(&str, &'static str)]| {
        known.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    // Each browser also names those after it.
    let browser = find(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = find(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        _ => agent.to_owned(),
    }
}

/// The rest of a button's name, for people who only hear it.
pub(crate) fn session_in(browser: &str) -> String {
    format!(" the session in {browser}")
}

pub(crate) fn for_member(name: &str) -> String {
    format!(" for {name}")
}

pub(crate) fn role_of(name: &str) -> String {
    format!("Role of {name}")
}

pub(crate) fn give_link(name: &str) -> Markup {
    html! {
        "Give this link to " bdi { (name) } ", and to nobody else. It is valid for 24 hours and is not "
        "shown again."
    }
}

pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Clerk => "clerk",
        Role::Manager => "manager",
    }
}

pub(crate) fn what_role_may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Viewer: only looks",
        Role::Clerk => "Clerk: changes animals and orders",
        Role::Manager => "Manager: also staff, keys, webhooks and activity",
    }
}

pub(crate) fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "Read animals",
        Scope::Write => "Read and add animals",
        Scope::StoreRead => "Read animals and orders of the store",
        Scope::StoreWrite => "Change animals and orders of the store",
        Scope::StoreAdmin => "Administer the store",
    }
}

/// The title of the page about a problem, what is wrong, and what to do next. `message` is that of the
/// interface.
pub(crate) fn problem(problem: Problem, message: &str) -> (&'static str, &str, &'static str) {
    match problem {
        Problem::NotFound | Problem::OperationRemoved => {
            (super::NOT_FOUND, "There is no such page.", "Check the address, or go to Today.")
        }
        Problem::Internal => (
            "Something went wrong",
            "This is an error in the service. Nothing that you typed was wrong.",
            "Retry. If it happens again, tell the operator of the service the number below.",
        ),
        Problem::Unavailable | Problem::IdempotencyInProgress => (
            "The service is busy",
            "The service could not complete the request. A change may or may not have been made.",
            "Wait a moment, and reload the page. The same form is never carried out twice.",
        ),
        Problem::StorageFull => (
            "The disk is full",
            "The service cannot save anything, because the disk of its server is full. Nothing was changed.",
            "Ask the operator of the service to make room. Then go back, and send the form again.",
        ),
        Problem::BodyTooLarge => {
            ("Too much text", message, "Go back, and send it in several parts.")
        }
        Problem::InsufficientScope => ("Not allowed", message, "Go back, or ask a manager."),
        _ => ("This did not work", message, "Go back, and check what you sent."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_and_nobody_is_told_to_wait() {
        let (title, _, next) = problem(Problem::StorageFull, "Retry in a moment.");
        assert!(title == "The disk is full" && !next.contains("Wait"), "{next}");
    }
}
