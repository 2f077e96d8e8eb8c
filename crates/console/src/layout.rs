//! The layout of every page: the document, the bar with the main menu, and the static assets.

use std::sync::LazyLock;

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use jiff::civil::Date;
use maud::{DOCTYPE, Markup, html};
use petstore_app::StoreFacts;
use petstore_domain::{
    Role,
    store_area::{StoreTimeZone, TelephoneNumber},
};
use petstore_languages::{console::Label, console_texts as texts, look};
use petstore_web::edge::{
    ApiError, Body, Response,
    assets::{self, Asset},
    response,
};

use super::{
    markup::{self, LONG_LENGTH},
    zone,
};

/// An entry of the main menu.
struct MenuEntry {
    path: &'static str,
    label: Label,
    /// The lowest role that sees the entry.
    role: Role,
}

impl MenuEntry {
    const fn new(path: &'static str, label: Label, role: Role) -> Self {
        Self { path, label, role }
    }
}

/// The main menu, from left to right.
const MENU: &[MenuEntry] = &[
    MenuEntry::new("/", |texts| texts.today, Role::Viewer),
    MenuEntry::new("/animals", |texts| texts.animals_heading, Role::Viewer),
    MenuEntry::new("/add", |texts| texts.add, Role::Clerk),
    MenuEntry::new("/orders", |texts| texts.orders, Role::Viewer),
    MenuEntry::new("/activity", |texts| texts.activity, Role::Manager),
    MenuEntry::new("/settings", |texts| texts.settings, Role::Manager),
];

/// Returns the path of the menu entry to which a page belongs: `/orders` for `/orders/7`.
fn menu_entry_path(path: &str) -> &str {
    let first_part = match path.get(1..).and_then(|path| path.find('/')) {
        Some(length) => &path[..=length],
        None => path,
    };
    match first_part {
        // Categories have no entry of their own: the list of animals links to them.
        "/categories" => "/animals",
        first_part => first_part,
    }
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The static assets of the pages. `%` in a path stands for a hash of the content, so that browsers
/// can cache it.
static ASSETS: LazyLock<[Asset; 8]> = LazyLock::new(|| {
    [
        Asset::new(
            "/assets/style-%.css",
            CSS,
            look::style() + include_str!("style.css"),
        ),
        Asset::new(
            "/assets/live-%.js",
            SCRIPT,
            Bytes::from_static(include_bytes!("live.js")),
        ),
        Asset::new(
            "/assets/icon-%.svg",
            "image/svg+xml",
            Bytes::from_static(look::ICON.as_bytes()),
        ),
        // Browsers and phones request these paths even if no page links to them.
        Asset::new(
            "/favicon.ico",
            "image/x-icon",
            Bytes::from_static(look::FAVICON),
        ),
        Asset::new(
            "/apple-touch-icon.png",
            "image/png",
            Bytes::from_static(look::TOUCH_ICON),
        ),
        Asset::new(
            "/assets/photos-%.js",
            SCRIPT,
            Bytes::from_static(include_bytes!("photos.js")),
        ),
        Asset::new(
            "/assets/passkeys-%.js",
            SCRIPT,
            Bytes::from_static(include_bytes!("passkeys.js")),
        ),
        Asset::new(
            "/assets/zones-%.js",
            SCRIPT,
            Bytes::from_static(include_bytes!("zones.js")),
        ),
    ]
});

/// Returns the path of the script for pages that accept photo uploads.
pub(super) fn photos_script() -> &'static str {
    &ASSETS[5].path
}

/// Returns the path of the script for pages with a passkey button.
pub(super) fn passkeys_script() -> &'static str {
    &ASSETS[6].path
}

/// Returns the path of the script for the page with the time zone dropdown.
pub(super) fn zones_script() -> &'static str {
    &ASSETS[7].path
}

/// Responds with the asset at this path. The path may have the hash of another release, because an
/// open page can be older than the process. Fails with 404 if there is no such asset.
pub(super) fn asset(path: &str) -> Result<Response, ApiError> {
    assets::respond_at(ASSETS.iter(), path).ok_or_else(ApiError::no_such_path)
}

/// Returns a 200 response with this media type and content.
pub(super) fn response_of_type(media_type: &'static str, content: Body) -> Response {
    let mut response = Response::new(content);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Everything on a page around its content: the member, the store, the menu and the message.
pub(super) struct Frame<'a> {
    /// The name of the member.
    pub(super) name: &'a str,
    pub(super) facts: &'a StoreFacts,
    /// The public URL of the window, if there is one.
    pub(super) window: Option<&'a str>,
    pub(super) role: Role,
    /// The path of the page, which marks the current menu entry; empty for an error page.
    pub(super) path: &'a str,
    /// The message about the member's last action.
    pub(super) flash: Option<Markup>,
    /// The changes that the open page follows.
    pub(super) follows: Follows,
    /// The number of the last change that the page includes. Its script asks for the changes after
    /// this one.
    pub(super) after: i64,
    /// The date in the store's time zone when the page was rendered.
    pub(super) today: Date,
}

/// The changes that an open page follows. When one arrives, the page's script refreshes the page,
/// or offers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Nothing,
    Everything,
    /// Only changes of the animal with this id.
    Pet(i64),
}

/// Returns a response with a rendered HTML document.
pub(super) fn html_response(status: StatusCode, page: Bytes) -> Response {
    let mut response = response_of_type("text/html; charset=utf-8", page.into());
    *response.status_mut() = status;
    response
}

/// Returns the store's name, or a generic title if the store has none.
fn store_name(facts: &StoreFacts) -> &str {
    facts.name().value.unwrap_or(texts().site)
}

