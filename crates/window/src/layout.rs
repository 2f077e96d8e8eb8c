//! The HTML document around the content of every page: its `head`, header and footer. The layout also
//! serves the static assets, and renders the error pages.

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

use super::{
    accent, contact, rendered::RenderedPage, settings::WindowSettings, shop::Preview, store,
};

/// The media type of HTML pages.
pub(super) const HTML: &str = "text/html; charset=utf-8";

/// The media type of style sheets.
const CSS: &str = "text/css; charset=utf-8";

/// Renders pages around their content, and serves the static assets that all pages share.
pub(super) struct Layout {
    /// The icon as SVG.
    icon: Asset,
    style_sheet: Asset,
    /// The icon for browsers without SVG icons. Browsers request its fixed path even if no page
    /// links to it.
    favicon: Asset,
    /// The icon on the home screens of phones. Phones request its fixed path even if no page links
    /// to it.
    touch_icon: Asset,
    /// The operator's own style sheet. Pages link to it last, so its rules override the others.
    operator_style: Option<Asset>,
    /// The public base URL of the window, without a trailing slash.
    url: String,
}

/// The metadata of a page, for the `head` element of its document.
#[derive(Default)]
pub(super) struct Head<'a> {
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    /// The path of the canonical URL. It is `None` for pages that search engines should not index.
    pub(super) canonical_path: Option<&'a str>,
    /// Whether search engines may index the page. If not, they may still follow its links
    /// (`noindex, follow`).
    pub(super) is_indexed: bool,
    /// The query string of the Atom feed that the page links to. Empty for the feed of all animals.
    pub(super) feed_query: &'a str,
    /// The path of the next page of the list, for `rel="next"`.
    pub(super) next_page_path: Option<&'a str>,
    /// The picture for link previews on other sites. If it is `None`, they show the logo of the
    /// store.
    pub(super) picture: Option<Preview>,
    /// The structured data of the page for search engines: JSON-LD with the vocabulary of
    /// schema.org.
    pub(super) schema: Option<Markup>,
    /// The SVG symbols of the drawings that the page refers to.
    pub(super) drawings: Markup,
}

/// A page with a message instead of content, for example about an error, or about an animal that
/// has been sold.
pub(super) struct Message<'a> {
    pub(super) status: StatusCode,
    pub(super) title: &'a str,
    pub(super) content: &'a Markup,
    /// The content below the message and its link to the list.
    pub(super) below: &'a Markup,
}

impl Layout {
    /// Creates the layout of a window with these settings.
    pub(super) fn new(settings: &WindowSettings) -> Self {
        let style_sheet = look::style() + include_str!("style.css");
        let icon = Bytes::from_static(look::ICON.as_bytes());
        let favicon = Bytes::from_static(look::FAVICON);
        let touch_icon = Bytes::from_static(look::TOUCH_ICON);
        let operator_style = settings
            .style
            .as_ref()
            .map(|style| Asset::new("/assets/store-%.css", CSS, style.sheet().clone()));
        // An asset replaces the `%` in its path by a digest of its content. The favicon and the
        // touch icon have fixed paths, at which browsers request them even without a link.
        Self {
            icon: Asset::new("/assets/icon-%.svg", "image/svg+xml", icon),
            style_sheet: Asset::new("/assets/window-%.css", CSS, style_sheet),
            favicon: Asset::new("/favicon.ico", "image/x-icon", favicon),
            touch_icon: Asset::new("/apple-touch-icon.png", "image/png", touch_icon),
            operator_style,
            url: settings.url.clone(),
        }
    }

