//! The pages of `petstore serve` for people: the console for the staff, and the window for the public.

use std::{
    env, fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

use anyhow::Context;
use clap::{Args, builder::NonEmptyStringValueParser};
use petstore_app::{App, StoreOptions};
use petstore_console::{
    self as console, Console, ConsoleSettings, RequireSecondFactor, openid::Provider,
};
use petstore_domain::{
    Deployment,
    staff::TokenDigest,
    store_area::{ContactUrl, Currency, Language, StoreTimeZone},
};
use petstore_languages as languages;
use petstore_store::OpenMode;
use petstore_web::{
    edge::{Edge, Origin},
    server::{self, Limits, Tls},
};
use petstore_window::{self as window, Style, Window, WindowSettings};
use tokio::net::TcpListener;
use tracing::warn;

use super::{
    args::BadSetting,
    management::{Reserve, ReservedAddress},
    provider::ProviderArgs,
    values::{self, ListenOrOff},
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

    /// The link that signs in at once. Only `petstore demo` has one.
    #[arg(skip)]
    pub(super) demo_link: Option<TokenDigest>,
}

/// The facts about the store on all pages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
struct StoreArgs {
    /// The name of the store, which the console, the window and printed orders show
    #[arg(long, value_name = "NAME", env = "PETSTORE_STORE_NAME", value_parser = NonEmptyStringValueParser::new())]
    store_name: Option<String>,

    /// The language of the window, and of the console for members who have not chosen one
    #[arg(long, value_parser = values::word(&Language::ALL), env = "PETSTORE_LANGUAGE")]
    language: Option<Language>,

    /// The currency of all prices, such as EUR (ISO 4217), which the console and the window show
    /// with each
    #[arg(long, value_name = "CODE", env = "PETSTORE_CURRENCY", value_parser = values::currency)]
    currency: Option<Currency>,

    /// The time zone of the store, such as Europe/Berlin (IANA), whose days the console and the window
    /// have; without one, UTC
    #[arg(long, value_name = "ZONE", env = "PETSTORE_TIME_ZONE", value_parser = values::time_zone)]
    time_zone: Option<StoreTimeZone>,
}

/// The options for the console.
#[derive(Debug, Args)]
#[command(next_help_heading = "Console")]
struct ConsoleArgs {
    #[command(flatten)]
    url: ConsoleUrlArgs,

    /// Who must have a second factor to use the console; for others, it is optional
    #[arg(long, value_parser = values::word(&RequireSecondFactor::ALL), env = "PETSTORE_REQUIRE_SECOND_FACTOR", default_value = "none")]
    require_second_factor: RequireSecondFactor,

    #[command(flatten)]
    provider: ProviderArgs,
}

/// Where browsers reach the console.
#[derive(Debug, Args)]
#[command(next_help_heading = "Console")]
pub(super) struct ConsoleUrlArgs {
    /// The address and port of the console, the pages for the staff; off turns it off. By default
    /// 127.0.0.1:8081, if that is free
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_CONSOLE_LISTEN", value_parser = values::listen_address_or_off)]
    console_listen: Option<ListenOrOff>,

    /// Where browsers reach the console, such as `https://console.shop.example`; by default, its
    /// listen address
    #[arg(long, value_name = "ORIGIN", env = "PETSTORE_CONSOLE_URL")]
    console_url: Option<Origin>,
}

impl ConsoleUrlArgs {
    fn listener_settings(&self) -> ListenerSettings<'_> {
        ListenerSettings {
            name: "console",
            option: "--console-listen",
            default_port: 8081,
            value: self.console_listen,
            url: self.console_url.as_ref(),
        }
    }

    /// Whether an option or a variable names the address of the console in a browser.
    pub(super) fn has_url(&self) -> bool {
        self.console_url.is_some()
    }

    /// Returns the address of the console in a browser, without a slash at its end.
    pub(super) fn url(&self) -> String {
        let has_tls = env::var_os("PETSTORE_TLS_CERT").is_some_and(|file| !file.is_empty());
        let listening = self.listener_settings();
        listening.url_of(listening.address(), has_tls)
    }
}

/// The options for the window.
#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
struct WindowArgs {
    /// The address and port of the window, the public pages of the animals; off turns it off. By
    /// default 127.0.0.1:8082, if that is free
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_WINDOW_LISTEN", value_parser = values::listen_address_or_off)]
    window_listen: Option<ListenOrOff>,

    /// Where the public reaches the window, such as `https://animals.shop.example`; by default, its
    /// listen address
    #[arg(long, value_name = "ORIGIN", env = "PETSTORE_WINDOW_URL")]
    window_url: Option<Origin>,

    /// How the public asks for an animal: an https, mailto or tel URL, such as
    /// `mailto:hello@shop.example`
    #[arg(long, value_name = "URL", env = "PETSTORE_STORE_CONTACT")]
    store_contact: Option<ContactUrl>,

