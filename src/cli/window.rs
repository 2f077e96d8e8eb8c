//! The window of `petstore serve`.

use std::{fs, net::SocketAddr, path::PathBuf};

use anyhow::Context;
use clap::Args;

use super::{
    args::BadSetting,
    listening::{Listening, own_url},
    values::{self, ListenOrOff},
};
use crate::{
    edge::Origin,
    window::{ContactUrl, Style},
};

/// The options for the window.
#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
pub(super) struct WindowArgs {
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
    pub(super) store_contact: Option<ContactUrl>,

    /// A style sheet that the pages of the window use after their own
    #[arg(long, value_name = "FILE", env = "PETSTORE_WINDOW_STYLE")]
    window_style: Option<PathBuf>,

    /// A site that may show /embed of the window in a frame, such as `https://shop.example`;
    /// repeat the option for several sites
    #[arg(long, value_name = "ORIGIN", env = "PETSTORE_WINDOW_EMBED", value_delimiter = ',')]
    pub(super) window_embed: Vec<Origin>,
}

impl WindowArgs {
    pub(super) fn listening(&self) -> Listening {
        Listening {
            what: "window",
            option: "--window-listen",
            default_port: 8082,
            given: self.window_listen,
        }
    }

    /// The address of the window for the public, if it listens there. Without a slash at its end.
    pub(super) fn url_of(&self, listening: SocketAddr, tls: bool) -> String {
        let own = || own_url(listening, tls);
        self.window_url.as_ref().map_or_else(own, |url| url.as_str().to_owned())
    }

    /// Reads the style sheet of the store.
    pub(super) fn style(&self) -> anyhow::Result<Option<Style>> {
        let Some(path) = &self.window_style else { return Ok(None) };
        let shown = path.display();
        let sheet = fs::read(path).with_context(|| {
            BadSetting(format!("cannot read the style sheet {shown}, which --window-style names"))
        })?;
        let style = Style::new(sheet).map_err(|problem| {
            BadSetting(format!("the style sheet {shown}, which --window-style names, {problem}"))
        })?;
        Ok(Some(style))
    }
}
