//! `petstore check`: finds the problems of a database and of the files of its photos.

use std::{fmt::Write, sync::Arc};

use clap::Args;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::store_area::PhotoSize;
use petstore_photos::PhotoStorage;
use petstore_store::{Checkup, OpenError};

use super::{
    args::DatabaseArgs,
    output,
    photo_checks::{self, FileProblems},
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
    #[arg(long, env = "PETSTORE_PHOTOS_CONTENT", value_parser = values::parse_boolean)]
    photos_content: bool,
}

impl Check {
    /// Checks the database, then the files of its photos.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let database = &self.database.url;
        let checkup = check_database(database)?;
        // A storage that cannot be opened is an error even if the database is damaged.
        let storage = self.photos.open_to_read(database)?.map(Arc::new);
        // The place explains the results, so it is printed before them.
        if let Some(place) = self.photos.find_suspicious_storage() {
            output::print_message(&format!(
                "The photos are looked for in {place}, which PETSTORE_PHOTOS names; --photos names another \
                 place."
            ));
        }
        if !checkup.problems.is_empty() {
            print_damage(&checkup)?;
            return Err(damage_error(database, &checkup));
        }

        let file_problems =
            photo_checks::find_problems(database, storage.as_ref(), self.photos_content)?;
        print_valid_result(database, &checkup, storage.as_ref(), &file_problems)?;
        if let Some(storage) = storage
            && file_problems.problem_count > 0
        {
            return Err(photo_error(&storage, &file_problems));
        }
        Ok(())
    }
}

/// Checks a database. If it is too damaged to be opened, the damage is the only problem of the
/// checkup.
fn check_database(database: &DatabaseUrl) -> Result<Checkup, OpenError> {
    match databases::check(database) {
        Err(OpenError::Damaged { what: problem, .. }) => Ok(Checkup {
            problems: vec![problem],
            ..Checkup::default()
        }),
        result => result,
    }
}

/// Prints the problems of a damaged database.
fn print_damage(checkup: &Checkup) -> anyhow::Result<()> {
    let mut text = String::new();
    push_lines(&mut text, &checkup.problems);
    push_lines(&mut text, &checkup.notes);
    output::print(&text)
}

/// Returns the error of a check that found a damaged database.
fn damage_error(database: &DatabaseUrl, checkup: &Checkup) -> anyhow::Error {
    let advice = match database {
        DatabaseUrl::Sqlite(_) => "; to replace it with a backup, use `petstore restore`",
        DatabaseUrl::Postgres(_) => "",
    };
    let problem_count = checkup.problems.len() as u64;
    let problems = output::counted(problem_count, "problem");
    anyhow::anyhow!("{database} is damaged (found {problems}){advice}")
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
    // If every file has a problem, the storage is probably the wrong one, and a line for each file
    // would not help.
    if !has_problem_with_every_file(file_problems) {
        push_lines(&mut text, &file_problems.lines);
    }
    push_lines(&mut text, &checkup.notes);
    if let Some(storage) = photo_storage
        && let Some(line) = photo_checks::describe_shared_storage(storage)?
    {
        text.push_str(&line);
    }

    let animals = output::counted(checkup.animals, "animal");
    let keys = output::counted(checkup.keys, "key");
    write!(text, "{database} is valid: {animals}, {keys}")?;
    if file_problems.photo_count > 0 {
        let photos = output::counted(file_problems.photo_count, "photo");
        write!(text, ", {photos}")?;
        if photo_storage.is_none() {
            text.push_str("; --photos names the place of their files");
        }
    }
    text.push('\n');
    output::print(&text)
}

/// Appends each of `lines` to `text`, in a form that is safe to print.
fn push_lines(text: &mut String, lines: &[String]) {
    for line in lines {
        text.push_str(&output::escape_hidden(line));
        text.push('\n');
    }
}

/// Whether every file is missing or damaged. The storage is then probably the wrong one, without
/// any photo of the database. Without photos, this is also true, but there is nothing to report.
///
/// A photo has a file for each size, but the sizes that are made later may be missing.
fn has_problem_with_every_file(file_problems: &FileProblems) -> bool {
    let files_per_photo = PhotoSize::ALL
        .iter()
        .filter(|size| !size.may_be_missing())
        .count();
    file_problems.problem_count == file_problems.photo_count * files_per_photo as u64
}

/// Returns the error of a check that found problems with the files of photos.
fn photo_error(storage: &PhotoStorage, file_problems: &FileProblems) -> anyhow::Error {
    let photos = output::counted(file_problems.photo_count, "photo");
    let finding = if has_problem_with_every_file(file_problems) {
        format!("{storage} lacks the files of {photos}; it is probably the wrong place")
    } else {
        let files = output::counted(file_problems.problem_count, "file");
        format!("{files} of {photos} missing or damaged in {storage}")
    };
    anyhow::anyhow!("{finding}; name the place of the photos with --photos (the database is valid)")
}