    /// A style sheet that the pages of the window use after their own
    #[arg(long, value_name = "FILE", env = "PETSTORE_WINDOW_STYLE")]
    window_style: Option<PathBuf>,

    /// A site that may show /embed of the window in a frame, such as `https://shop.example`;
    /// repeat the option for several sites
    #[arg(
        long,
        value_name = "ORIGIN",
        env = "PETSTORE_WINDOW_EMBED",
        value_delimiter = ','
    )]
    window_embed: Vec<Origin>,
}

impl WindowArgs {
    fn listener_settings(&self) -> ListenerSettings<'_> {
        ListenerSettings {
            name: "window",
            option: "--window-listen",
            default_port: 8082,
            value: self.window_listen,
            url: self.window_url.as_ref(),
        }
    }

    /// Logs a warning if the public reaches the window without TLS.
    fn warn_without_tls(&self) {
        let Some(url) = self.window_url.as_ref().map(Origin::as_str) else {
            return;
        };
        let local_hosts = ["://localhost", "://127.", "://[::1]"];
        let is_local = local_hosts.iter().any(|host| url.contains(host));
        if url.starts_with("http://") && !is_local {
            warn!("--window-url {url} is without TLS: set the https address that the public uses");
        }
    }

    /// Reads the style sheet of the store.
    fn style(&self) -> anyhow::Result<Option<Style>> {
        let Some(path) = &self.window_style else {
            return Ok(None);
        };
        let file_name = path.display();
        let sheet = fs::read(path).with_context(|| {
            BadSetting(format!(
                "cannot read the style sheet {file_name}, which --window-style names"
            ))
        })?;
        let style = Style::new(sheet).map_err(|problem| {
            BadSetting(format!(
                "the style sheet {file_name}, which --window-style names, {problem}"
            ))
        })?;
        Ok(Some(style))
    }
}

/// The settings of a listener for pages.
struct ListenerSettings<'a> {
    /// The name of the pages in messages: the console or the window.
    name: &'static str,
    /// The option that sets the address.
    option: &'static str,
    default_port: u16,
    /// The value of the option, if it is set.
    value: Option<ListenOrOff>,
    /// The URL at which browsers reach the listener, if it is not the address.
    url: Option<&'a Origin>,
}

impl ListenerSettings<'_> {
    /// Returns the address to listen on. It has no meaning if the listener is off.
    fn address(&self) -> SocketAddr {
        match self.value {
            Some(ListenOrOff::At(address)) => address,
            Some(ListenOrOff::Off) | None => {
                SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), self.default_port)
            }
        }
    }

    /// Returns the URL at which browsers reach a listener at this address, without a slash at its end.
    fn url_of(&self, address: SocketAddr, has_tls: bool) -> String {
        if let Some(url) = self.url {
            return url.as_str().to_owned();
        }
        let scheme = if has_tls { "https" } else { "http" };
        format!("{scheme}://{}", values::reachable(address))
    }

    /// Reserves the address with `reserve`, unless the listener is off.
    fn reserve(&self, reserve: Reserve) -> anyhow::Result<Option<ReservedAddress>> {
        if let Some(ListenOrOff::Off) = self.value {
            return Ok(None);
        }
        self.fail_only_if_set(reserve(self.address(), self.option))
    }

    /// Begins to accept connections at a reserved address.
    fn listen(&self, reserved: Option<ReservedAddress>) -> anyhow::Result<Option<TcpListener>> {
        match reserved {
            Some(reserved) => self.fail_only_if_set(reserved.listen()),
            None => Ok(None),
        }
    }

    /// Turns a failure into a warning if the option is not set, because the operator may not need the listener then.
    fn fail_only_if_set<T>(&self, result: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.value.is_some() => Err(error),
            Err(error) => {
                let Self { name, option, .. } = self;
                warn!(
                    "there is no {name}: {error:#}; name another address with {option}, or turn it off with \
                     {option} off"
                );
                Ok(None)
            }
        }
    }
}

/// What the console and the window have: first reserved addresses, then listeners.
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
    pub(super) fn listen(&self, reserved: Pages<ReservedAddress>) -> anyhow::Result<Listeners> {
        let Pages {
            console,
            window,
            style,
        } = reserved;
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
        parts: PageParts,
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
        let PageParts {
            app,
            edge,
            provider,
            tls,
            ..
        } = parts;

        let console = async {
            let Some(listener) = listeners.console else {
                return;
            };
            let random = super::runtime::random();
            let console = Console::new(
                Arc::clone(&app),
                Arc::clone(&edge),
                console_settings,
                random,
            );
            let handler = console.with_provider(provider).into_handler();
            let stop = Box::pin(stop.clone());
            server::serve(listener, tls.clone(), handler, limits, stop).await;
        };
        let window = async {
            let Some(listener) = listeners.window else {
                return;
            };
            let window = Window::new(app.reading.clone(), Arc::clone(&edge), window_settings);
            let handler = window.into_handler();
            let stop = Box::pin(stop.clone());
            server::serve(listener, tls.clone(), handler, limits, stop).await;
        };
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
