//! The layout of every page: the document, and the bar with the main menu. The responses with a
//! page, and redirects to a page, are made here, too.

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
use petstore_languages::{console::Label, console_texts as texts};
use petstore_web::edge::{Body, Response, response};

use super::{
    markup::{self, LONG_LENGTH},
    static_assets::ASSETS,
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

/// The height of the logo and of the default icon in the bar, in pixels.
const LOGO_HEIGHT: u32 = 28;

/// The maximum width of the logo, in pixels. A wider logo would push the main menu out of the bar.
const MAX_LOGO_WIDTH: u32 = 4 * LOGO_HEIGHT;

/// What a page shows around its content: the store's brand, the menus and the flash message.
pub(super) struct Frame<'a> {
    pub(super) member_name: &'a str,
    pub(super) facts: &'a StoreFacts,
    /// The public URL of the window, the store's website, if there is one.
    pub(super) window_url: Option<&'a str>,
    pub(super) role: Role,
    /// The path of the page, by which the menu marks its current entry; empty for an error page.
    pub(super) path: &'a str,
    /// The message about the member's last action.
    pub(super) flash: Option<Markup>,
    pub(super) follows: Follows,
    /// The number of the last change that the page includes. The page's script asks for the changes
    /// after it.
    pub(super) last_change: i64,
    /// The date in the store's time zone. The script reports it when it follows the changes, and
    /// the page is refreshed once a new day has begun.
    pub(super) today: Date,
}

/// The changes that a page follows while it is open. When one arrives, the page's script reloads
/// the page, or offers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Nothing,
    Everything,
    /// Only changes of the animal with this id.
    Pet(i64),
}

/// Returns a 200 response with this `Content-Type` and body.
pub(super) fn response_of_type(media_type: &'static str, content: Body) -> Response {
    let mut response = Response::new(content);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Returns a response with a rendered HTML document.
pub(super) fn html_response(status: StatusCode, html: Bytes) -> Response {
    let mut response = response_of_type("text/html; charset=utf-8", html.into());
    *response.status_mut() = status;
    response
}

/// Returns a 303 redirect, which browsers follow with GET even after a POST. A path that is not a
/// valid header value is replaced by `/`.
pub(super) fn redirect(path: &str) -> Response {
    let location = HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/"));
    response::redirect(StatusCode::SEE_OTHER, location)
}

/// Returns the store's name, or a generic title if the store has none.
fn store_name(facts: &StoreFacts) -> &str {
    facts.name().value.unwrap_or(texts().site)
}

/// Returns a page without menus, for people who are not signed in, such as the sign-in page.
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
    let html = document(title, store_name(facts), &body).into_string();
    html_response(status, Bytes::from(html))
}

/// Renders a page for a signed-in member, with its content in the frame. The data attributes of
/// `main` tell the page's script which changes the page follows.
pub(super) fn framed_page(frame: &Frame<'_>, title: &str, content: &Markup) -> Markup {
    let followed_pet = match frame.follows {
        Follows::Pet(id) => Some(id),
        Follows::Nothing | Follows::Everything => None,
    };
    let is_live = frame.follows != Follows::Nothing;
    let last_change = is_live.then_some(frame.last_change);
    let day = is_live.then_some(frame.today);
    let body = html! {
        header { (top_bar(frame)) }
        main #main tabindex="-1" data-pet=[followed_pet] data-follow[is_live] data-after=[last_change] data-day=[day] {
            p.print { (letterhead(frame.facts)) }
            @if is_live { (news_notice()) }
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
                    @if let Some(url) = frame.window_url {
                        li { a href=(url) { (texts().website) } }
                    }
                }
            }
            (member_menu(frame))
        }
    }
}

/// Renders the member's menu: the account, the language and sign-out. It is a `details` element,
/// which opens without a script.
fn member_menu(frame: &Frame<'_>) -> Markup {
    html! {
        details.who {
            summary { bdi { (frame.member_name) } }
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

/// Renders the entries of the main menu that the member's role may open, and marks the current one.
fn menu_entries(frame: &Frame<'_>) -> Markup {
    let current_path = menu_entry_path(frame.path);
    html! {
        @for entry in MENU {
            @if frame.role >= entry.role {
                @let current = (entry.path == current_path).then_some("page");
                li {
                    a href=(entry.path) aria-current=[current] { ((entry.label)(texts())) }
                }
            }
        }
    }
}

/// Returns the path of the menu entry to which a page belongs: `/orders` for `/orders/7`.
fn menu_entry_path(path: &str) -> &str {
    let second_slash = path.match_indices('/').nth(1);
    let first_segment = match second_slash {
        Some((position, _)) => &path[..position],
        None => path,
    };
    match first_segment {
        // Categories have no entry of their own: the list of animals links to them.
        "/categories" => "/animals",
        segment => segment,
    }
}

/// Renders the hidden notice that the page's script reveals when the page is out of date or the
/// connection is lost. The script finds the texts, in the language of the request, in the data
/// attributes.
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
    let name = store_name(facts);
    let mut address_lines: Vec<&str> = match &profile.address {
        Some(address) => address.as_str().lines().collect(),
        None => Vec::new(),
    };
    // An address as on an envelope begins with the name, which the letterhead already shows.
    if address_lines.first() == Some(&name) {
        address_lines.remove(0);
    }
    let address = address_lines.join(", ");
    let telephone = profile.telephone.as_ref().map(TelephoneNumber::as_str);
    html! {
        (logo(facts)) strong { (markup::text(name, LONG_LENGTH)) }
        @if !address.is_empty() { " · " (markup::text(&address, LONG_LENGTH)) }
        @if let Some(telephone) = telephone { " · " (markup::text(telephone, LONG_LENGTH)) }
    }
}

/// Renders the store's logo, or the default icon, and the store's name.
fn brand(facts: &StoreFacts) -> Markup {
    html! {
        @if facts.profile.logo.is_some() {
            (logo(facts))
        } @else {
            img src=(ASSETS.icon.path) alt="" width=(LOGO_HEIGHT) height=(LOGO_HEIGHT);
        }
        (markup::text(store_name(facts), LONG_LENGTH))
    }
}

/// Renders the store's logo, [`LOGO_HEIGHT`] high and at most [`MAX_LOGO_WIDTH`] wide. Renders
/// nothing if the store has no logo.
fn logo(facts: &StoreFacts) -> Markup {
    html! {
        @if let Some(logo) = facts.profile.logo {
            @let width = LOGO_HEIGHT * u32::from(logo.width) / u32::from(logo.height.max(1));
            img.logo src=(logo.path()) alt="" width=(width.clamp(1, MAX_LOGO_WIDTH))
                height=(LOGO_HEIGHT);
        }
    }
}

/// Renders the HTML document: the `head` with this title, and the body.
fn document(title: &str, store_name: &str, body: &Markup) -> Markup {
    let assets = &*ASSETS;
    let zone = zone::store_zone();
    let zone_name = zone.as_ref().map(StoreTimeZone::as_str);
    html! {
        (DOCTYPE)
        html lang=(texts().language) data-zone=[zone_name] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – " (markup::readable(store_name, LONG_LENGTH)) }
                // Browsers that support SVG icons prefer the second link.
                link rel="icon" sizes="32x32" href=(assets.favicon.path);
                link rel="icon" type=(assets.icon.media_type) href=(assets.icon.path);
                link rel="apple-touch-icon" href=(assets.touch_icon.path);
                link rel="stylesheet" href=(assets.style.path);
                script defer src=(assets.live_script.path) {}
            }
            body {
                a.skip href="#main" { (texts().skip) }
                (body)
            }
        }
    }
}
