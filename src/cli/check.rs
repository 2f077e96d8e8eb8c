//! `petstore check`.

use std::fmt::Write;

use clap::Args;

use super::DatabaseArgs;
use crate::store::{self, Checkup, OpenError};

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
            writeln!(text, "{database} is sound: {animals}, {keys}")?;
        }
        super::print(&text)?;
        anyhow::ensure!(
            count == 0,
            "{database} is damaged (found {}); `petstore restore` replaces it by a backup",
            super::counted(count as u64, "problem")
        );
        Ok(())
    }
}
