//! The frame of every page.

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};
use maud::{DOCTYPE, Markup, html};
use petstore_app::StoreFacts;
use petstore_domain::store_area::Language;
use petstore_languages::{
    self as languages,
    look::{self, text},
    window_texts as texts,
};
use petstore_store::Cause;
use petstore_web::edge::{
    ApiError, Body, Response,
    assets::{self, Asset},
};

use super::{accent, contact, rendered::Made, settings::WindowSettings, store};

pub(super) const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The parts of a page that are the same on every page.
pub(super) struct Layout {
    /// The icon, the style sheet, and the icons of browsers.
    assets: [Asset; 4],
    /// The style sheet of the operator, which comes last.
    style: Option<Asset>,
    url: String,
}

/// The parts of a page that differ from page to page.
#[derive(Default)]
pub(super) struct Head<'a> {
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    /// The path by which search engines know it. They do not show a page without one.
    pub(super) canonical: Option<&'a str>,
    /// Whether they may show it in results, and not only follow its links.
    pub(super) is_indexed: bool,
    /// The query of the feed to which it leads.
    pub(super) feed: &'a str,
    /// The path of the next page.
    pub(super) next: Option<&'a str>,
    /// The address of a picture, its width and height, and its text.
    pub(super) picture: Option<(String, (u32, u32), String)>,
    /// Its content, as schema.org describes it, as JSON.
    pub(super) schema: Option<Markup>,
    /// The drawings that it uses.
    pub(super) drawings: Markup,
}

impl Layout {
    pub(super) fn new(settings: &WindowSettings) -> Self {
        let own = look::style() + include_str!("style.css");
        let [icon, favicon, touch_icon] =
            [look::ICON.as_bytes(), look::FAVICON, look::TOUCH_ICON].map(Bytes::from_static);
        let assets = [
            Asset::new("/assets/icon-%.svg", "image/svg+xml", icon),
            Asset::new("/assets/window-%.css", CSS, own),
            // Browsers and phones ask for these paths, also without a link.
            Asset::new("/favicon.ico", "image/x-icon", favicon),
            Asset::new("/apple-touch-icon.png", "image/png", touch_icon),
        ];
        let style = settings.style.as_ref();
        let style =
            style.map(|style| Asset::new("/assets/store-%.css", CSS, style.sheet().clone()));
        Self {
            assets,
            style,
            url: settings.url.clone(),
        }
    }

    /// The style or picture at this path. Fails with 404 for another path.
    pub(super) fn asset(&self, path: &str) -> Result<Response, ApiError> {
        let asset = self
            .assets
            .iter()
            .chain(&self.style)
            .find(|asset| asset.path == path);
        let colour = || Some(assets::respond(path, CSS, accent::sheet_at(path)?.into()));
        asset
            .map(Asset::respond)
            .or_else(colour)
            .ok_or_else(ApiError::no_such_path)
    }

