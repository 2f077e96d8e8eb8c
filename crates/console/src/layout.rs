//! The frame of every page.

use std::sync::LazyLock;

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use maud::{DOCTYPE, Markup, html};
use petstore_app::StoreFacts;
use petstore_domain::{Role, store_area::TelephoneNumber};
use petstore_languages::{console::Label, console_texts as texts, look};
use petstore_web::edge::{ApiError, Body, Response, assets::Asset, response};

use super::markup::{self, LONG};

/// The main menu: the path of each entry, its label, and the least role.
const MENU: &[(&str, Label, Role)] = &[
    ("/", |of| of.today, Role::Viewer),
    ("/animals", |of| of.animals_heading, Role::Viewer),
    ("/add", |of| of.add, Role::Clerk),
    ("/orders", |of| of.orders, Role::Viewer),
    ("/activity", |of| of.activity, Role::Manager),
    ("/settings", |of| of.settings, Role::Manager),
];

/// The path of the entry to which a page belongs: the first part of its own path.
fn entry_of(path: &str) -> &str {
    let after = path.get(1..).and_then(|rest| rest.find('/'));
    match after.map_or(path, |length| &path[..=length]) {
        // The page of the animals links to it.
        "/categories" => "/animals",
        first => first,
    }
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: LazyLock<[Asset; 7]> = LazyLock::new(|| {
    let own = Bytes::from_static;
    [
        Asset::new(
            "/assets/style-%.css",
            CSS,
            look::style() + include_str!("style.css"),
        ),
        Asset::new("/assets/live-%.js", SCRIPT, own(include_bytes!("live.js"))),
        Asset::new(
            "/assets/icon-%.svg",
            "image/svg+xml",
            own(look::ICON.as_bytes()),
        ),
        // Browsers and phones ask for these paths, also without a link.
        Asset::new("/favicon.ico", "image/x-icon", own(look::FAVICON)),
        Asset::new("/apple-touch-icon.png", "image/png", own(look::TOUCH_ICON)),
        Asset::new(
            "/assets/photos-%.js",
            SCRIPT,
            own(include_bytes!("photos.js")),
        ),
        Asset::new(
            "/assets/passkeys-%.js",
            SCRIPT,
            own(include_bytes!("passkeys.js")),
        ),
    ]
});

/// The path of the script of the pages to which photos can be added.
pub(super) fn photos_script() -> &'static str {
    &ASSETS[5].path
}

/// The path of the script of the pages with a button for a passkey.
pub(super) fn passkeys_script() -> &'static str {
    &ASSETS[6].path
}

/// The style, script or picture at this path. Fails with 404 for another path.
pub(super) fn asset(path: &str) -> Result<Response, ApiError> {
    let asset = ASSETS.iter().find(|asset| asset.path == path);
    Ok(asset.ok_or_else(ApiError::no_such_path)?.respond())
}

/// A response with this content.
pub(super) fn of_type(media_type: &'static str, content: Body) -> Response {
    let mut response = Response::new(content);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Who looks at a page, and what it says first.
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) facts: &'a StoreFacts,
    /// Where the public reaches the window, if there is one.
    pub(super) window: Option<&'a str>,
    pub(super) role: Role,
    /// The path of the page; empty without an entry in the menu.
    pub(super) path: &'a str,
    /// The message about what was just done.
    pub(super) flash: Option<Markup>,
    /// The changes that the open page follows: of this animal, or of all.
    pub(super) follows: Follows,
    /// The number of a change. The page shows this one and all before it.
    pub(super) after: i64,
}

/// The parts of a page that are loaded again when they change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Nothing,
    Everything,
    Pet(i64),
}

pub(super) fn html(status: StatusCode, page: Bytes) -> Response {
    let mut response = of_type("text/html; charset=utf-8", page.into());
    *response.status_mut() = status;
    response
}

/// The name of the store, which all pages show.
fn store_name(facts: &StoreFacts) -> &str {
    facts.name().value.unwrap_or(texts().site)
}

/// A page for somebody who is not signed in.
pub(super) fn page(
    status: StatusCode,
    facts: &StoreFacts,
    title: &str,
    content: &Markup,
) -> Response {
    let page = document(
        (title, store_name(facts)),
        &html! {
            header { div.bar { span.brand { (brand(facts)) } } }
            main.narrow #main tabindex="-1" { h1 { (title) } (content) }
        },
    );
    html(status, page.into_string().into())
}

