//! The console of `petstore serve`.

use std::{
    env,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use clap::{Args, builder::NonEmptyStringValueParser};
use tokio::net::TcpListener;
use tracing::warn;

use super::{
    management::Bound,
    values::{self, ListenOrOff},
};
use crate::{
    app::App,
    console::{Console, ConsoleSettings, RequireSecondFactor},
    domain::{Deployment, store_area::Currency},
    edge::{Edge, Origin},
    server::{self, Limits, Tls},
};

/// Where the console is if no option says otherwise.
const DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);

/// The options for the console.
#[derive(Debug, Args)]
#[command(next_help_heading = "Console")]
pub(super) struct ConsoleArgs {
    #[command(flatten)]
    url: ConsoleUrlArgs,

    /// The name of the store, which the pages of the console and printed orders show
    #[arg(long, value_name = "NAME", env = "PETSTORE_STORE_NAME", value_parser = NonEmptyStringValueParser::new())]
    store_name: Option<String>,

    /// The currency of all prices, such as EUR (ISO 4217), which the console shows with each
    #[arg(long, value_name = "CODE", env = "PETSTORE_CURRENCY", value_parser = values::currency)]
    currency: Option<Currency>,

    /// Who must have a second factor to use the console; for others, it is optional
    #[arg(long, value_enum, env = "PETSTORE_REQUIRE_SECOND_FACTOR", default_value = "none")]
    require_second_factor: RequireSecondFactor,
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
    /// The address of the console in a browser, without a slash at its end.
    pub(super) fn url(&self) -> String {
        let has_tls = env::var_os("PETSTORE_TLS_CERT").is_some_and(|file| !file.is_empty());
        self.url_of(if has_tls { "https" } else { "http" }, self.listening())
    }

    fn listening(&self) -> SocketAddr {
        match self.console_listen {
            Some(ListenOrOff::At(address)) => address,
            Some(ListenOrOff::Off) | None => DEFAULT,
        }
    }

    /// The same, for a console that listens there.
    fn url_of(&self, scheme: &str, listening: SocketAddr) -> String {
        let listening = || format!("{scheme}://{}", values::reachable(listening));
        self.console_url.as_ref().map_or_else(listening, |url| url.as_str().to_owned())
    }
}

impl ConsoleArgs {
    /// Reserves the address. That the default address is taken is not an error, because an operator
    /// who has not asked for the console may not need it.
    pub(super) fn bind(&self) -> anyhow::Result<Option<Bound>> {
        match self.url.console_listen {
            Some(ListenOrOff::Off) => Ok(None),
            _ => self.required_if_set(Bound::new(self.url.listening(), "--console-listen")),
        }
    }

    /// Accepts connections from now on.
    pub(super) fn listen(&self, bound: Option<Bound>) -> anyhow::Result<Option<TcpListener>> {
        bound.map_or(Ok(None), |bound| self.required_if_set(bound.listen()))
    }

    fn required_if_set<T>(&self, done: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match done {
            Err(error) if self.url.console_listen.is_none() => {
                warn!("there is no console: {error:#}; --console-listen off turns it off");
                Ok(None)
            }
            done => done.map(Some),
        }
    }

    /// The address of the console in a browser.
    pub(super) fn address(&self, listener: Option<&TcpListener>, tls: bool) -> Option<String> {
        let scheme = if tls { "https" } else { "http" };
        Some(self.url.url_of(scheme, listener?.local_addr().ok()?))
    }

    /// Serves the console, within the limits of clients, until `stop` completes.
    pub(super) async fn run(
        self,
        listener: Option<TcpListener>,
        tls: Option<Arc<Tls>>,
        (app, edge): (Arc<App>, Arc<Edge>),
        deployment: Deployment,
        limits: &Limits,
        stop: impl Future<Output = ()>,
    ) {
        let Some(listener) = listener else { return };
        let settings = ConsoleSettings {
            url: self.url.console_url,
            tls: tls.is_some(),
            trusted_proxies: limits.trusted_proxies.clone(),
            store_name: self.store_name,
            currency: self.currency,
            deployment,
            second_factor: self.require_second_factor,
        };
        let console = Arc::new(Console::new(app, edge, settings, super::runtime::random()));
        server::serve(listener, tls, console, limits, stop).await;
    }
}
