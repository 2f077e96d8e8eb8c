//! The pages for the work in the store: one file for each entry of the menu.

mod activity;
mod add;
mod animal;
mod animal_fields;
mod animals;
mod categories;
mod conflict;
mod edit;
mod history;
mod live;
mod orders;
mod paste;
mod reply;
mod today;
mod webhooks;

use hyper::Method;
use jiff::Timestamp;
use maud::{Markup, html};

use self::reply::{Flash, Page};
pub(super) use self::reply::{Reply, asset};
use super::{
    call::{KEY_FIELD, PageCall},
    forms::Fields,
    layout::Menu,
    routes::StorePage,
    texts,
};
use crate::{
    domain::{
        Limit, Role, StoredResponse,
        store_area::{
            Category, ChangeType, Command, Decision, OrderStatus, Refusal, Resource, StorePet,
        },
    },
    http::{ApiError, App, Response},
    json,
    store::{Executed, Store, StoreError},
    text,
};

/// How many categories with a name a page knows.
const MAX_CATEGORIES: usize = 500;

/// A request of somebody who is signed in, and what its page needs.
pub(super) struct Desk<'a> {
    call: &'a PageCall<'a>,
    role: Role,
    now: Timestamp,
    /// The number in the path.
    id: Option<i64>,
    /// What the query has.
    query: Fields,
    /// What the form has.
    form: Fields,
    /// Random, for the keys of the forms of this page.
    token: String,
}

/// Responds to a page for the work in the store. What a member can correct is shown on the page,
/// and is not an error.
pub(super) async fn open(page: StorePage, call: &PageCall<'_>) -> Result<Response, ApiError> {
    let desk = &Desk::new(call);
    let reply = match page {
        StorePage::today => today::today(desk).await,
        StorePage::live => live::follow(desk).await,
        StorePage::animals => animals::list(desk).await,
        StorePage::changeSelected => animals::change_selected(desk).await,
        StorePage::animal => animal::show(desk).await,
        StorePage::editForm => edit::form(desk).await,
        StorePage::saveEdit => edit::save(desk).await,
        StorePage::placeOrder => animal::place_order(desk).await,
        StorePage::withdraw => animal::withdraw(desk).await,
        StorePage::restore => animal::restore(desk).await,
        StorePage::addForm => add::add_form(desk).await,
        StorePage::addOne => add::add_one(desk).await,
        StorePage::preview => add::preview(desk).await,
        StorePage::addMany => add::add_many(desk).await,
        StorePage::categories => categories::list(desk).await,
        StorePage::saveCategory => categories::save(desk).await,
        StorePage::orders => orders::list(desk).await,
        StorePage::order => orders::show(desk).await,
        StorePage::completeOrder => orders::complete(desk).await,
        StorePage::cancelOrder => orders::cancel(desk).await,
        StorePage::extendOrder => orders::extend(desk).await,
        StorePage::returnOrder => orders::take_back(desk).await,
        StorePage::activity => activity::activity(desk).await,
        StorePage::exportActivity => activity::export(desk).await,
        StorePage::webhooks => webhooks::list(desk).await,
        StorePage::addWebhook => webhooks::add(desk).await,
        StorePage::webhook => webhooks::show(desk).await,
        StorePage::testWebhook => webhooks::test(desk).await,
        StorePage::resumeWebhook => webhooks::resume(desk).await,
        StorePage::enableWebhook => webhooks::enable(desk).await,
        StorePage::disableWebhook => webhooks::disable(desk).await,
        StorePage::rotateWebhook => webhooks::rotate(desk).await,
        StorePage::deleteWebhook => webhooks::delete(desk).await,
    };
    reply?.into_response(desk)
}

/// What became of commands.
pub(super) enum Outcome {
    Done(Flash),
    Refused {
        index: usize,
        refusal: Refusal,
    },
    /// The same form was sent before with other values.
    UsedBefore,
}