    /// Responds with the style sheet or icon at this path. Fails with 404 for an unknown path.
    ///
    /// A cached page can link to an asset of an earlier release, for which the response is the current
    /// asset, or to the style sheet of an earlier accent colour, which is generated from its path.
    pub(super) fn respond_with_asset(&self, path: &str) -> Result<Response, ApiError> {
        let own_assets = [
            &self.icon,
            &self.style_sheet,
            &self.favicon,
            &self.touch_icon,
        ];
        let assets = own_assets.into_iter().chain(&self.operator_style);
        if let Some(response) = assets::respond_at(assets, path) {
            return Ok(response);
        }
        match accent::style_sheet_at(path) {
            Some(sheet) => Ok(assets::respond(path, CSS, sheet.into())),
            None => Err(ApiError::no_such_path()),
        }
    }

    /// Responds with an error page or, for `/animals.json`, with a JSON error. Caches must not store
    /// either of them, because the error may soon be over. The second result is the cause of the error
    /// for the log.
    pub(super) fn respond_with_problem(
        &self,
        facts: &StoreFacts,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        let problem = error.problem();
        let content = problem_content(&error, request_id);
        let (mut response, cause) = error.into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-store, no-transform"),
        );
        if request.uri.path() == "/animals.json" {
            return (response, cause);
        }

