//! The pages of the staff: one file for each entry of the menu. Those to sign in, and for accounts,
//! staff and API keys, are in [`super::staff`].

mod activity;
mod add;
mod animal;
mod animal_fields;
mod animals;
mod categories;
mod category_names;
mod conflict;
mod edit;
mod history;
mod live;
mod order_rows;
mod orders;
mod paste;
mod several;
mod today;
mod webhooks;

use hyper::StatusCode;
use jiff::Timestamp;
use maud::{Markup, html};

use super::{
    desk::Desk,
    forms::Errors,
    layout::Menu,
    reply::{Flash, Page, Reply},
    routes::StaffPage,
    staff, texts,
};
use crate::{
    domain::{
        PetId, StoredResponse,
        store_area::{
            ChangeType, Command, Decision, OrderStatus, Preconditions, Refusal, Resource, StorePet,
        },
    },
    http::{ApiError, Response},
    store::{Executed, StoreError},
};

/// Responds to a page for the staff. What a member can correct is shown on the page, and is not an
/// error.
pub(super) async fn open(page: StaffPage, desk: &Desk<'_>) -> Result<Response, ApiError> {
    let reply = match page {
        StaffPage::signOut => return staff::sign_out(desk).await,
        StaffPage::account => staff::account(desk).await,
        StaffPage::setPassword => staff::set_password(desk).await,
        StaffPage::endSession => staff::end_session(desk).await,
        StaffPage::secondFactor => Ok(staff::second_factor(desk)),
        StaffPage::setSecondFactor => staff::set_second_factor(desk).await,
        StaffPage::removeSecondFactor => staff::remove_second_factor(desk).await,
        StaffPage::newRecoveryCodes => staff::new_recovery_codes(desk).await,
        StaffPage::settings => Ok(Reply::See("/settings/staff".to_owned(), None)),
        StaffPage::members => staff::members(desk).await,
        StaffPage::addMember => staff::add_member(desk).await,
        StaffPage::changeMember => staff::change_member(desk).await,
        StaffPage::endSessionOfMember => staff::end_session_of_member(desk).await,
        StaffPage::keys => staff::keys(desk).await,
        StaffPage::addKey => staff::add_key(desk).await,
        StaffPage::changeKey => staff::change_key(desk).await,
        StaffPage::today => today::today(desk).await,
        StaffPage::live => live::follow(desk).await,
        StaffPage::animals => animals::list(desk).await,
        StaffPage::changeSelected => several::change_selected(desk).await,
        StaffPage::animal => animal::show(desk).await,
        StaffPage::editForm => edit::form(desk).await,
        StaffPage::saveEdit => edit::save(desk).await,
        StaffPage::placeOrder => animal::place_order(desk).await,
        StaffPage::withdraw => animal::withdraw(desk).await,
        StaffPage::restore => animal::restore(desk).await,
        StaffPage::addForm => add::add_form(desk).await,
        StaffPage::addOne => add::add_one(desk).await,
        StaffPage::preview => add::preview(desk).await,
        StaffPage::addMany => add::add_many(desk).await,
        StaffPage::categories => categories::list(desk).await,
        StaffPage::saveCategory => categories::save(desk).await,
        StaffPage::orders => orders::list(desk).await,
        StaffPage::order => orders::show(desk).await,
        StaffPage::completeOrder => orders::complete(desk).await,
        StaffPage::cancelOrder => orders::cancel(desk).await,
        StaffPage::extendOrder => orders::extend(desk).await,
        StaffPage::returnOrder => orders::take_back(desk).await,
        StaffPage::activity => activity::activity(desk).await,
        StaffPage::exportActivity => activity::export(desk).await,
        StaffPage::webhooks => webhooks::list(desk).await,
        StaffPage::addWebhook => webhooks::add(desk).await,
        StaffPage::webhook => webhooks::show(desk).await,
        StaffPage::testWebhook => webhooks::test(desk).await,
        StaffPage::resumeWebhook => webhooks::resume(desk).await,
        StaffPage::enableWebhook => webhooks::enable(desk).await,
        StaffPage::disableWebhook => webhooks::disable(desk).await,
        StaffPage::rotateWebhook => webhooks::rotate(desk).await,
        StaffPage::deleteWebhook => webhooks::delete(desk).await,
    };
    reply?.into_response(desk)
}

/// Why commands were not carried out. Nothing was changed.
struct NotDone {
    /// Which of them is refused, if it is one of them.
    index: Option<usize>,
    /// What it is about, if somebody else has changed that.
    changed: Option<Resource>,
    why: String,
}

impl Desk<'_> {
    /// When a reservation ends that is made now.
    fn default_end(&self) -> Timestamp {
        self.app().default_end(self.visit.now)
    }

    /// What a change requires: that nobody else has changed its subject since the form was made.
    fn preconditions(&self) -> Preconditions {
        Preconditions::version(self.visit.form.integer("version").unwrap_or(0))
    }

    /// The animal with the number in the path.
    async fn pet(&self) -> Result<Option<StorePet>, StoreError> {
        match self.id(PetId::new) {
            Some(id) => self.store().get_store_pet(id).await,
            None => Ok(None),
        }
    }

    /// Carries out commands for the form of this request, once for all repetitions of the form.
    async fn carry_out(&self, commands: Vec<Command>) -> Result<Result<Flash, NotDone>, ApiError> {
        Ok(match self.app().carry_out(commands, self.context(), respond).await? {
            Executed::Done { response, .. } | Executed::Replayed(response) => {
                let text = String::from_utf8_lossy(&response.body);
                Ok(Flash::parse(&text).unwrap_or_else(|| Flash::new("", 0)))
            }
            Executed::IdempotencyConflict => {
                Err(NotDone { index: None, changed: None, why: texts::ALREADY_SENT.to_owned() })
            }
            Executed::Refused { index, refusal } => {
                let (index, why) = (Some(index), refused(&refusal));
                let changed = match refusal {
                    Refusal::PreconditionFailed(present) => present.map(|present| *present),
                    _ => None,
                };
                Err(NotDone { index, changed, why })
            }
        })
    }
}