/// Returns a page without the member's frame and menu: for sign-in, links and errors.
pub(super) fn public_page(
    status: StatusCode,
    facts: &StoreFacts,
    title: &str,
    content: &Markup,
) -> Response {
    let body = html! {
        header { div.bar { span.brand { (brand(facts)) } } }
        main.narrow #main tabindex="-1" { h1 { (title) } (content) }
    };
    let page = document(title, store_name(facts), &body);
    html_response(status, page.into_string().into())
}

/// Renders a page for a signed-in member, in its frame.
pub(super) fn framed_page(frame: &Frame<'_>, title: &str, content: &Markup) -> Markup {
    let pet = match frame.follows {
        Follows::Pet(id) => Some(id),
        Follows::Nothing | Follows::Everything => None,
    };
    let follows = frame.follows != Follows::Nothing;
    let after = follows.then_some(frame.after);
    let day = follows.then_some(frame.today);
    let body = html! {
        header { (top_bar(frame)) }
        main #main tabindex="-1" data-pet=[pet] data-follow[follows] data-after=[after] data-day=[day] {
            p.print { (letterhead(frame.facts)) }
            @if follows { (news_notice()) }
            div.hidden #heard role="status" {}
            p.error #offline role="alert" hidden { (texts().offline) }
            // The message takes the focus, so that Tab reaches its link or its button next.
            @if let Some(message) = &frame.flash {
                div.flash #done role="status" tabindex="-1" autofocus { (message) }
            }
            (content)
        }
    };
    document(title, store_name(frame.facts), &body)
}

/// Renders the bar at the top of a page: the store's brand, the main menu and the member's menu.
fn top_bar(frame: &Frame<'_>) -> Markup {
    html! {
        div.bar {
            a.brand href="/" { (brand(frame.facts)) }
            nav aria-label=(texts().main_menu) {
                ul {
                    (menu_entries(frame))
                    @if let Some(url) = frame.window {
                        li { a href=(url) { (texts().website) } }
                    }
                }
            }
            (member_menu(frame))
        }
    }
}

/// Renders the member's menu: the account, the language and sign-out. A `details` element, so it
/// opens without a script.
fn member_menu(frame: &Frame<'_>) -> Markup {
    html! {
        details.who {
            summary { bdi { (frame.name) } }
            ul {
                li { a href="/account" { (texts().account) } }
                li { a href="/account#language-section" { (texts().language_label) } }
                li {
                    form method="post" action="/sign-out" {
                        button.quiet { (texts().sign_out) }
                    }
                }
            }
        }
    }
}

/// Renders the main menu entries that the member's role may open, and marks the current one.
fn menu_entries(frame: &Frame<'_>) -> Markup {
    let present_entry = menu_entry_path(frame.path);
    html! {
        @for entry in MENU {
            @if frame.role >= entry.role {
                @let current = (entry.path == present_entry).then_some("page");
                li {
                    a href=(entry.path) aria-current=[current] { ((entry.label)(texts())) }
                }
            }
        }
    }
}

/// Renders the hidden notice that the script reveals when the page is out of date. Its texts are in
/// data attributes, in the language of the request.
fn news_notice() -> Markup {
    html! {
        div.notice.no-print #news role="status" hidden data-changed=(texts().page_changed)
            data-lost=(texts().connection_lost) data-out=(texts().signed_out)
            data-one=(texts().show_change) data-many=(texts().show_changes) {
            span {} " " a href="" { (texts().reload) } button type="button" hidden {}
        }
    }
}

/// Renders the letterhead of a printed page: the store's logo, name, address and telephone number.
fn letterhead(facts: &StoreFacts) -> Markup {
    let profile = &facts.profile;
    let address = profile.address.as_ref().map(|address| {
        let lines: Vec<&str> = address.as_str().lines().collect();
        lines.join(", ")
    });
    let telephone = profile.telephone.as_ref().map(TelephoneNumber::as_str);
    html! {
        (logo(facts)) strong { (markup::text(store_name(facts), LONG_LENGTH)) }
        @if let Some(address) = address { " · " (markup::text(&address, LONG_LENGTH)) }
        @if let Some(telephone) = telephone { " · " (markup::text(telephone, LONG_LENGTH)) }
    }
}

/// Renders the store's logo, or the default icon, and the store's name.
fn brand(facts: &StoreFacts) -> Markup {
    html! {
        @if facts.profile.logo.is_some() {
            (logo(facts))
        } @else {
            img src=(ASSETS[2].path) alt="" width="28" height="28";
        }
        (markup::text(store_name(facts), LONG_LENGTH))
    }
}

/// Renders the store's logo at the height of the text line: 28 pixels high, and at most four times
/// as wide.
fn logo(facts: &StoreFacts) -> Markup {
    html! {
        @if let Some(logo) = facts.profile.logo {
            @let width = 28 * u32::from(logo.width) / u32::from(logo.height.max(1));
            img.logo src=(logo.path()) alt="" width=(width.clamp(1, 112)) height="28";
        }
    }
}

/// Renders the HTML document around a body, with its `head`.
fn document(title: &str, store_name: &str, body: &Markup) -> Markup {
    let [style, script, icon, favicon, touch_icon, ..] = &*ASSETS;
    let zone = zone::store_zone();
    let zone_name = zone.as_ref().map(StoreTimeZone::as_str);
    html! {
        (DOCTYPE)
        html lang=(texts().language) data-zone=[zone_name] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – " (markup::readable(store_name, LONG_LENGTH)) }
                // Browsers that support SVG icons prefer the second one.
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

/// Returns a 303 redirect, so the browser follows it with GET also after a POST. An invalid path
/// leads to `/`.
pub(super) fn redirect(path: &str) -> Response {
    let path = HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/"));
    response::redirect(StatusCode::SEE_OTHER, path)
}
