//! `petstore check`: finds the problems of a database and of the files of its photos.

use std::{fmt::Write, sync::Arc};

use clap::Args;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::store_area::PhotoSize;
use petstore_photos::PhotoStorage;
use petstore_store::{Checkup, OpenError};

use super::{
    args::DatabaseArgs,
    photo_files::{self, FileProblems},
    photos::PhotoArgs,
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
    #[arg(long, env = "PETSTORE_PHOTOS_CONTENT", value_parser = values::boolean)]
    photos_content: bool,
}

impl Check {
    /// Checks the database, then the files of its photos.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let database = &self.database.url;
        let checkup = check_database(database)?;
        let storage = self.photos.open_to_read(database)?.map(Arc::new);
        if let Some(place) = self.photos.suspicious_storage() {
            super::output::print_message(&format!(
                "The photos are looked for in {place}, which PETSTORE_PHOTOS names; --photos names another \
                 place."
            ));
        }
        if !checkup.problems.is_empty() {
            return report_damage(database, &checkup);
        }

        let file_problems =
            photo_files::find_problems(database, storage.as_ref(), self.photos_content)?;
        print_valid_result(database, &checkup, storage.as_ref(), &file_problems)?;
        match storage {
            Some(storage) if file_problems.problem_count > 0 => {
                Err(photo_error(&storage, &file_problems))
            }
            _ => Ok(()),
        }
    }
}

/// Checks a database. If it is too damaged to be opened, the damage is the only problem of the checkup.
fn check_database(database: &DatabaseUrl) -> Result<Checkup, OpenError> {
    match databases::check(database) {
        Err(OpenError::Damaged { what, .. }) => Ok(Checkup {
            problems: vec![what],
            ..Checkup::default()
        }),
        result => result,
    }
}

/// Prints the problems of a damaged database, and returns the error of the command.
fn report_damage(database: &DatabaseUrl, checkup: &Checkup) -> anyhow::Result<()> {
    let mut text = String::new();
    push_lines(&mut text, &checkup.problems);
    push_lines(&mut text, &checkup.notes);
    super::output::print(&text)?;

    let advice = match database {
        DatabaseUrl::Sqlite(_) => "; to replace it with a backup, use `petstore restore`",
        DatabaseUrl::Postgres(_) => "",
    };
    let problem_count = checkup.problems.len() as u64;
    anyhow::bail!(
        "{database} is damaged (found {}){advice}",
        super::output::counted(problem_count, "problem")
    )
}

/// Prints the result of a check that found no damage in the database: first the problems with the
/// files of its photos, and then that the database is valid. Missing files of photos do not make it
/// invalid.
fn print_valid_result(
    database: &DatabaseUrl,
    checkup: &Checkup,
    photo_storage: Option<&Arc<PhotoStorage>>,
    file_problems: &FileProblems,
) -> anyhow::Result<()> {
    let mut text = String::new();
    // If no file exists at all, the storage is probably the wrong one, and a line for each file would
    // not help.
    if !lacks_every_file(file_problems) {
        push_lines(&mut text, &file_problems.lines);
    }
    push_lines(&mut text, &checkup.notes);
    if let Some(storage) = photo_storage
        && let Some(line) = photo_files::shared_storage_line(storage)?
    {
        text.push_str(&line);
    }

    let animals = super::output::counted(checkup.animals, "animal");
    let keys = super::output::counted(checkup.keys, "key");
    write!(text, "{database} is valid: {animals}, {keys}")?;
    if file_problems.photo_count > 0 {
        let photos = super::output::counted(file_problems.photo_count, "photo");
        write!(text, ", {photos}")?;
        if photo_storage.is_none() {
            text.push_str("; --photos names the place of their files");
        }
    }
    text.push('\n');
    super::output::print(&text)
}

/// Appends each of `texts` as a line that is safe to print.
fn push_lines(output: &mut String, texts: &[String]) {
    for text in texts {
        output.push_str(&super::output::escape_hidden(text));
        output.push('\n');
    }
}

/// Whether all files have problems, probably because the storage has no photo of the database. A
/// photo has a file for each size, except that the sizes that are made later may be missing.
fn lacks_every_file(file_problems: &FileProblems) -> bool {
    let files_per_photo = PhotoSize::ALL
        .iter()
        .filter(|size| !size.may_be_missing())
        .count();
    file_problems.problem_count == file_problems.photo_count * files_per_photo as u64
}

/// Returns the error of a check that found problems with the files of photos.
fn photo_error(storage: &PhotoStorage, file_problems: &FileProblems) -> anyhow::Error {
    let photos = super::output::counted(file_problems.photo_count, "photo");
    let finding = if lacks_every_file(file_problems) {
        format!("{storage} lacks the files of {photos}; it is probably the wrong place")
    } else {
        let files = super::output::counted(file_problems.problem_count, "file");
        format!("{files} of {photos} missing or damaged in {storage}")
    };
    anyhow::anyhow!("{finding}; name the place of the photos with --photos (the database is valid)")
}