/// What is remembered of a form: the message about it.
fn respond(decisions: &[Decision]) -> StoredResponse {
    let flash = flash(decisions).to_string();
    StoredResponse { status: 303, body: flash.into_bytes(), ..StoredResponse::default() }
}

fn flash(decisions: &[Decision]) -> Flash {
    let pet = |decision: &Decision| match &decision.result {
        Some(Resource::Pet(pet)) => Some(pet.id),
        Some(Resource::Order(order)) => Some(order.pet_id),
        _ => None,
    };
    // Of several commands about one animal, the last one is what was asked for.
    let decisions = match decisions {
        [first, .., last] if pet(first).is_some() && pet(first) == pet(last) => {
            std::slice::from_ref(last)
        }
        all => all,
    };
    let first = decisions.first();
    let kind = first.and_then(|decision| decision.changes.first()).map(|change| change.kind);
    let is_category = |decision: &&Decision| matches!(decision.result, Some(Resource::Category(_)));
    let count = decisions.iter().filter(|decision| !is_category(decision)).count();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let subject = first.and_then(|decision| decision.result.as_ref());
    let id = subject.map_or(0, |subject| match subject {
        Resource::Pet(pet) => pet.id.get(),
        Resource::Order(order) => order.id.get(),
        Resource::Category(category) => category.id,
    });
    let (code, id) = match (kind, subject) {
        (Some(ChangeType::PetAdded), _) if count > 1 => ("added-many", count),
        _ if count > 1 => ("changed-many", count),
        (Some(ChangeType::PetAdded), _) => ("added", id),
        (Some(ChangeType::PetWithdrawn), _) => ("withdrawn", id),
        (Some(ChangeType::PetRestored), _) => ("restored", id),
        (Some(ChangeType::OrderChanged), _) => ("extended", id),
        (Some(ChangeType::PetChanged | ChangeType::CategoryChanged), _) => ("saved", id),
        // Also if the order was closed before.
        (_, Some(Resource::Order(order))) => match order.status {
            OrderStatus::Reserved => ("reserved", id),
            OrderStatus::Completed => ("sold", id),
            OrderStatus::Cancelled | OrderStatus::Expired => ("cancelled", id),
            OrderStatus::Returned => ("returned", id),
        },
        _ => ("saved", id),
    };
    Flash::new(code, id)
}

/// Why a command was refused, for people.
fn refused(refusal: &Refusal) -> String {
    let of_state = |current: &Resource| match current {
        Resource::Pet(StorePet { withdrawn: Some(_), .. }) => texts::IS_WITHDRAWN.to_owned(),
        Resource::Pet(StorePet { order_id: Some(order), .. }) => texts::is_reserved(order.get()),
        Resource::Pet(pet) => texts::is_in_status(pet.status),
        Resource::Order(order) => texts::order_is(order.id.get(), order.status),
        Resource::Category(_) => texts::STALE.to_owned(),
    };
    match refusal {
        Refusal::InvalidTransition(conflict) | Refusal::OpenOrder(conflict) => {
            of_state(&conflict.current)
        }
        Refusal::NotFound(_) => texts::IS_GONE.to_owned(),
        Refusal::Invalid(_) => texts::DAY_INVALID.to_owned(),
        Refusal::PreconditionFailed(_)
        | Refusal::PreconditionRequired(_)
        | Refusal::TooLong
        | Refusal::NoIdentifierLeft => texts::STALE.to_owned(),
    }
}

/// A page about something that does not exist.
fn missing(menu: Menu, message: &str) -> Reply {
    let content = html! {
        h1 { (texts::NOT_FOUND) }
        p { (message) }
        p { a href="/" { (texts::TO_FIRST_PAGE) } }
    };
    Page::new(menu, texts::NOT_FOUND, content).with_status(StatusCode::NOT_FOUND).into()
}

/// Content that is replaced as a whole when something changes, so that no part contradicts another.
fn live(errors: &Errors, content: &Markup) -> Markup {
    html! {
        (errors.summary())
        div #now.stack data-live { (content) }
    }
}

/// What a store without animals shows instead of them.
fn empty_store(desk: &Desk<'_>) -> Markup {
    html! {
        div.card.empty {
            strong { (texts::EMPTY_STORE) }
            @if desk.may_write() {
                p { (texts::EMPTY_STORE_HINT) }
                a.button.main href="/add" { (texts::ADD_ANIMALS) }
            }
        }
    }
}

/// A link to another part of a list, with these parameters.
fn link(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The links below a list: to its beginning if this is a later page, and to the next page.
fn pages(first: Option<&str>, next: Option<&str>) -> Markup {
    html! {
        @if next.is_some() { p.print { (texts::MORE_FOLLOW) } }
        @if first.is_some() || next.is_some() {
            div.pages.no-print {
                span { @if let Some(first) = first { a href=(first) { (texts::FIRST_PAGE) } } }
                span { @if let Some(next) = next { a href=(next) { (texts::NEXT_PAGE) } } }
            }
        }
    }
}
