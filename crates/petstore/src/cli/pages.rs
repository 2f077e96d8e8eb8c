//! The pages of `petstore serve` for people: the console for the staff, and the window for the
//! public.

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

use self::options::{ConsoleArgs, StoreArgs, WindowArgs};
use super::reserved_address::{Reserve, ReservedAddress};

pub(super) use self::options::ConsoleUrlArgs;

/// The options for the pages.
#[derive(Debug, Args)]
pub(super) struct PagesArgs {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    console: ConsoleArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// The digest of the link that signs in at once. Only `petstore demo` sets it.
    #[arg(skip)]
    pub(super) demo_link: Option<TokenDigest>,
}

/// The addresses of the console and of the window, and the style sheet of the window. `A` is a
/// reserved address before the service listens, and a listener afterwards.
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

/// The URLs at which browsers reach the pages.
pub(super) struct Urls {
    pub(super) console: Option<String>,
    pub(super) window: Option<String>,
}

impl PagesArgs {
    /// Returns the mode in which the service opens the database. In a new database, the fields get
    /// labels in the language of the option.
    pub(super) fn open_mode(&self) -> OpenMode {
        let language = self.store.language.unwrap_or(Language::English);
        OpenMode::CreateLabelled(languages::field_labels(language))
    }

    /// Returns the OpenID provider, if one is configured.
    pub(super) fn build_provider(&self) -> anyhow::Result<Option<Provider>> {
        self.console.provider.build()
    }

    /// Reads the style sheet of the window, if there is one.
    pub(super) fn read_style(&self) -> anyhow::Result<Option<Style>> {
        self.window.read_style()
    }

    /// Reserves the addresses of the pages with `reserve`.
    pub(super) fn reserve(
        &self,
        style: Option<Style>,
        reserve: Reserve,
    ) -> anyhow::Result<Pages<ReservedAddress>> {
        let console = self.console.url.listener_settings().reserve(reserve)?;
        let window = self.window.listener_settings().reserve(reserve)?;
        Ok(Pages {
            console,
            window,
            style,
        })
    }

    /// Begins to accept connections at the reserved addresses.
    pub(super) fn listen(
        &self,
        reserved_pages: Pages<ReservedAddress>,
    ) -> anyhow::Result<Listeners> {
        self.window.warn_without_tls();
        let console_settings = self.console.url.listener_settings();
        let window_settings = self.window.listener_settings();
        Ok(Pages {
            console: console_settings.listen(reserved_pages.console)?,
            window: window_settings.listen(reserved_pages.window)?,
            style: reserved_pages.style,
        })
    }

    /// Returns the URLs at which browsers reach these listeners.
    pub(super) fn urls_for(&self, listeners: &Listeners, has_tls: bool) -> Urls {
        let console_settings = self.console.url.listener_settings();
        let window_settings = self.window.listener_settings();
        let console_address = local_address(listeners.console.as_ref());
        let window_address = local_address(listeners.window.as_ref());
        Urls {
            console: console_address.map(|address| console_settings.url_for(address, has_tls)),
            window: window_address.map(|address| window_settings.url_for(address, has_tls)),
        }
    }

    /// Serves the console and the window, with the limits for clients, until `stop` completes.
    pub(super) async fn serve(
        &self,
        listeners: Listeners,
        mut parts: PageParts,
        limits: &Limits,
        stop: impl Future<Output = ()> + Clone + Send,
    ) {
        let window_url = self.urls_for(&listeners, parts.tls.is_some()).window;
        let console_settings = self.settings_for_console(&parts, limits, window_url.clone());
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
    fn settings_for_console(
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

    /// Returns the facts about the store from the options. A fact in the profile of the store
    /// replaces the one from the options.
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
    /// Adds the routes of the pages to `edge`, so that it counts their requests by route.
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

/// Returns the address on which a listener listens, if there is a listener.
fn local_address(listener: Option<&TcpListener>) -> Option<SocketAddr> {
    listener?.local_addr().ok()
}

/// Serves the console until `stop` completes. Returns at once without a listener.
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

/// Serves the window until `stop` completes. Returns at once without a listener.
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