        let (title, _) = texts().problem(problem);
        let message = Message {
            status: response.status(),
            title,
            content: &content,
            below: &html! {},
        };
        let page = self.render_message_page(facts, &message);
        *response.body_mut() = Body::Whole(page.body.into());
        let media_type = HeaderValue::from_static(page.media_type);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, media_type);
        (response, cause)
    }

    /// Renders a complete page: the content between the header and footer of the store.
    pub(super) fn render_page(
        &self,
        facts: &StoreFacts,
        head: &Head<'_>,
        content: &Markup,
    ) -> RenderedPage {
        let body = html! {
            body.page {
                (head.drawings)
                a.skip href="#main" { (texts().skip) }
                header.top {
                    a.brand href="/" {
                        (self.logo_or_icon(facts))
                        span { bdi { (store::display_name(facts)) } }
                    }
                    @if let Some(contact) = contact::general_link(facts) {
                        a.contact href=(contact) { (texts().contact) }
                    }
                }
                main #main tabindex="-1" { (content) }
                (store::footer(facts, head.feed_query))
            }
        };
        self.render_document(facts, head, &body)
    }

    /// Renders a page for a frame on another site, without header and footer.
    pub(super) fn render_embedded_page(
        &self,
        facts: &StoreFacts,
        head: &Head<'_>,
        content: &Markup,
    ) -> RenderedPage {
        let body = html! {
            body.embedded {
                (head.drawings)
                main #main tabindex="-1" { (content) }
            }
        };
        self.render_document(facts, head, &body)
    }

    /// Renders a page with a message and a link to the list. Search engines do not index it.
    pub(super) fn render_message_page(
        &self,
        facts: &StoreFacts,
        message: &Message<'_>,
    ) -> RenderedPage {
        let head = Head {
            title: message.title,
            description: message.title,
            ..Head::default()
        };
        let content = html! {
            div.message {
                h1 { (message.title) }
                (message.content)
                p { a.button href="/" { (texts().back) } }
            }
            (message.below)
        };
        let mut page = self.render_page(facts, &head, &content);
        page.status = message.status;
        page
    }

    /// Renders the logo of the store, or the default icon if it has none.
    fn logo_or_icon(&self, facts: &StoreFacts) -> Markup {
        html! {
            @if let Some(logo) = facts.profile.logo {
                img.logo src=(logo.path()) alt="" width=(logo.width) height=(logo.height);
            } @else {
                img src=(self.icon.path) alt="" width="28" height="28";
            }
        }
    }

    /// Returns the logo of the store as the picture for link previews, for pages without a picture of
    /// their own.
    fn logo_preview(&self, facts: &StoreFacts) -> Option<Preview> {
        let logo = facts.profile.logo?;
        Some(Preview {
            url: [&self.url, &*logo.path()].concat(),
            width: logo.width.into(),
            height: logo.height.into(),
            alt: store::display_name(facts),
        })
    }

    /// Renders an HTML document with this body.
    fn render_document(&self, facts: &StoreFacts, head: &Head<'_>, body: &Markup) -> RenderedPage {
        let document = html! {
            (DOCTYPE)
            html lang=(texts().language) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    (self.search_metadata(facts, head))
                    (self.preview_metadata(facts, head))
                    (self.asset_links(facts))
                    link rel="alternate" type="application/atom+xml" title=(texts().feed)
                        href={ "/animals.atom" (head.feed_query) };
                    @if let Some(schema) = &head.schema {
                        script type="application/ld+json" { (schema) }
                    }
                }
                (body)
            }
        };
        RenderedPage::new(HTML, document.into_string().into_bytes())
    }

    /// Renders the title of the document, followed by the name of the store, and the metadata for
    /// search engines.
    fn search_metadata(&self, facts: &StoreFacts, head: &Head<'_>) -> Markup {
        let store_name = store::display_name(facts);
        let title = if head.title == store_name {
            store_name
        } else {
            format!("{} – {store_name}", head.title)
        };

        html! {
            title { (text(&title)) }
            meta name="description" content=(text(head.description));
            @if let Some(url) = self.canonical_url(head) {
                link rel="canonical" href=(text(&url));
                meta property="og:url" content=(text(&url));
            }
            @if !head.is_indexed { meta name="robots" content="noindex, follow"; }
            @if let Some(path) = head.next_page_path { link rel="next" href=(path); }
        }
    }

    /// Returns the canonical URL of a page, if it has one.
    fn canonical_url(&self, head: &Head<'_>) -> Option<String> {
        head.canonical_path.map(|path| [&self.url, path].concat())
    }

    /// Renders the metadata for link previews on other sites (Open Graph and Twitter cards).
    fn preview_metadata(&self, facts: &StoreFacts, head: &Head<'_>) -> Markup {
        let picture = head.picture.clone().or_else(|| self.logo_preview(facts));
        // The large card crops its picture, which would spoil a logo.
        let card = if head.picture.is_some() {
            "summary_large_image"
        } else {
            "summary"
        };

        html! {
            meta property="og:locale" content=(texts().locale);
            meta property="og:type" content="website";
            meta property="og:site_name" content=(store::display_name(facts));
            meta property="og:title" content=(text(head.title));
            meta property="og:description" content=(text(head.description));
            @if let Some(picture) = &picture {
                meta property="og:image" content=(text(&picture.url));
                meta property="og:image:width" content=(picture.width);
                meta property="og:image:height" content=(picture.height);
                meta property="og:image:alt" content=(text(&picture.alt));
            }
            meta name="twitter:card" content=(card);
        }
    }

    /// Renders the links to the icons and style sheets. The order of the style sheets matters: the
    /// accent colour overrides the shared one, and the operator's style sheet overrides both.
    fn asset_links(&self, facts: &StoreFacts) -> Markup {
        html! {
            link rel="icon" type="image/svg+xml" href=(self.icon.path);
            link rel="stylesheet" href=(self.style_sheet.path);
            // The fallback for browsers without SVG icons; all others prefer the SVG.
            link rel="icon" sizes="32x32" href=(self.favicon.path);
            link rel="apple-touch-icon" href=(self.touch_icon.path);
            @if let Some(colour) = &facts.profile.colour {
                link rel="stylesheet" href=(accent::style_sheet_path(colour));
            }
            @if let Some(style) = &self.operator_style { link rel="stylesheet" href=(style.path); }
        }
    }
}

/// Renders the content of an error page: what happened, what the visitor can do next, and the id of
/// the request.
fn problem_content(error: &ApiError, request_id: &HeaderValue) -> Markup {
    let (_, next_step) = texts().problem(error.problem());
    // The detailed message exists only in English, so pages in other languages leave it out.
    let is_english = languages::language() == Language::English;
    // A request id is ASCII, so it is always a text.
    let request_id = request_id.to_str().unwrap_or_default();
    html! {
        @if is_english { p { (error.message()) } }
        p { (next_step) }
        p.small { (texts().request) code { (request_id) } }
    }
}
