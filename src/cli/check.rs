//! `petstore check`.

use std::fmt::Write;

use clap::Args;

use super::{
    args::DatabaseArgs,
    photos::{self, PhotoArgs},
    values,
};
use crate::store::{self, Checkup, DatabaseUrl, OpenError};

/// Check the whole database and report all problems
///
/// The command reads every animal, order, category and key, compares them with each
/// other, and changes nothing. It also finds times that cannot be read, and ids and
/// versions at the end of their range. Of a SQLite file, it also reads every page and index;
/// for PostgreSQL, also use `pg_amcheck`. It works while the service runs, and fails if
/// it finds a problem. It also finds photos whose files are missing.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore check --database sqlite:/var/lib/petstore/petstore.db"
))]
pub(super) struct Check {
    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    photos: PhotoArgs,

    /// Also decode each file of a photo
    #[arg(long, env = "PETSTORE_PHOTOS_CONTENT", value_parser = values::switch)]
    photos_content: bool,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let database = &self.database.database;
        let mut found = match store::check(database) {
            Err(OpenError::Damaged { what, .. }) => {
                Checkup { problems: vec![what], ..Checkup::default() }
            }
            found => found?,
        };
        let place = self.photos.open(database)?;
        let has_place = place.is_some();
        // Otherwise, the animals may not be readable.
        let mut photos = 0;
        if found.problems.is_empty() {
            (found.problems, photos) = photos::problems(database, place, self.photos_content)?;
        }
        let mut text = String::new();
        for problem in &found.problems {
            writeln!(text, "{}", super::output::visible(problem))?;
        }
        let count = found.problems.len();
        if count == 0 {
            let animals = super::output::counted(found.animals, "animal");
            let keys = super::output::counted(found.keys, "key");
            let photos_of = match (photos, has_place) {
                (0, _) => String::new(),
                (_, true) => format!(", {}", super::output::counted(photos, "photo")),
                (_, false) => format!(
                    ", {} without their files, which --photos names",
                    super::output::counted(photos, "photo")
                ),
            };
            if let Some(place) = self.photos.open(database)? {
                text.push_str(&photos::line_of_marks(place)?.unwrap_or_default());
            }
            writeln!(text, "{database} is valid: {animals}, {keys}{photos_of}")?;
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
