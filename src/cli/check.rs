//! `petstore check`.

use std::fmt::Write;

use clap::Args;

use super::DatabaseArgs;
use crate::store::{self, Checkup, OpenError};

/// Check the whole database and report all problems
///
/// The command reads every page, index, animal and key, and changes nothing. It
/// works while the service runs, and fails if it finds a problem. The database
/// must be a SQLite file; for PostgreSQL, use `pg_amcheck`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore check --database sqlite:/var/lib/petstore/petstore.db"
))]
pub(super) struct Check {
    #[command(flatten)]
    database: DatabaseArgs,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let database = &self.database.database;
        let found = match store::check(database) {
            Err(OpenError::Damaged { what, .. }) => {
                Checkup { animals: 0, keys: 0, problems: vec![what] }
            }
            found => found?,
        };
        let mut text = String::new();
        for problem in &found.problems {
            writeln!(text, "{}", super::visible(problem))?;
        }
        let count = found.problems.len();
        if count == 0 {
            let animals = super::counted(found.animals, "animal");
            let keys = super::counted(found.keys, "key");
            writeln!(text, "{database} is valid: {animals}, {keys}")?;
        }
        super::print(&text)?;
        anyhow::ensure!(
            count == 0,
            "{database} is damaged (found {}); to replace it with a backup, use `petstore restore`",
            super::counted(count as u64, "problem")
        );
        Ok(())
    }
}