    /// The page about an error that a visitor sees; for programs, the same error as of the interface. No cache
    /// keeps it.
    pub(super) fn problem(
        &self,
        facts: &StoreFacts,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        let (title, next) = texts().problem(error.problem());
        // The rules say what is wrong in English.
        let is_english = languages::language() == Language::English;
        let message = is_english.then(|| error.message().to_owned());
        let (mut response, cause) = error.into_response();
        let no_store = HeaderValue::from_static("no-store");
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, no_store);
        if request.uri.path() == "/animals.json" {
            return (response, cause);
        }
        let content = html! {
            @if let Some(message) = message { p { (message) } }
            p { (next) }
            p.small { (texts().request) code { (request_id.to_str().unwrap_or_default()) } }
        };
        let page = self.message(facts, (response.status(), title), &content, &html! {});
        *response.body_mut() = Body::Whole(page.body.into());
        let media_type = HeaderValue::from_static(page.media_type);
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, media_type);
        (response, cause)
    }

    /// A page with its frame.
    pub(super) fn page(&self, facts: &StoreFacts, head: &Head<'_>, content: &Markup) -> Made {
        let top = html! {
            a.skip href="#main" { (texts().skip) }
            header.top {
                a.brand href="/" { (self.icon(facts)) span { bdi { (store::name(facts)) } } }
                @if let Some(contact) = contact::in_general(facts) {
                    a.contact href=(contact) { (texts().contact) }
                }
            }
        };
        let bottom = store::footer(facts, head.feed);
        self.document(facts, head, "page", &top, content, &bottom)
    }

    /// A page for a frame of another site.
    pub(super) fn embedded(&self, facts: &StoreFacts, head: &Head<'_>, content: &Markup) -> Made {
        let none = html! {};
        self.document(facts, head, "embedded", &none, content, &none)
    }

    /// The logo of the store, or the icon.
    fn icon(&self, facts: &StoreFacts) -> Markup {
        html! {
            @if let Some(logo) = facts.profile.logo {
                img.logo src=(logo.path()) alt="" width=(logo.width) height=(logo.height);
            } @else {
                img src=(self.assets[0].path) alt="" width="28" height="28";
            }
        }
    }

    /// The picture of a link to a page that has no other one.
    fn logo(&self, facts: &StoreFacts) -> Option<(String, (u32, u32), String)> {
        let logo = facts.profile.logo?;
        let sides = (logo.width.into(), logo.height.into());
        Some((
            [&self.url, &*logo.path()].concat(),
            sides,
            store::name(facts),
        ))
    }

    fn document(
        &self,
        facts: &StoreFacts,
        head: &Head<'_>,
        class: &str,
        top: &Markup,
        content: &Markup,
        bottom: &Markup,
    ) -> Made {
        let name = store::name(facts);
        let title = if head.title == name {
            name.clone()
        } else {
            format!("{} – {name}", head.title)
        };
        let (is_large, picture) = (
            head.picture.is_some(),
            head.picture.clone().or_else(|| self.logo(facts)),
        );
        let canonical = head.canonical.map(|path| [&self.url, path].concat());
        let document = html! {
            (DOCTYPE)
            html lang=(texts().language) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (text(&title)) }
                    meta name="description" content=(text(head.description));
                    @if let Some(canonical) = &canonical {
                        link rel="canonical" href=(text(canonical));
                        meta property="og:url" content=(text(canonical));
                    }
                    @if !head.is_indexed { meta name="robots" content="noindex, follow"; }
                    @if let Some(path) = head.next { link rel="next" href=(path); }
                    meta property="og:locale" content=(texts().locale);
                    meta property="og:type" content="website";
                    meta property="og:site_name" content=(name);
                    meta property="og:title" content=(text(head.title));
                    meta property="og:description" content=(text(head.description));
                    @if let Some((picture, (width, height), alt)) = &picture {
                        meta property="og:image" content=(text(picture));
                        meta property="og:image:width" content=(width);
                        meta property="og:image:height" content=(height);
                        meta property="og:image:alt" content=(text(alt));
                    }
                    @let card = if is_large { "summary_large_image" } else { "summary" };
                    meta name="twitter:card" content=(card);
                    @for asset in &self.assets {
                        @match asset.media_type {
                            // Every browser that shows a drawing prefers it.
                            "image/x-icon" => { link rel="icon" sizes="32x32" href=(text(&asset.path)); }
                            "image/svg+xml" => {
                                link rel="icon" type="image/svg+xml" href=(text(&asset.path));
                            }
                            "image/png" => { link rel="apple-touch-icon" href=(text(&asset.path)); }
                            _ => { link rel="stylesheet" href=(text(&asset.path)); }
                        }
                    }
                    @if let Some(colour) = &facts.profile.colour {
                        link rel="stylesheet" href=(accent::path(colour));
                    }
                    @if let Some(style) = &self.style { link rel="stylesheet" href=(style.path); }
                    link rel="alternate" type="application/atom+xml" title=(texts().feed)
                        href={ "/animals.atom" (head.feed) };
                    @if let Some(schema) = &head.schema {
                        script type="application/ld+json" { (schema) }
                    }
                }
                body.(class) {
                    (head.drawings)
                    (top)
                    main #main tabindex="-1" { (content) }
                    (bottom)
                }
            }
        };
        Made::new(HTML, document.into_string().into_bytes())
    }

    /// A page that tells that something is not there, or not possible.
    /// `below` is behind the way back.
    pub(super) fn message(
        &self,
        facts: &StoreFacts,
        (status, title): (StatusCode, &str),
        content: &Markup,
        below: &Markup,
    ) -> Made {
        let head = Head {
            title,
            description: title,
            ..Head::default()
        };
        let content = html! {
            div.message {
                h1 { (title) }
                (content)
                p { a.button href="/" { (texts().back) } }
            }
            (below)
        };
        Made {
            status,
            ..self.page(facts, &head, &content)
        }
    }
}
