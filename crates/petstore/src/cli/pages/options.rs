//! The options of `petstore serve` for the console and the window, and for the facts about the
//! store on their pages.

use std::{env, fs, path::PathBuf};

use anyhow::Context;
use clap::{Args, builder::NonEmptyStringValueParser};
use petstore_console::RequireSecondFactor;
use petstore_domain::store_area::{ContactUrl, Currency, Language, StoreTimeZone};
use petstore_system::addresses::is_this_machine;
use petstore_web::edge::Origin;
use petstore_window::Style;
use tracing::warn;
use url::Url;

use super::listener_settings::ListenerSettings;
use crate::cli::{
    args::BadSetting,
    provider::ProviderArgs,
    values::{self, ListenOrOff},
};

/// The facts about the store on all pages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
pub(super) struct StoreArgs {
    /// The name of the store, which the console, the window and printed orders show
    #[arg(long, value_name = "NAME", env = "PETSTORE_STORE_NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) store_name: Option<String>,

    /// The language of the window, and of the console for members who have not chosen one
    #[arg(long, value_parser = values::one_of(&Language::ALL), env = "PETSTORE_LANGUAGE")]
    pub(super) language: Option<Language>,

    /// The currency of all prices, such as EUR (ISO 4217), which the console and the window show
    /// with each
    #[arg(long, value_name = "CODE", env = "PETSTORE_CURRENCY", value_parser = values::parse_currency)]
    pub(super) currency: Option<Currency>,

    /// The time zone of the store, such as Europe/Berlin (IANA), whose days the console and the
    /// window have; without one, UTC
    #[arg(long, value_name = "ZONE", env = "PETSTORE_TIME_ZONE", value_parser = values::parse_time_zone)]
    pub(super) time_zone: Option<StoreTimeZone>,
}

/// The options for the console.
#[derive(Debug, Args)]
#[command(next_help_heading = "Console")]
pub(super) struct ConsoleArgs {
    #[command(flatten)]
    pub(super) url: ConsoleUrlArgs,

    /// Who must have a second factor to use the console; for others, it is optional
    #[arg(long, value_parser = values::one_of(&RequireSecondFactor::ALL), env = "PETSTORE_REQUIRE_SECOND_FACTOR", default_value = "none")]
    pub(super) require_second_factor: RequireSecondFactor,

    #[command(flatten)]
    pub(super) provider: ProviderArgs,
}

/// The options for the address of the console.
#[derive(Debug, Args)]
#[command(next_help_heading = "Console")]
pub(in crate::cli) struct ConsoleUrlArgs {
    /// The address and port of the console, the pages for the staff; off turns it off. By default
    /// 127.0.0.1:8081, if that is free
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_CONSOLE_LISTEN", value_parser = values::parse_listen_address_or_off)]
    pub(super) console_listen: Option<ListenOrOff>,

    /// Where browsers reach the console, such as `https://console.shop.example`; by default, its
    /// listen address
    #[arg(long, value_name = "ORIGIN", env = "PETSTORE_CONSOLE_URL")]
    pub(super) console_url: Option<Origin>,
}

impl ConsoleUrlArgs {
    /// Returns the settings of the listener of the console.
    pub(super) fn listener_settings(&self) -> ListenerSettings<'_> {
        ListenerSettings {
            name: "console",
            option: "--console-listen",
            default_port: 8081,
            value: self.console_listen,
            url: self.console_url.as_ref(),
        }
    }

    /// Whether the option for the URL of the console is set.
    pub(in crate::cli) fn is_url_set(&self) -> bool {
        self.console_url.is_some()
    }

    /// Returns the URL at which browsers reach the console, without a trailing slash.
    ///
    /// Without the option for the URL, this is the listen address of the console. Whether the
    /// service uses TLS is guessed from the environment variable for its certificate.
    pub(in crate::cli) fn reachable_url(&self) -> String {
        let has_tls = env::var_os("PETSTORE_TLS_CERT").is_some_and(|file| !file.is_empty());
        let settings = self.listener_settings();
        settings.url_for(settings.address(), has_tls)
    }
}

/// The options for the window.
#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
pub(super) struct WindowArgs {
    /// The address and port of the window, the public pages of the animals; off turns it off. By
    /// default 127.0.0.1:8082, if that is free
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_WINDOW_LISTEN", value_parser = values::parse_listen_address_or_off)]
    pub(super) window_listen: Option<ListenOrOff>,

    /// Where the public reaches the window, such as `https://animals.shop.example`; by default, its
    /// listen address
    #[arg(long, value_name = "ORIGIN", env = "PETSTORE_WINDOW_URL")]
    pub(super) window_url: Option<Origin>,

    /// How the public asks for an animal: an https, mailto or tel URL, such as
    /// `mailto:hello@shop.example`
    #[arg(long, value_name = "URL", env = "PETSTORE_STORE_CONTACT")]
    pub(super) store_contact: Option<ContactUrl>,

    /// A style sheet that the pages of the window use after their own
    #[arg(long, value_name = "FILE", env = "PETSTORE_WINDOW_STYLE")]
    pub(super) window_style: Option<PathBuf>,

    /// A site that may show /embed of the window in a frame, such as `https://shop.example`;
    /// repeat the option for several sites
    #[arg(
        long,
        value_name = "ORIGIN",
        env = "PETSTORE_WINDOW_EMBED",
        value_delimiter = ','
    )]
    pub(super) window_embed: Vec<Origin>,
}

impl WindowArgs {
    /// Returns the settings of the listener of the window.
    pub(super) fn listener_settings(&self) -> ListenerSettings<'_> {
        ListenerSettings {
            name: "window",
            option: "--window-listen",
            default_port: 8082,
            value: self.window_listen,
            url: self.window_url.as_ref(),
        }
    }

    /// Logs a warning if the URL of the window does not use TLS. A URL of this machine needs none.
    pub(super) fn warn_without_tls(&self) {
        let Some(origin) = self.window_url.as_ref().map(Origin::as_str) else {
            return;
        };
        // An origin is always a URL.
        let Ok(url) = Url::parse(origin) else {
            return;
        };
        if url.scheme() == "http" && !is_this_machine(&url) {
            warn!(
                "--window-url {origin} is without TLS: set the https address that the public uses"
            );
        }
    }

    /// Reads the style sheet of the window, if the option names one.
    pub(super) fn read_style(&self) -> anyhow::Result<Option<Style>> {
        let Some(path) = &self.window_style else {
            return Ok(None);
        };
        let shown_path = path.display();
        let sheet = fs::read(path).with_context(|| {
            BadSetting(format!(
                "cannot read the style sheet {shown_path}, which --window-style names"
            ))
        })?;
        // The problem completes the sentence, such as "is not UTF-8 text".
        let style = Style::new(sheet).map_err(|problem| {
            BadSetting(format!(
                "the style sheet {shown_path}, which --window-style names, {problem}"
            ))
        })?;
        Ok(Some(style))
    }
}
