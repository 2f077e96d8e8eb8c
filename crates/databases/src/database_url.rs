//! The URL of a database.

use std::{
    fmt,
    path::{self, PathBuf},
    str::FromStr,
};

use petstore_store_postgres::PostgresUrl;

/// The URL of the database that contains the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A SQLite file: `sqlite:PATH`, or `sqlite://PATH`.
    Sqlite(PathBuf),
    /// A PostgreSQL cluster: `postgres://…` or `postgresql://…`.
    Postgres(PostgresUrl),
}

impl FromStr for DatabaseUrl {
    /// The reason why the text is no URL of a database, for the operator.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(postgres_url) = PostgresUrl::parse(text) {
            return postgres_url.map(Self::Postgres);
        }
        let after_scheme = text.strip_prefix("sqlite:").ok_or(
            "the database must be sqlite:PATH, such as sqlite:petstore.db, \
             or postgres://USER@HOST/DATABASE",
        )?;
        let path = after_scheme.strip_prefix("//").unwrap_or(after_scheme);
        if path.is_empty() {
            return Err(
                "the path after sqlite: is missing; an example is sqlite:petstore.db".to_owned(),
            );
        }
        // With a name such as `:memory:`, SQLite would open a separate in-memory database for each
        // connection.
        if path.starts_with(':') {
            return Err(format!(
                "{path} is not a file name; an example is sqlite:petstore.db"
            ));
        }
        if path.contains('?') {
            return Err(
                "sqlite:PATH allows no parameters; remove the ? and everything after it".to_owned(),
            );
        }
        Ok(Self::Sqlite(path.into()))
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The absolute path, because a file with the same name can exist in another folder.
            Self::Sqlite(path) => {
                // `absolute` fails if the current folder was deleted. Then show the given path.
                let absolute_path = path::absolute(path).unwrap_or_else(|_| path.clone());
                write!(f, "sqlite:{}", absolute_path.display())
            }
            Self::Postgres(url) => url.fmt(f),
        }
    }
}
