//! `petstore check`.

use std::fmt::Write;

use clap::Args;

use super::DatabaseArgs;
use crate::store;

/// Read everything in the database, and say what is wrong with it
///
/// Every page, index, animal and key is looked at, and nothing is changed. It
/// works while the service runs, and fails if anything is wrong. The database is
/// a SQLite file; PostgreSQL has tools of its own.
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
        let found = store::check(database)?;
        let mut text = String::new();
        for problem in &found.problems {
            writeln!(text, "{}", super::visible(problem))?;
        }
        let count = found.problems.len();
        if count == 0 {
            let (animals, keys) = (found.animals, found.keys);
            writeln!(text, "{database} is sound: {animals} animals, {keys} keys")?;
        }
        super::print(&text)?;
        anyhow::ensure!(count == 0, "{database} is damaged: {count} problems were found");
        Ok(())
    }
}
