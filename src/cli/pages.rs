//! The pages of `petstore serve` for people: the console for the staff, and the window for the public.

use std::sync::Arc;

use clap::{Args, builder::NonEmptyStringValueParser};
use tokio::net::TcpListener;

use super::{console::ConsoleArgs, management::Bound, values, window::WindowArgs};
use crate::{
    app::App,
    console::{self, Console, ConsoleSettings},
    domain::{Deployment, store_area::Currency},
    edge::Edge,
    server::{self, Limits, Tls},
    window::{self, Style, Window, WindowSettings},
};

/// The options for pages.
#[derive(Debug, Args)]
pub(super) struct PagesArgs {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    console: ConsoleArgs,

    #[command(flatten)]
    window: WindowArgs,
}

/// The facts about the store on all pages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
struct StoreArgs {
    /// The name of the store, which the console, the window and printed orders show
    #[arg(long, value_name = "NAME", env = "PETSTORE_STORE_NAME", value_parser = NonEmptyStringValueParser::new())]
    store_name: Option<String>,

    /// The currency of all prices, such as EUR (ISO 4217), which the console and the window show
    /// with each
    #[arg(long, value_name = "CODE", env = "PETSTORE_CURRENCY", value_parser = values::currency)]
    currency: Option<Currency>,
}

/// Addresses that are reserved: those of the console and of the window.
pub(super) struct Reserved {
    console: Option<Bound>,
    window: Option<Bound>,
    style: Option<Style>,
}

/// The listeners of the console and of the window.
pub(super) struct Listeners {
    console: Option<TcpListener>,
    window: Option<TcpListener>,
    style: Option<Style>,
}

/// Where people reach the pages.
pub(super) struct Urls {
    pub(super) console: Option<String>,
    pub(super) window: Option<String>,
}

impl PagesArgs {
    /// Reserves the addresses, and reads what the pages need.
    pub(super) fn bind(&self) -> anyhow::Result<Reserved> {
        let style = self.window.style()?;
        let console = self.console.url.listening().bind()?;
        Ok(Reserved { console, window: self.window.listening().bind()?, style })
    }

    /// Accepts connections from now on.
    pub(super) fn listen(&self, reserved: Reserved) -> anyhow::Result<Listeners> {
        let Reserved { console, window, style } = reserved;
        let console = self.console.url.listening().listen(console)?;
        Ok(Listeners { console, window: self.window.listening().listen(window)?, style })
    }

    /// The addresses in a browser.
    pub(super) fn urls(&self, listeners: &Listeners, tls: bool) -> Urls {
        let address = |listener: &Option<TcpListener>| listener.as_ref()?.local_addr().ok();
        Urls {
            console: address(&listeners.console).map(|at| self.console.url.url_of(at, tls)),
            window: address(&listeners.window).map(|at| self.window.url_of(at, tls)),
        }
    }

    /// Serves the pages, within the limits of clients, until `stop` completes.
    pub(super) async fn run(
        self,
        listeners: Listeners,
        tls: Option<Arc<Tls>>,
        (app, edge): (Arc<App>, Arc<Edge>),
        deployment: Deployment,
        limits: &Limits,
        stop: impl Future<Output = ()> + Clone,
    ) {
        let url = self.urls(&listeners, tls.is_some()).window.unwrap_or_default();
        let Listeners { console, window, style } = listeners;
        let of_window = WindowSettings {
            url,
            store_name: self.store.store_name.clone(),
            contact: self.window.store_contact,
            currency: self.store.currency.clone(),
            style,
            embed: self.window.window_embed,
        };
        let of_console = ConsoleSettings {
            url: self.console.url.console_url,
            tls: tls.is_some(),
            trusted_proxies: limits.trusted_proxies.clone(),
            store_name: self.store.store_name,
            currency: self.store.currency,
            deployment,
            second_factor: self.console.require_second_factor,
        };
        let (for_console, random) =
            ((Arc::clone(&app), Arc::clone(&edge)), super::runtime::random());
        let (tls_of_console, stop_of_console) = (tls.clone(), stop.clone());
        let console = async {
            let Some(listener) = console else { return };
            let console = Console::new(for_console.0, for_console.1, of_console, random);
            server::serve(listener, tls_of_console, Arc::new(console), limits, stop_of_console)
                .await;
        };
        let window = async {
            let Some(listener) = window else { return };
            let window = Arc::new(Window::new(app, edge, of_window));
            server::serve(listener, tls, window, limits, stop).await;
        };
        tokio::join!(console, window);
    }
}

impl Listeners {
    /// Makes `edge` also count the requests for the pages.
    pub(super) fn counted(&self, mut edge: Edge) -> Edge {
        if self.console.is_some() {
            edge = console::counted(edge);
        }
        if self.window.is_some() {
            edge = window::counted(edge);
        }
        edge
    }
}
