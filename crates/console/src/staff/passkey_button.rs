//! The button that asks for a passkey, and where there is one.

use std::net::IpAddr;

use petstore_domain::staff::StaffMember;
use petstore_web::edge::{Origin, request::without_port};

use crate::{layout, prelude::*, visit::Visit};

/// The host for which passkeys are. `None` if this browser is where there are none: they need the name of a host that
/// stays the same, TLS except on this machine, and members with passwords.
pub(super) fn host<'v>(visit: &'v Visit<'_>) -> Option<&'v str> {
    let origin = &*visit.visitor.origin;
    let host = without_port(origin.split_once("://")?.1);
    let is_here = host == "localhost";
    let url = visit.console.settings.url.as_ref().map(Origin::as_str);
    let is_address = url.map_or(is_here, |url| url == origin) && host.parse::<IpAddr>().is_err();
    let is_safe = visit.visitor.is_secure || is_here;
    (is_address && is_safe && visit.console.has_passwords()).then_some(host)
}

/// The button with which this member, or anybody, signs in with a passkey.
pub(super) fn button(visit: &Visit<'_>, member: Option<&StaffMember>) -> Markup {
    html! {
        @if let Some(member) = member { input type="hidden" name="for" value=(member.id); }
        @if host(visit).is_some() { (asking(texts().sign_in_with_passkey)) }
        @else if member.is_some() { p { (texts().passkeys_elsewhere) } }
    }
}

/// A button that asks for a passkey, and then fills and sends the form around it. Only the script shows it.
pub(super) fn asking(label: &str) -> Markup {
    html! {
        div data-passkey data-known=(texts().passkey_known) data-stopped=(texts().passkey_stopped)
            data-unsupported=(texts().passkey_unsupported) {
            noscript { p.hint { (texts().passkey_script) } }
            p.error role="alert" hidden {}
            button type="button" hidden { (label) }
        }
        script defer src=(layout::passkeys_script()) {}
    }
}
