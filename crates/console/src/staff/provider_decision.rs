//! Decides how a person whom the OpenID provider has signed in becomes a signed-in member.

use std::collections::HashSet;

use petstore_domain::{
    Role, StaffName,
    staff::{EndedSessions, StaffChange, StaffMember, Token},
    store_area::ActType,
};
use petstore_store::StaffKey;

use super::{
    changed_meanwhile, link::find_member_by_link, pending_sign_in::PendingSignIn,
    provider_rejection::Rejection, required_provider,
};
use crate::{openid::Person, prelude::*, session, visit::Visit};

/// The next write of a sign-in, from [`decide_sign_in`].
pub(super) enum SignInChange {
    /// Changes the role to the one that the rules grant. The sign-in must then be decided again.
    ChangeRole(StaffChange),
    /// Begins the session. Can also add the member, or link the member to the identity.
    BeginSession(StaffChange),
}

/// Decides how the person signs in, from the current members, and from the link on whose page the
/// sign-in began, if any.
pub(super) async fn decide_sign_in(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    pending: &PendingSignIn,
) -> Result<SignInChange, Rejection> {
    let key = StaffKey::Identity(person.identity.clone());
    let member = visit.console.app.store.find_staff(key).await?;
    let linked_member = find_linked_member(visit, pending).await?;
    match (member, linked_member) {
        (Some(member), Some(linked_member)) if linked_member.id != member.id => {
            let host = required_provider(visit)?.settings.issuer.host();
            Err(Rejection::Message(texts().identity_of_another(host)))
        }
        (Some(member), _) => decide_for_member(visit, member, role),
        (None, Some(linked_member)) => Ok(decide_for_linked_member(linked_member, person, role)),
        (None, None) if pending.link().is_some() => {
            let message = texts().link_invalid_hint.to_owned();
            Err(Rejection::Message(message))
        }
        (None, None) => decide_for_new_member(visit, person, role).await,
    }
}

/// Finds the member of the link on whose page the sign-in began. Returns `None` if it did not begin
/// on such a page, if the link is not valid, or if the member is disabled.
async fn find_linked_member(
    visit: &Visit<'_>,
    pending: &PendingSignIn,
) -> Result<Option<StaffMember>, ApiError> {
    match pending.link() {
        Some(link) => find_member_by_link(visit, link).await,
        None => Ok(None),
    }
}

/// Decides how an existing member signs in. A disabled member is rejected. If the member's role
/// differs from the one that the rules grant, the role is changed first.
fn decide_for_member(
    visit: &Visit<'_>,
    member: StaffMember,
    role: Role,
) -> Result<SignInChange, Rejection> {
    if member.disabled_at.is_some() {
        let message = texts().access_disabled.to_owned();
        return Err(Rejection::Message(message));
    }
    if member.role != role {
        let change = member.change(|member| member.with_role(role), ActType::StaffRoleChanged);
        return Ok(SignInChange::ChangeRole(change));
    }
    let change = StaffChange::new(member.version, member, ActType::StaffSignedIn)
        .with_ended_sessions(session::sessions_ended_by_sign_in(visit));
    Ok(SignInChange::BeginSession(change))
}

/// Returns the change that links a member to the identity of the person. The rules of the provider
/// determine the member's role from now on.
fn decide_for_linked_member(mut member: StaffMember, person: &Person, role: Role) -> SignInChange {
    let identity = person.identity.clone();
    member.role = role;
    let change = member
        .change(
            |member| member.with_identity(identity),
            ActType::StaffLinked,
        )
        .with_ended_sessions(EndedSessions::All);
    SignInChange::BeginSession(change)
}

/// Returns the change that adds the person as a new member. Fails with 409 if none of the person's
/// names can be used.
async fn decide_for_new_member(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
) -> Result<SignInChange, Rejection> {
    let staff = visit.console.app.store.list_staff().await?;
    let name = choose_unused_name(person, &staff).ok_or_else(changed_meanwhile)?;
    // A new member must have a link, which nobody gets here.
    let unused_link = visit.console.with_random(Token::generate);
    let new_member = StaffMember::new(name, role, &unused_link, visit.now)
        .with_identity(person.identity.clone());
    Ok(SignInChange::BeginSession(StaffChange::adding(new_member)))
}

/// Chooses an unused name for a new member: the first valid name of the person, such as `Ana`. If
/// the name is taken, a number is appended, such as `Ana 2`. Returns `None` if none of the names
/// can be used.
fn choose_unused_name(person: &Person, staff: &[StaffMember]) -> Option<StaffName> {
    // Leaves room for a space and a number of up to four digits.
    let max_length = StaffName::MAX_LENGTH - " 9999".len();
    let mut names: Vec<&str> = person.names.iter().map(String::as_str).collect();
    names.push(texts().staff_member);
    let base_name = names.into_iter().find_map(|name| {
        let short_name: String = name.chars().take(max_length).collect();
        StaffName::new(&short_name)
    })?;

    let used_keys: HashSet<String> = staff.iter().map(|member| member.name.key()).collect();
    if !used_keys.contains(&base_name.key()) {
        return Some(base_name);
    }
    // There are more numbers in this range than used names, so at least one number is free.
    (2..=used_keys.len() + 2)
        .filter_map(|number| StaffName::new(&format!("{} {number}", base_name.as_str())))
        .find(|name| !used_keys.contains(&name.key()))
}
