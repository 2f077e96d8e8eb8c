//! The pages of `petstore serve` for people: the console for the staff, and the window for the public.

mod listener_settings;
mod options;

use std::{net::SocketAddr, sync::Arc};

use clap::Args;
use petstore_app::{App, StoreOptions};
use petstore_console::{self as console, Console, ConsoleSettings, openid::Provider};
use petstore_domain::{Deployment, staff::TokenDigest, store_area::Language};
use petstore_languages as languages;
use petstore_store::OpenMode;
use petstore_web::{
    edge::Edge,
    server::{self, Limits, Tls},
};
use petstore_window::{self as window, Style, Window, WindowSettings};
use tokio::net::TcpListener;

pub(super) use self::options::ConsoleUrlArgs;
use self::options::{ConsoleArgs, StoreArgs, WindowArgs};
use super::management::{Reserve, ReservedAddress};

/// The options for pages.
#[derive(Debug, Args)]
pub(super) struct PagesArgs {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    console: ConsoleArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// The link that signs in at once. Only `petstore demo` has one.
    #[arg(skip)]
    pub(super) demo_link: Option<TokenDigest>,
}

/// An address or a listener for the console and for the window, and the style sheet of the window. `A` is first a
/// reserved address, then a listener.
pub(super) struct Pages<A> {
    console: Option<A>,
    window: Option<A>,
    style: Option<Style>,
}

/// The listeners of the pages.
pub(super) type Listeners = Pages<TcpListener>;

/// The parts of the service that the pages use.
pub(super) struct PageParts {
    pub(super) app: Arc<App>,
    pub(super) edge: Arc<Edge>,
    pub(super) provider: Option<Provider>,
    pub(super) tls: Option<Arc<Tls>>,
    pub(super) deployment: Deployment,
}

/// The addresses of the pages in a browser.
pub(super) struct Urls {
    pub(super) console: Option<String>,
    pub(super) window: Option<String>,
}

impl PagesArgs {
    /// Returns how the database is opened. In a new database, the labels of the fields have the language of the option.
    pub(super) fn open_mode(&self) -> OpenMode {
        let language = self.store.language.unwrap_or(Language::English);
        OpenMode::CreateLabelled(languages::field_labels(language))
    }

    /// Returns the OpenID provider, if there is one.
    pub(super) fn provider(&self) -> anyhow::Result<Option<Provider>> {
        self.console.provider.provider()
    }

    /// Reads the style sheet.
    pub(super) fn style(&self) -> anyhow::Result<Option<Style>> {
        self.window.style()
    }

    /// Reserves the addresses with `reserve`.
    pub(super) fn reserve(
        &self,
        style: Option<Style>,
        reserve: Reserve,
    ) -> anyhow::Result<Pages<ReservedAddress>> {
        let console = self.console.url.listener_settings().reserve(reserve)?;
        Ok(Pages {
            console,
            window: self.window.listener_settings().reserve(reserve)?,
            style,
        })
    }

    /// Begins to accept connections at the reserved addresses.
    pub(super) fn listen(
        &self,
        reserved_pages: Pages<ReservedAddress>,
    ) -> anyhow::Result<Listeners> {
        let Pages {
            console,
            window,
            style,
        } = reserved_pages;
        self.window.warn_without_tls();
        let console = self.console.url.listener_settings().listen(console)?;
        Ok(Pages {
            console,
            window: self.window.listener_settings().listen(window)?,
            style,
        })
    }

    /// Returns the URLs at which browsers reach the listeners.
    pub(super) fn urls(&self, listeners: &Listeners, has_tls: bool) -> Urls {
        let console_settings = self.console.url.listener_settings();
        let window_settings = self.window.listener_settings();
        Urls {
            console: local_address(listeners.console.as_ref())
                .map(|address| console_settings.url_of(address, has_tls)),
            window: local_address(listeners.window.as_ref())
                .map(|address| window_settings.url_of(address, has_tls)),
        }
    }

    /// Serves the pages, within the limits of clients, until `stop` completes.
    pub(super) async fn run(
        &self,
        listeners: Listeners,
        mut parts: PageParts,
        limits: &Limits,
        stop: impl Future<Output = ()> + Clone + Send,
    ) {
        let window_url = self.urls(&listeners, parts.tls.is_some()).window;
        let console_settings = self.console_settings(&parts, limits, window_url.clone());
        let window_settings = WindowSettings {
            url: window_url.unwrap_or_default(),
            store: self.store_options(),
            style: listeners.style,
            embed: self.window.window_embed.clone(),
        };
        let provider = parts.provider.take();
        let console = serve_console(
            listeners.console,
            &parts,
            provider,
            console_settings,
            limits,
            stop.clone(),
        );
        let window = serve_window(listeners.window, &parts, window_settings, limits, stop);
        tokio::join!(console, window);
    }

    /// Returns the settings of the console. `window_url` is the URL of the window, if there is one.
    fn console_settings(
        &self,
        parts: &PageParts,
        limits: &Limits,
        window_url: Option<String>,
    ) -> ConsoleSettings {
        ConsoleSettings {
            url: self.console.url.console_url.clone(),
            tls: parts.tls.is_some(),
            trusted_proxies: limits.trusted_proxies.clone(),
            store: self.store_options(),
            window: window_url,
            deployment: parts.deployment,
            second_factor: self.console.require_second_factor,
            demo_link: self.demo_link,
        }
    }

    /// Returns the values that the store has where its profile has none.
    pub(super) fn store_options(&self) -> StoreOptions {
        StoreOptions {
            name: self.store.store_name.clone(),
            language: self.store.language,
            currency: self.store.currency.clone(),
            contact: self.window.store_contact.clone(),
            time_zone: self.store.time_zone.clone(),
        }
    }
}

impl Listeners {
    /// Makes `edge` also count the requests for the pages.
    pub(super) fn with_routes(&self, mut edge: Edge) -> Edge {
        if self.console.is_some() {
            edge = console::with_routes(edge);
        }
        if self.window.is_some() {
            edge = window::with_routes(edge);
        }
        edge
    }
}

/// Returns the address of a listener, if there is one.
fn local_address(listener: Option<&TcpListener>) -> Option<SocketAddr> {
    listener?.local_addr().ok()
}

/// Serves the console at its listener, if it has one, until `stop` completes.
async fn serve_console(
    listener: Option<TcpListener>,
    parts: &PageParts,
    provider: Option<Provider>,
    settings: ConsoleSettings,
    limits: &Limits,
    stop: impl Future<Output = ()> + Send,
) {
    let Some(listener) = listener else {
        return;
    };
    let console = Console::new(
        Arc::clone(&parts.app),
        Arc::clone(&parts.edge),
        settings,
        super::runtime::random(),
    );
    let handler = console.with_provider(provider).into_handler();
    server::serve(listener, parts.tls.clone(), handler, limits, Box::pin(stop)).await;
}

/// Serves the window at its listener, if it has one, until `stop` completes.
async fn serve_window(
    listener: Option<TcpListener>,
    parts: &PageParts,
    settings: WindowSettings,
    limits: &Limits,
    stop: impl Future<Output = ()> + Send,
) {
    let Some(listener) = listener else {
        return;
    };
    let reading = parts.app.reading.clone();
    let handler = Window::new(reading, Arc::clone(&parts.edge), settings).into_handler();
    server::serve(listener, parts.tls.clone(), handler, limits, Box::pin(stop)).await;
}
