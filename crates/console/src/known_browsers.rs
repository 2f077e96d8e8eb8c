//! Recognizes the known browsers of a member by a signed cookie. A browser is known once the
//! member has signed in with it.
//!
//! Sign-in attempts from known browsers count separately, so that a stranger who guesses passwords
//! cannot lock the member out: see [`super::guesses`].

use petstore_domain::{StaffId, staff::StaffMember};
use petstore_web::edge::{ApiError, Response};

use super::{cookies::Cookie, visit::Visit};

/// The maximum number of members in a browser's cookie. The cookie keeps the members who signed in
/// last.
const MAX_KNOWN_MEMBERS: usize = 8;

/// How long the cookie lives, in seconds: 400 days, the maximum that browsers allow.
const BROWSER_MEMORY_SECONDS: u32 = 400 * 24 * 60 * 60;

/// Whether the member has signed in with this browser before, and the password has not changed
/// since.
pub(super) fn has_signed_in(visit: &Visit<'_>, member: &StaffMember) -> bool {
    let text = signed_text(member);
    presented_signatures(visit).any(|signature| visit.is_signature_of(signature, &text))
}

/// Returns an enabled member to whom this browser is known, or `None`. If several members know it,
/// any of them will do, because each has limits of their own.
pub(super) async fn find_member_of_browser(visit: &Visit<'_>) -> Result<Option<StaffId>, ApiError> {
    // Without a cookie, there is one empty signature. Most requests return here, without a query.
    if presented_signatures(visit).all(str::is_empty) {
        return Ok(None);
    }
    let staff = visit.console.app.store.list_staff().await?;
    let known_member = staff
        .iter()
        .find(|member| member.disabled_at.is_none() && has_signed_in(visit, member));
    Ok(known_member.map(|member| member.id))
}

/// Marks the browser as known to the member: adds a signature for the member to the
/// browser's cookie. Keeps the signatures for other members, up to [`MAX_KNOWN_MEMBERS`].
pub(super) fn remember(visit: &Visit<'_>, response: &mut Response, member: &StaffMember) {
    let new_signature = visit.sign(&signed_text(member));
    let mut signatures = vec![new_signature.as_str()];
    for signature in presented_signatures(visit) {
        // All signatures have the same length. Other texts are dropped, such as the empty one that
        // stands for a missing cookie. A forged signature does no harm, because it is verified
        // whenever it is used.
        let can_be_signature = signature.len() == new_signature.len();
        if can_be_signature && signature != new_signature {
            signatures.push(signature);
        }
    }
    signatures.truncate(MAX_KNOWN_MEMBERS);
    let value = signatures.join(".");
    Cookie::Browser.set_for_seconds(visit, response, &value, BROWSER_MEMORY_SECONDS);
}

/// Returns the bytes to sign for a member. They include the password hash, so a new password
/// invalidates all signatures.
fn signed_text(member: &StaffMember) -> Vec<u8> {
    let mut text = format!("browser of staff {} with password ", member.id).into_bytes();
    if let Some(password) = &member.password {
        text.extend_from_slice(password.as_bytes());
    }
    text
}

/// Returns the signatures in the cookie, which are not verified yet.
fn presented_signatures<'v>(visit: &'v Visit<'_>) -> impl Iterator<Item = &'v str> {
    Cookie::Browser
        .get(visit)
        .unwrap_or_default()
        .split('.')
        .take(MAX_KNOWN_MEMBERS)
}
