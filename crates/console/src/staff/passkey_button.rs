//! The passkey button, and the host to which passkeys are bound.

use std::net::IpAddr;

use petstore_domain::staff::StaffMember;
use petstore_web::edge::{Origin, request::without_port};

use crate::{prelude::*, static_assets, visit::Visit};

/// Returns the host to which passkeys are bound (the relying party id). Returns `None` if passkeys
/// are not available in this request.
///
/// Passkeys need a stable host name, HTTPS unless the host is this machine, and a console with
/// passwords, because only members with a password have passkeys.
pub(super) fn passkey_host<'v>(visit: &'v Visit<'_>) -> Option<&'v str> {
    if !visit.console.has_passwords() {
        return None;
    }
    let origin = &*visit.visitor.origin;
    let host = without_port(origin.split_once("://")?.1);
    let is_this_machine = host == "localhost";
    // Without a configured origin, the host can be any address of the machine, except for
    // `localhost`.
    let is_stable = match &visit.console.settings.url {
        Some(url) => Origin::as_str(url) == origin,
        None => is_this_machine,
    };
    let is_name = host.parse::<IpAddr>().is_err();
    let is_safe = visit.visitor.is_secure || is_this_machine;
    (is_stable && is_name && is_safe).then_some(host)
}

/// Renders the button for signing in with a passkey. If the member is known, only this member's
/// passkeys are accepted, and a hint replaces the button where passkeys are not available.
pub(super) fn sign_in_button(visit: &Visit<'_>, member: Option<&StaffMember>) -> Markup {
    html! {
        @if let Some(member) = member {
            input type="hidden" name="for" value=(member.id);
        }
        @if passkey_host(visit).is_some() {
            (passkey_button(texts().sign_in_with_passkey))
        } @else if member.is_some() {
            p { (texts().passkeys_elsewhere) }
        }
    }
}

/// Renders a button that asks the browser for a passkey. The page's script reveals the button, and
/// after the browser's response, fills in and submits the form that contains the button.
pub(super) fn passkey_button(label: &str) -> Markup {
    html! {
        div data-passkey data-known=(texts().passkey_known) data-stopped=(texts().passkey_stopped)
            data-unsupported=(texts().passkey_unsupported) {
            noscript { p.hint { (texts().passkey_script) } }
            p.error role="alert" hidden {}
            button type="button" hidden { (label) }
        }
        script defer src=(static_assets::passkeys_script()) {}
    }
}
