//! The options for webhooks, which `petstore serve` and `petstore webhooks` share.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use petstore_app::delivery::{ATTEMPT_TIMEOUT, Connector, Registrar, Vault};
use petstore_databases::DatabaseUrl;
use petstore_domain::{Network, Networks, SystemClock};
use petstore_system::{addresses::SystemResolver, owner::FileOwner, tls};

use super::super::{runtime, values};

/// The default key file of a service over PostgreSQL, in its working folder.
const DEFAULT_KEY_FILE: &str = "petstore.secret-key";

/// The suffix of the default key file of a SQLite database, which is `petstore.db.secret-key` for
/// `petstore.db`.
const KEY_FILE_SUFFIX: &str = ".secret-key";

/// The networks that webhooks may reach, and the key of their secrets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Webhooks")]
pub(in super::super) struct WebhookArgs {
    /// A network that webhooks may reach although it is private, such as 10.1.0.0/16,
    /// also over plain HTTP; repeat the option for several
    #[arg(
        long,
        global = true,
        value_name = "CIDR",
        env = "PETSTORE_WEBHOOK_ALLOW",
        value_delimiter = ','
    )]
    webhook_allow: Vec<Network>,

    /// The file with the key that encrypts the secrets of webhooks and second factors, created with
    /// the first of them; the default is the name of the SQLite file with the ending .secret-key,
    /// and for a service over PostgreSQL petstore.secret-key in its working folder
    #[arg(long, global = true, value_name = "FILE", env = "PETSTORE_SECRET_KEY_FILE", value_parser = values::new_file())]
    secret_key_file: Option<PathBuf>,
}

impl WebhookArgs {
    /// Builds the registrar, which checks the URLs of webhooks and encrypts their secrets with the
    /// key in the key file.
    pub(in super::super) fn build_registrar(
        &self,
        database: &DatabaseUrl,
        key_file_user: KeyFileUser,
    ) -> Registrar {
        let key_file = self.choose_key_file(database, key_file_user);
        let owner = match database {
            DatabaseUrl::Sqlite(database_file) => FileOwner::for_file(database_file),
            DatabaseUrl::Postgres(_) => key_file.as_deref().and_then(FileOwner::for_file),
        };
        let vault = Arc::new(Vault::new(key_file, owner));
        Registrar::new(vault, self.allowed_networks(), runtime::random())
    }

    /// Chooses the path of the key file: the one of the option, or a default. Returns `None` if
    /// there is no default: see [`KeyFileUser::Command`].
    fn choose_key_file(&self, database: &DatabaseUrl, user: KeyFileUser) -> Option<PathBuf> {
        if let Some(key_file) = &self.secret_key_file {
            return Some(key_file.clone());
        }
        match (database, user) {
            (DatabaseUrl::Sqlite(database_file), _) => {
                let mut key_file = database_file.clone().into_os_string();
                key_file.push(KEY_FILE_SUFFIX);
                Some(key_file.into())
            }
            (DatabaseUrl::Postgres(_), KeyFileUser::Service) => Some(DEFAULT_KEY_FILE.into()),
            (DatabaseUrl::Postgres(_), KeyFileUser::Command) => None,
        }
    }

    /// Builds the connector with which the service sends messages.
    pub(in super::super) fn build_connector(&self) -> anyhow::Result<Connector> {
        Ok(Connector::new(
            self.allowed_networks(),
            Box::new(SystemResolver),
            tls::system_roots(),
            ATTEMPT_TIMEOUT,
            Arc::new(SystemClock),
        )?)
    }

    /// Returns the private networks that webhooks may reach.
    fn allowed_networks(&self) -> Networks {
        self.webhook_allow.iter().copied().collect()
    }
}

/// The process that needs the key file.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum KeyFileUser {
    Service,
    /// Over PostgreSQL, a command has no default key file, because it does not know the working
    /// folder of the service.
    Command,
}
