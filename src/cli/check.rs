//! `petstore check`.

use std::fmt::Write;

use clap::Args;

use super::args::DatabaseArgs;
use crate::store::{self, Checkup, DatabaseUrl, OpenError};

/// Check the whole database and report all problems
///
/// The command reads every animal, order, category and key, compares them with each
/// other, and changes nothing. It also finds times that cannot be read, and ids and
/// versions at the end of their range. Of a SQLite file, it also reads every page and index;
/// for PostgreSQL, also use `pg_amcheck`. It works while the service runs, and fails if
/// it finds a problem.
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
                Checkup { problems: vec![what], ..Checkup::default() }
            }
            found => found?,
        };
        let mut text = String::new();
        for problem in &found.problems {
            writeln!(text, "{}", super::output::visible(problem))?;
        }
        let count = found.problems.len();
        if count == 0 {
            let animals = super::output::counted(found.animals, "animal");
            let keys = super::output::counted(found.keys, "key");
            writeln!(text, "{database} is valid: {animals}, {keys}")?;
        }
        super::output::print(&text)?;
        let advice = match database {
            DatabaseUrl::Sqlite(_) => "; to replace it with a backup, use `petstore restore`",
            DatabaseUrl::Postgres(_) => "",
        };
        anyhow::ensure!(
            count == 0,
            "{database} is damaged (found {}){advice}",
            super::output::counted(count as u64, "problem")
        );
        Ok(())
    }
}
