//! The access checks for staff pages: who is signed in, and whether the member may open the page.

use petstore_domain::{Actor, Client, Problem};
use petstore_languages::console_texts as texts;
use petstore_web::edge::{ApiError, Facts, Response};

use super::{
    desk, layout,
    pages::Requirements,
    problem,
    session::{self, Session},
    staff,
    state::Console,
    visit::Visit,
};

/// The outcome of the access checks for a staff page.
pub(super) enum Admission {
    /// The member may open the page.
    Member(Box<Session>),
    /// The request gets this response instead of the page, such as the sign-in form.
    Respond(Response),
}

impl Console {
    /// Checks that a member is signed in, and meets the requirements of the page. Records the
    /// member in `facts`.
    ///
    /// Fails with 403 if the member's role is too low, and with 503 if the server has already given
    /// the slot of the connection to another client.
    pub(super) async fn admit(
        &self,
        client: &Client,
        visit: &Visit<'_>,
        requirements: Requirements,
        facts: &mut Facts,
    ) -> Result<Admission, ApiError> {
        // Looked up only after the form has arrived, because the session can end during a slow
        // upload.
        let Some(session) = session::resume(visit).await? else {
            let sign_in = staff::sign_in_page(visit, None);
            let response = self.reserve_for_long_page(client, visit.request, sign_in)?;
            return Ok(Admission::Respond(response));
        };
        // The connection of a member keeps its slot, unless the server has already given it away.
        if !client.trust() {
            let message = texts().connection_replaced;
            return Err(ApiError::new(Problem::Unavailable, message));
        }
        facts.principal = Some(Actor::Staff(session.member.id));

        if let Some(response) = self.check_requirements(visit, &session, requirements)? {
            return Ok(Admission::Respond(response));
        }
        if let Some(response) = check_form_owner(visit, &session).await? {
            return Ok(Admission::Respond(response));
        }
        Ok(Admission::Member(Box::new(session)))
    }

    /// Checks the role, the second factor, and the recent proof of identity that a page requires.
    /// Fails with 403 if the role is too low. If something else is missing, returns the response
    /// that asks for it.
    fn check_requirements(
        &self,
        visit: &Visit<'_>,
        session: &Session,
        requirements: Requirements,
    ) -> Result<Option<Response>, ApiError> {
        if session.member.role < requirements.role {
            let error = ApiError::new(Problem::InsufficientScope, texts().not_allowed);
            return Err(problem::with_menu(error, visit, Some(session)));
        }
        if requirements.second_factor && self.lacks_second_factor(session) {
            return Ok(Some(layout::redirect("/account/second-factor")));
        }
        if requirements.recent_password && !session.record.is_confirmed_at(visit.now) {
            return Ok(Some(staff::sign_in_page(visit, Some(session))));
        }
        Ok(None)
    }

    /// Whether the settings require a second factor that the member does not have. Members who sign
    /// in at a provider are exempt, because the provider is responsible for their second factor.
    fn lacks_second_factor(&self, session: &Session) -> bool {
        let member = &session.member;
        let is_protected = member.has_second_factor() || member.identity.is_some();
        !is_protected && self.settings.second_factor.includes(member.role)
    }
}

/// Checks that the submitted form was rendered for the signed-in member. If it was rendered for
/// another member, returns the page that asks for confirmation.
///
/// Such a form comes from a page that another member left open in a tab. The member who is signed
/// in now must not submit it unknowingly.
async fn check_form_owner(
    visit: &Visit<'_>,
    session: &Session,
) -> Result<Option<Response>, ApiError> {
    let member = &session.member;
    let Some(owner) = desk::owner_of(&visit.form) else {
        return Ok(None);
    };
    if owner == member.id {
        return Ok(None);
    }
    let path = visit.request.uri.path();
    let page = staff::saved_form_page(visit, member, path, &visit.form).await?;
    Ok(Some(page))
}
