//! `petstore openapi`.

use clap::{Args, ValueEnum};

use super::BaseUrlArgs;
use crate::{
    config::BaseUrl,
    domain::{Clock, SystemClock},
    http::documents::openapi::Documents,
};

/// Print the OpenAPI document that the service serves
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore openapi > openapi.yaml\n",
    "  petstore openapi --format json --base-url https://pets.example.com/v1"
))]
pub(super) struct Openapi {
    /// The format of the document
    #[arg(
        long,
        value_enum,
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Yaml,
    Json,
}

impl Openapi {
    pub(super) fn run(self) -> anyhow::Result<()> {
        self.base_urls.check()?;
        let BaseUrlArgs { base_url, staging_base_url } = &self.base_urls;
        let documents = match &self.server {
            Some(server) => Documents::new(None, None)?.at_server(server),
            None => Documents::new(base_url.as_ref(), staging_base_url.as_ref())?,
        };
        let document = documents.at(SystemClock.now());
        let text = match self.format {
            Format::Yaml => document.yaml(),
            Format::Json => document.json(),
        };
        super::print(std::str::from_utf8(text)?)?;
        Ok(())
    }
}