/// A page of somebody who is signed in.
pub(super) fn framed_page(frame: &Frame<'_>, title: &str, content: &Markup) -> Markup {
    let pet = if let Follows::Pet(id) = frame.follows {
        Some(id)
    } else {
        None
    };
    let entry = entry_of(frame.path);
    let follows = frame.follows != Follows::Nothing;
    document(
        (title, store_name(frame.facts)),
        &html! {
            header {
                div.bar {
                    a.brand href="/" { (brand(frame.facts)) }
                    nav aria-label=(texts().main_menu) {
                        ul {
                            @for (path, label, _) in
                                MENU.iter().filter(|(_, _, needed)| frame.role >= *needed) {
                                li {
                                    a href=(path) aria-current=[(entry == *path).then_some("page")] {
                                        (label(texts()))
                                    }
                                }
                            }
                            @if let Some(url) = frame.window {
                                li { a href=(url) { (texts().web_site) } }
                            }
                        }
                    }
                    div.who {
                        a href="/account" { bdi { (frame.name) } }
                        form method="post" action="/sign-out" {
                            button.quiet { (texts().sign_out) }
                        }
                    }
                }
            }
            main #main tabindex="-1" data-pet=[pet] data-follow[follows] data-after=[follows.then_some(frame.after)] {
                p.print { (letterhead(frame.facts)) }
                @if follows {
                    div.notice.no-print #news role="status" hidden data-changed=(texts().page_changed)
                        data-lost=(texts().connection_lost) data-out=(texts().signed_out)
                        data-one=(texts().show_change) data-many=(texts().show_changes) {
                        span {} " " a href="" { (texts().reload) } button type="button" hidden {}
                    }
                }
                div.hidden #heard role="status" {}
                p.error #offline role="alert" hidden { (texts().offline) }
                // It has the focus, so the next Tab leads to its link or its button.
                @if let Some(message) = &frame.flash {
                    div.flash #done role="status" tabindex="-1" autofocus { (message) }
                }
                (content)
            }
        },
    )
}

/// The store at the top of what is printed.
fn letterhead(facts: &StoreFacts) -> Markup {
    let address = facts
        .profile
        .address
        .as_ref()
        .map(|of| of.as_str().lines().collect::<Vec<_>>().join(", "));
    let telephone = facts
        .profile
        .telephone
        .as_ref()
        .map(TelephoneNumber::as_str);
    html! {
        (logo(facts)) strong { (markup::text(store_name(facts), LONG)) }
        @for more in [address.as_deref(), telephone].into_iter().flatten() { " · " (markup::text(more, LONG)) }
    }
}

/// The store at the top of a page.
fn brand(facts: &StoreFacts) -> Markup {
    html! {
        @if facts.profile.logo.is_some() { (logo(facts)) } @else { img src=(ASSETS[2].path) alt="" width="28" height="28"; }
        (markup::text(store_name(facts), LONG))
    }
}

/// The logo of the store, as high as the line of its name, and at most four times as wide.
fn logo(facts: &StoreFacts) -> Markup {
    html! {
        @if let Some(logo) = facts.profile.logo {
            @let width = 28 * u32::from(logo.width) / u32::from(logo.height.max(1));
            img.logo src=(logo.path()) alt="" width=(width.clamp(1, 112)) height="28";
        }
    }
}

fn document((title, store): (&str, &str), body: &Markup) -> Markup {
    let [style, script, icon, favicon, touch_icon, ..] = &*ASSETS;
    html! {
        (DOCTYPE)
        html lang=(texts().language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – " (markup::readable(store, LONG)) }
                // Every browser that shows a drawing prefers it.
                link rel="icon" sizes="32x32" href=(favicon.path);
                link rel="icon" type=(icon.media_type) href=(icon.path);
                link rel="apple-touch-icon" href=(touch_icon.path);
                link rel="stylesheet" href=(style.path);
                script defer src=(script.path) {}
            }
            body {
                a.skip href="#main" { (texts().skip) }
                (body)
            }
        }
    }
}

/// Sends the browser to a path of the console, after a form or to sign in.
pub(super) fn redirect(path: &str) -> Response {
    let path = HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/"));
    response::redirect(StatusCode::SEE_OTHER, path)
}