impl<'a> Desk<'a> {
    pub(super) fn new(call: &'a PageCall<'a>) -> Self {
        let visit = &call.visit;
        let fields = Fields(visit.form.fields().to_vec());
        let (query, form) = if visit.request.method == Method::POST {
            (Fields::default(), fields)
        } else {
            (fields, Fields::default())
        };
        Self {
            call,
            role: call.session.member.role,
            now: json::times::to_milliseconds(visit.now),
            id: text::integer(visit.parameter),
            query,
            form,
            token: call.new_key(),
        }
    }

    /// The number in the path as an identifier.
    fn id<T>(&self, id: impl FnOnce(i64) -> Option<T>) -> Option<T> {
        self.id.and_then(id)
    }

    fn app(&self) -> &App {
        &self.call.visit.console.app
    }

    fn store(&self) -> &dyn Store {
        self.app().store.as_ref()
    }

    /// The hidden field with the key of a form of this page.
    fn key(&self, form: &str) -> Markup {
        html! { input type="hidden" name=(KEY_FIELD) value={ (self.token) "-" (form) }; }
    }

    /// When a reservation ends that is made now.
    fn default_end(&self) -> Timestamp {
        self.app().default_end(self.now)
    }

    fn may_write(&self) -> bool {
        self.role >= Role::Clerk
    }

    /// The categories that have a name.
    async fn categories(&self) -> Result<Vec<Category>, StoreError> {
        let (mut categories, mut after) = (Vec::new(), None);
        let limit = Limit::new(Limit::MAX.into()).unwrap_or_default();
        loop {
            let (page, next) = self.store().list_categories(after, limit).await?;
            categories.extend(page);
            after = next;
            if after.is_none() || categories.len() >= MAX_CATEGORIES {
                return Ok(categories);
            }
        }
    }

    /// Carries out commands for the form of this request, once for all repetitions of the form.
    async fn carry_out(&self, commands: Vec<Command>) -> Result<Outcome, ApiError> {
        Ok(match self.app().carry_out(commands, self.call.context(), respond).await? {
            Executed::Done { response, .. } | Executed::Replayed(response) => {
                let text = String::from_utf8_lossy(&response.body);
                let nothing = || Flash { code: String::new(), id: 0 };
                Outcome::Done(Flash::parse(&text).unwrap_or_else(nothing))
            }
            Executed::IdempotencyConflict => Outcome::UsedBefore,
            Executed::Refused { index, refusal } => Outcome::Refused { index, refusal },
        })
    }
}

/// What is remembered of a form: the message about it.
#[expect(clippy::unnecessary_wraps, reason = "as a `RespondTo`")]
fn respond(decisions: &[Decision]) -> Result<StoredResponse, Refusal> {
    let flash = flash(decisions).to_string();
    Ok(StoredResponse { status: 303, body: flash.into_bytes(), ..StoredResponse::default() })
}

fn flash(decisions: &[Decision]) -> Flash {
    let first = decisions.first();
    let kind = first.and_then(|decision| decision.changes.first()).map(|change| change.kind);
    let is_category = |decision: &&Decision| matches!(decision.result, Some(Resource::Category(_)));
    let count = decisions.iter().filter(|decision| !is_category(decision)).count();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let id = first.and_then(|decision| decision.result.as_ref()).map_or(0, |result| match result {
        Resource::Pet(pet) => pet.id.get(),
        Resource::Order(order) => order.id.get(),
        Resource::Category(category) => category.id,
    });
    let (code, id) = match (kind, first.and_then(|decision| decision.result.as_ref())) {
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
    Flash { code: code.to_owned(), id }
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
    Page::new(menu, texts::NOT_FOUND, content).with_status(404).into()
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
        @if first.is_some() || next.is_some() {
            div.pages.no-print {
                span { @if let Some(first) = first { a href=(first) { (texts::FIRST_PAGE) } } }
                span { @if let Some(next) = next { a href=(next) { (texts::NEXT_PAGE) } } }
            }
        }
    }
}
