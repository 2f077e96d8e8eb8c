//! The console of `petstore serve`.

use std::{env, net::SocketAddr};

use clap::Args;

use super::{
    listening::{Listening, own_url},
    values::{self, ListenOrOff},
};
use crate::{console::RequireSecondFactor, edge::Origin};

/// The options for the console.
#[derive(Debug, Args)]
#[command(next_help_heading = "Console")]
pub(super) struct ConsoleArgs {
    #[command(flatten)]
    pub(super) url: ConsoleUrlArgs,

    /// Who must have a second factor to use the console; for others, it is optional
    #[arg(long, value_enum, env = "PETSTORE_REQUIRE_SECOND_FACTOR", default_value = "none")]
    pub(super) require_second_factor: RequireSecondFactor,
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
    pub(super) console_url: Option<Origin>,
}

impl ConsoleUrlArgs {
    pub(super) fn listening(&self) -> Listening {
        Listening {
            what: "console",
            option: "--console-listen",
            default_port: 8081,
            given: self.console_listen,
        }
    }

    /// The address of the console in a browser, without a slash at its end.
    pub(super) fn url(&self) -> String {
        let has_tls = env::var_os("PETSTORE_TLS_CERT").is_some_and(|file| !file.is_empty());
        self.url_of(self.listening().address(), has_tls)
    }

    /// The same, for a console that listens there.
    pub(super) fn url_of(&self, listening: SocketAddr, tls: bool) -> String {
        let own = || own_url(listening, tls);
        self.console_url.as_ref().map_or_else(own, |url| url.as_str().to_owned())
    }
}
