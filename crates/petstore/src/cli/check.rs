//! `petstore check`.

use std::{fmt::Write, sync::Arc};

use clap::Args;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::store_area::PhotoSize;
use petstore_store::{Checkup, OpenError};

use super::{
    args::DatabaseArgs,
    photos::{self, PhotoArgs},
    values,
};

/// Check the whole database and report all problems
///
/// The command reads every animal, order, category and key, compares them with each
/// other, and changes nothing. It also finds times that cannot be read, and ids and
/// versions at the end of their range. Of a SQLite file, it also reads every page and index;
/// for PostgreSQL, also use `pg_amcheck`. It works while the service runs, and fails if
/// it finds a problem. It also finds photos whose files are missing, which is no damage of the
/// database; those of a backup FILE are by default in FILE.photos.
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
        let mut found = match databases::check(database) {
            Err(OpenError::Damaged { what, .. }) => Checkup {
                problems: vec![what],
                ..Checkup::default()
            },
            found => found?,
        };
        let place = self.photos.open_to_read(database)?.map(Arc::new);
        if let Some(other) = self.photos.place_of_another_database() {
            super::output::print_message(&format!(
                "The photos are looked for in {other}, which PETSTORE_PHOTOS names; --photos names another \
                 place."
            ));
        }
        let damage = found.problems.len() as u64;
        let mut wrong = 0;
        let mut photos = 0;
        // Otherwise, the animals may not be readable.
        if damage == 0 {
            (found.problems, wrong, photos) =
                photos::problems(database, place.as_ref(), self.photos_content)?;
        }
        let needed = PhotoSize::ALL
            .iter()
            .filter(|size| !size.is_made_later())
            .count();
        let has_none = wrong == photos * needed as u64;
        let mut text = String::new();
        // Each file would be missing.
        for problem in found.problems.iter().filter(|_| damage > 0 || !has_none) {
            writeln!(text, "{}", super::output::visible(problem))?;
        }
        for note in &found.notes {
            writeln!(text, "{}", super::output::visible(note))?;
        }
        let all_photos = super::output::counted(photos, "photo");
        if damage == 0 {
            let animals = super::output::counted(found.animals, "animal");
            let keys = super::output::counted(found.keys, "key");
            let photos_of = match (photos, &place) {
                (0, _) => String::new(),
                (_, Some(_)) => format!(", {all_photos}"),
                (_, None) => format!(", {all_photos}; --photos names the place of their files"),
            };
            if let Some(place) = &place {
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
            damage == 0,
            "{database} is damaged (found {}){advice}",
            super::output::counted(damage, "problem")
        );
        let Some(place) = place.filter(|_| wrong > 0) else {
            return Ok(());
        };
        let what = match super::output::counted(wrong, "file") {
            _ if has_none => {
                format!("{place} has no file of {all_photos}; this is probably another place")
            }
            files => format!("{files} of {all_photos} missing or damaged in {place}"),
        };
        anyhow::bail!("{what}; name the place of the photos with --photos (the database is valid)")
    }
}
