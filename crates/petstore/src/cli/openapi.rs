//! `petstore openapi` and `petstore completions`.

use clap::Args;
use clap_complete::{Shell, generate};
use petstore_api::documents::openapi::{self, Format, OpenApi};
use petstore_domain::{Clock, SystemClock};
use petstore_web::edge::BaseUrl;

use super::{args::BaseUrlArgs, values};

/// Print an OpenAPI document that the service serves: the contract, or the store area
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore openapi > openapi.yaml\n",
    "  petstore openapi --store > openapi-store.yaml\n",
    "  petstore openapi --format json --base-url https://pets.example.com/v1"
))]
pub(super) struct Openapi {
    /// Print the document of the store area instead of the contract
    #[arg(long, env = "PETSTORE_OPENAPI_STORE", value_parser = values::parse_boolean)]
    store: bool,

    /// The format of the document
    #[arg(
        long,
        value_parser = values::one_of(&Format::ALL),
        env = "PETSTORE_OPENAPI_FORMAT",
        default_value_t = Format::Yaml
    )]
    format: Format,

    /// The URL at which clients reach the service; replaces both base URLs
    #[arg(long, value_name = "URL", env = "PETSTORE_OPENAPI_SERVER")]
    server: Option<BaseUrl>,

    #[command(flatten)]
    base_urls: BaseUrlArgs,
}

impl Openapi {
    /// Prints the document.
    pub(super) fn run(self) -> anyhow::Result<()> {
        self.base_urls.check()?;
        let BaseUrlArgs {
            base_url,
            staging_base_url,
        } = &self.base_urls;
        let document = if self.store {
            OpenApi::StoreArea
        } else {
            OpenApi::Contract
        };
        let servers = match self.server {
            Some(server) => openapi::this_service(server),
            None => openapi::servers(base_url.as_ref(), staging_base_url.as_ref()),
        };
        super::output::print(&openapi::text(
            document,
            self.format,
            &servers,
            SystemClock.now(),
        )?)
    }
}

/// Print a completion script for a shell
///
/// The script completes the commands and options of petstore. For bash, add
/// `source <(petstore completions bash)` to ~/.bashrc.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell to complete in
    shell: Shell,
}

impl Completions {
    /// Prints the completion script for `command`, the definition of the command line.
    pub(super) fn run(self, mut command: clap::Command) -> anyhow::Result<()> {
        let mut script = Vec::new();
        generate(self.shell, &mut command, "petstore", &mut script);
        super::output::print(std::str::from_utf8(&script)?)
    }
}
