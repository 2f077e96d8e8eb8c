//! The options for the OpenID provider with which the staff signs in.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, bail};
use clap::{Args, builder::NonEmptyStringValueParser};
use petstore_console::openid::{
    Issuer, Provider, ProviderSettings, REQUEST_LIMIT, RoleRules, parse_scope,
};
use petstore_domain::SystemClock;
use petstore_system::{addresses::SystemResolver, tls};

use super::{args::BadSetting, values};

/// The options for signing in at a provider.
#[derive(Debug, Args)]
#[command(next_help_heading = "Console")]
pub(super) struct ProviderArgs {
    /// The OpenID provider at which the staff signs in, such as
    /// `https://login.shop.example/realms/shop`
    #[arg(long = "oidc-issuer", value_name = "URL", env = "PETSTORE_OIDC_ISSUER", requires_all = ["client_id", "role", "console_url"])]
    issuer: Option<Issuer>,

    /// The name of the service at the OpenID provider
    #[arg(long = "oidc-client-id", value_name = "ID", env = "PETSTORE_OIDC_CLIENT_ID", requires = "issuer", value_parser = NonEmptyStringValueParser::new())]
    client_id: Option<String>,

    /// The file with the secret of the service at the OpenID provider; a public client has none
    #[arg(
        long = "oidc-client-secret-file",
        value_name = "FILE",
        env = "PETSTORE_OIDC_CLIENT_SECRET_FILE",
        requires = "issuer"
    )]
    client_secret_file: Option<PathBuf>,

    /// The scopes for which the provider is asked, such as "openid profile email roles"; by default
    /// "openid profile email", and groups if the provider has it
    #[arg(long = "oidc-scope", value_name = "SCOPES", env = "PETSTORE_OIDC_SCOPE", requires = "issuer", value_parser = parse_scope)]
    scope: Option<String>,

    /// A claim that gives a role, such as groups=shop-managers:manager; repeat the option for
    /// several, of which the highest role counts
    #[arg(
        long = "oidc-role",
        value_name = "CLAIM=VALUE:ROLE",
        env = "PETSTORE_OIDC_ROLE",
        requires = "issuer"
    )]
    role: Vec<RoleRules>,

    /// The staff signs in only at the OpenID provider, and not with passwords
    #[arg(long = "oidc-only", env = "PETSTORE_OIDC_ONLY", value_parser = values::parse_boolean)]
    only: bool,

    /// Lead to the OpenID provider without a page with a button in between
    #[arg(long = "oidc-redirect", env = "PETSTORE_OIDC_REDIRECT", value_parser = values::parse_boolean)]
    redirect: bool,
}

impl ProviderArgs {
    /// Returns the provider, if one is configured. Reads the file with the client secret.
    pub(super) fn build(&self) -> anyhow::Result<Option<Provider>> {
        let (Some(issuer), Some(client_id)) = (&self.issuer, &self.client_id) else {
            if self.only || self.redirect {
                bail!(BadSetting(
                    "--oidc-only and --oidc-redirect need --oidc-issuer".to_owned()
                ));
            }
            return Ok(None);
        };
        let client_secret = match &self.client_secret_file {
            Some(path) => Some(read_secret(path)?),
            None => None,
        };
        let settings = ProviderSettings {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret,
            scope: self.scope.clone(),
            roles: self.role.iter().flat_map(|rules| rules.0.clone()).collect(),
            only: self.only,
            redirects: self.redirect,
        };
        let provider = Provider::new(
            settings,
            Box::new(SystemResolver),
            tls::system_roots(),
            REQUEST_LIMIT,
            Arc::new(SystemClock),
        )?;
        Ok(Some(provider))
    }
}

/// Reads the file with the secret of the service at the provider.
fn read_secret(path: &Path) -> anyhow::Result<String> {
    let file = format!(
        "the file {}, which --oidc-client-secret-file names",
        path.display()
    );
    let content =
        fs::read_to_string(path).with_context(|| BadSetting(format!("cannot read {file}")))?;
    let secret = content.trim();
    if secret.is_empty() {
        bail!(BadSetting(format!("{file}, is empty")));
    }
    Ok(secret.to_owned())
}
