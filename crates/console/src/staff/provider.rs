//! Signing in at the OpenID provider.

use std::{
    collections::HashSet,
    future::{Ready, ready},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::{Method, StatusCode};
use jiff::Timestamp;
use petstore_app::turns::Caller;
use petstore_domain::{
    Actor, NamedActor, Problem, Role, StaffName,
    staff::{EndedSessions, StaffChange, StaffMember, StaffSession, Token, TokenDigest},
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::Response;

use super::{
    changed_meanwhile,
    sign_in::{self, Who},
    sign_out::{end, origin, provider},
    then::{Then, own_path},
};
use crate::{
    layout,
    openid::{Failure, Person, Provider, SignIn},
    prelude::*,
    session::{self, Cookie},
    visit::Visit,
};

/// How long a sign-in may take, in seconds.
const MAX_SECONDS: i64 = 10 * 60;

/// How many sign-ins may have begun in one browser: several pages can lead to the provider at once.
const MAX_BEGUN: usize = 4;

/// The longest path to which a sign-in leads, in bytes, because a cookie has it.
const MAX_NEXT: usize = 500;

/// How often somebody is let in again when something changes at the same moment.
const MAX_CHANGES: u32 = 30;

/// A sign-in that has begun in this browser. Its cookie has a random text; state, nonce and the secret of
/// PKCE follow from this text with a key of the service. So the service stores nothing of a sign-in, no
/// response counts in another browser, and none with a text that the service has not made.
struct Begun {
    text: String,
    at: i64,
    /// Whether the provider asks again who the member is.
    again: bool,
    next: String,
}

impl Begun {
    fn now(visit: &Visit<'_>) -> Option<Self> {
        let secret = visit.console.with_random(Token::generate).reveal();
        let next = own_path(visit, &Method::GET, visit.query.raw("next"));
        let next =
            URL_SAFE_NO_PAD.encode(next.filter(|path| path.len() <= MAX_NEXT).unwrap_or("/"));
        let again = u8::from(visit.query.raw("again") == "1");
        Self::parse(&format!(
            "{secret}.{}.{again}.{next}",
            visit.now.as_second()
        ))
    }

    fn parse(text: &str) -> Option<Self> {
        let [_, at, again, next] = text.split('.').collect::<Vec<_>>()[..] else {
            return None;
        };
        let next = String::from_utf8(URL_SAFE_NO_PAD.decode(next).ok()?).ok()?;
        Some(Self {
            at: at.parse().ok()?,
            again: again == "1",
            next,
            text: text.to_owned(),
        })
    }

    /// Those of this browser that can still complete.
    fn all(visit: &Visit<'_>) -> impl Iterator<Item = Self> {
        let texts = Cookie::Provider
            .get(visit)
            .unwrap_or_default()
            .split('~')
            .take(MAX_BEGUN);
        let is_alive = |begun: &Self| visit.now.as_second().saturating_sub(begun.at) < MAX_SECONDS;
        texts.filter_map(Self::parse).filter(is_alive)
    }

    fn save(all: impl Iterator<Item = Self>, visit: &Visit<'_>, response: &mut Response) {
        let texts: Vec<_> = all.take(MAX_BEGUN).map(|of| of.text).collect();
        let seconds = if texts.is_empty() { 0 } else { MAX_SECONDS };
        Cookie::Provider.set(
            visit,
            response,
            &texts.join("~"),
            u32::try_from(seconds).ok(),
        );
    }

    fn derived(&self, what: &str, visit: &Visit<'_>) -> String {
        visit.tag_of(format!("{what} of sign-in {}", self.text).as_bytes())
    }

    fn sign_in(&self, visit: &Visit<'_>) -> SignIn {
        SignIn {
            redirect: format!("{}/sign-in/callback", origin(visit)),
            state: self.derived("state", visit),
            nonce: self.derived("nonce", visit),
            verifier: self.derived("verifier", visit),
            again: self.again,
        }
    }

    /// The link of a member, if one leads to the provider.
    fn link(&self) -> Option<TokenDigest> {
        TokenDigest::of_presented(self.next.strip_prefix("/link/")?)
    }
}

/// Why somebody is not let in: a message for them, or a cause for the log.
enum Refused {
    Because(String),
    /// After too many attempts.
    TooOften(String),
    Failed(Failure),
    Error(ApiError),
}

impl<E: Into<ApiError>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// `GET /sign-in/provider`.
pub(crate) async fn leave(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = provider(visit)?;
    let begun = Begun::now(visit).ok_or_else(changed_meanwhile)?;
    match provider.authorization_url(&begun.sign_in(visit)).await {
        Ok(url) => {
            let mut response = layout::redirect(url.as_str());
            Begun::save(
                [begun].into_iter().chain(Begun::all(visit)),
                visit,
                &mut response,
            );
            Ok(response)
        }
        Err(failure) => refused(visit, Refused::Failed(failure), &begun.next).await,
    }
}

/// `GET /sign-in/callback`: the browser comes back from the provider.
pub(crate) async fn come_back(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = provider(visit)?;
    let state = visit.query.raw("state");
    let (mut own, others): (Vec<_>, Vec<_>) =
        Begun::all(visit).partition(|of| of.derived("state", visit) == state);
    let begun = own.pop();
    let next = begun.as_ref().map_or("/", |begun| &begun.next).to_owned();
    let arrived = match begun {
        Some(begun) => arrive(visit, provider, &begun).await,
        None => Err(Refused::Because(texts().sign_in_elsewhere.to_owned())),
    };
    let mut response = match arrived {
        Ok(response) => response,
        Err(why) => refused(visit, why, &next).await?,
    };
    Begun::save(others.into_iter(), visit, &mut response);
    Ok(response)
}

async fn arrive(
    visit: &Visit<'_>,
    provider: &Provider,
    begun: &Begun,
) -> Result<Response, Refused> {
    let (issuer, host) = (
        visit.query.all("iss").next(),
        provider.settings.issuer.host(),
    );
    if visit.query.raw("code").is_empty() {
        return Err(Refused::Because(texts().sign_in_stopped(host)));
    }
    let person = person(visit, provider, begun, issuer).await?;
    let Some(role) = person.role else {
        end(visit, Some(&person.identity), None).await?;
        return Err(Refused::Because(texts().no_role(host)));
    };
    let (token, member) = enter(visit, &person, role, begun).await?;
    visit.console.app.sign_ins.count("provider", "accepted");
    let next = if begun.link().is_some() {
        "/"
    } else {
        &begun.next
    };
    let mut response = layout::redirect(next);
    session::sign_in(visit, &mut response, &token, &member);
    Ok(response)
}

/// Asks the provider for the person of the code. Each code counts by its sender before the provider is asked, and those
/// that the provider rejects go on counting, because strangers can invent codes.
async fn person(
    visit: &Visit<'_>,
    provider: &Provider,
    begun: &Begun,
    issuer: Option<&str>,
) -> Result<Person, Refused> {
    let caller = match session::member_of_browser(visit).await? {
        Some(member) => Caller::Known(member),
        None => Caller::Stranger(visit.visitor.address.into()),
    };
    let guesses = &visit.console.guesses;
    if let Err(error) = guesses.take_code(caller, visit.console.app.clock.instant()) {
        return Err(Refused::TooOften(error.message().to_owned()));
    }
    let state = visit.query.raw("state");
    if !visit.console.used.callbacks.take(state, visit.now) {
        return Err(Refused::Because(texts().sign_in_elsewhere.to_owned()));
    }

    let code = visit.query.raw("code");
    let person = provider
        .person(caller, &begun.sign_in(visit), code, issuer, visit.now)
        .await;
    if !matches!(person, Err(Failure::Invalid(_))) {
        guesses.give_code_back(caller);
    }
    person.map_err(Refused::Failed)
}

/// Signs the person in: as their member, as the member of the link, or as a new member.
async fn enter(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    begun: &Begun,
) -> Result<(Token, StaffMember), Refused> {
    let store = &visit.console.app.store;
    for _ in 0..MAX_CHANGES {
        let identity = person.identity.clone();
        let known = store
            .find_staff(StaffKey::Identity(identity.clone()))
            .await?;
        let linked = match begun.link() {
            Some(link) => store.find_staff(StaffKey::Link(link)).await?,
            None => None,
        };
        let linked = linked.filter(|of| of.has_link_at(visit.now) && of.disabled_at.is_none());
        let change = match (known, linked) {
            (Some(known), Some(linked)) if known.id != linked.id => {
                let host = provider(visit)?.settings.issuer.host();
                return Err(Refused::Because(texts().identity_of_another(host)));
            }
            (Some(known), _) if known.disabled_at.is_some() => {
                return Err(Refused::Because(texts().access_disabled.to_owned()));
            }
            (Some(known), _) if known.role != role => {
                let change = known.change(|of| of.with_role(role), ActType::StaffRoleChanged);
                visit.write(change, Actor::Clock.into()).await?;
                continue;
            }
            (Some(known), _) => {
                let ends = session::presented_digest(visit)
                    .map_or(EndedSessions::None, EndedSessions::One);
                StaffChange::new(known.version, known, ActType::StaffSignedIn).ending(ends)
            }
            (None, Some(linked)) => StaffMember { role, ..linked }
                .change(|of| of.with_identity(identity), ActType::StaffLinked)
                .ending(EndedSessions::All),
            (None, None) if begun.link().is_some() => {
                return Err(Refused::Because(texts().link_invalid_hint.to_owned()));
            }
            (None, None) => {
                let unused = visit.console.with_random(Token::generate);
                let staff = store.list_staff().await?;
                let name = free_name(person, &staff).ok_or_else(changed_meanwhile)?;
                let new = StaffMember::new(name, role, &unused, visit.now);
                StaffChange::new(0, new.with_identity(identity), ActType::StaffAdded)
            }
        };
        let is_new = change.seen == 0;
        let actor: NamedActor = if is_new {
            Actor::Clock.into()
        } else {
            session::actor(&change.after)
        };
        let (token, record) = session::begin(visit, change.after.id, true);
        // A proof whose time is not known is an old one.
        let old = visit.now.as_second() - StaffSession::CONFIRMED;
        let proved_at = person
            .proved_at
            .or_else(|| Timestamp::from_second(old).ok());
        let provider_session = person.session.clone();
        let record = StaffSession {
            confirmed_at: proved_at,
            provider_session,
            ..record
        };
        let member = change.after.clone();
        match visit
            .write(
                StaffChange {
                    begins: Some(record),
                    ..change
                },
                actor,
            )
            .await?
        {
            StaffWriteOutcome::Done(id) => return Ok((token, StaffMember { id, ..member })),
            StaffWriteOutcome::Stale | StaffWriteOutcome::NameTaken => {}
            StaffWriteOutcome::Full => {
                let full = ApiError::new(Problem::InvalidTransition, texts().too_many_members);
                return Err(full.into());
            }
        }
    }
    Err(changed_meanwhile().into())
}

/// Returns a name for a new member, with a number if members have the name already.
fn free_name(person: &Person, staff: &[StaffMember]) -> Option<StaffName> {
    // A number has at most four digits, and a space before it.
    let longest = StaffName::MAX_LENGTH - 5;
    let names = person
        .names
        .iter()
        .map(String::as_str)
        .chain([texts().staff_member]);
    let mut names =
        names.filter_map(|name| StaffName::new(&name.chars().take(longest).collect::<String>()));
    let first = names.next()?;

    let taken: HashSet<String> = staff.iter().map(|member| member.name.key()).collect();
    let numbers = 2..=taken.len() + 2;
    let numbered =
        numbers.filter_map(|number| StaffName::new(&format!("{} {number}", first.as_str())));
    [first.clone()]
        .into_iter()
        .chain(numbered)
        .find(|name| !taken.contains(&name.key()))
}

/// The page to sign in, with the reason.
async fn refused(visit: &Visit<'_>, why: Refused, next: &str) -> Result<Response, ApiError> {
    let host = provider(visit)?.settings.issuer.host();
    let is_too_often = matches!(why, Refused::TooOften(_));
    let (message, cause) = match why {
        Refused::Because(message) | Refused::TooOften(message) => (message, None),
        Refused::Failed(cause @ Failure::Unreachable(_)) => {
            (texts().provider_unreachable(host), Some(cause))
        }
        Refused::Failed(cause) => (texts().provider_invalid(host), Some(cause)),
        Refused::Error(error) => return Err(error),
    };
    sign_in::rejected(visit, "provider", None, cause.as_ref()).await?;
    let is_down = matches!(cause, Some(Failure::Unreachable(_)));
    let status = if is_too_often {
        StatusCode::TOO_MANY_REQUESTS
    } else if is_down {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::FORBIDDEN
    };
    let then = Then::page(visit, next);
    Ok(sign_in::form(
        visit,
        &then,
        Some(&message),
        Who::default(),
        status,
    ))
}

/// `GET /sign-in/done`: the new tab of a member who signed in again.
pub(crate) fn signed_in(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let content = html! { p { (texts().signed_in_hint) } };
    ready(Ok(layout::page(
        StatusCode::OK,
        &visit.facts,
        texts().signed_in,
        &content,
    )))
}
