//! `petstore copy`: copies everything from one database to another, such as from SQLite to
//! PostgreSQL.

use anyhow::{Context, bail, ensure};
use clap::Args;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    Clock, SystemClock,
    store_area::{Act, ActType, JournalSubject, PhotoId, Resource, SubjectKind},
};
use petstore_store::{
    OpenError, OpenMode,
    bulk::{self, CommitError, CopiedTable, IdSource, Load, Snapshot, continue_if_ok},
};

use super::{
    args::{BadSetting, DatabaseArgs, DatabaseUrlParser},
    output::{Progress, counted, print_message},
    photo_files,
    photos::{self, StorageSetting},
    values,
};

/// Copy everything from one database to another, which must be empty
///
/// The command copies a snapshot: all animals with their ids, withdrawn or not, all orders,
/// categories, notes, fields and API keys, all remembered requests with an Idempotency-Key, the log
/// of changes, the audit trail, webhooks, and the staff of the console without their sessions and
/// links. It copies the contacts of orders only with --with-contacts. Every cursor of the log
/// becomes invalid. The secrets of webhooks and second factors stay encrypted with the same key
/// file, which the new service also needs. It does not copy what clients change after it begins. It
/// copies everything or nothing.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore copy --from sqlite:petstore.db --to postgres://petstore@db/petstore"
))]
pub(super) struct Copy {
    /// The database to copy: `sqlite:PATH`, or `postgres://USER@HOST/DATABASE`
    #[arg(
        long,
        value_name = "URL",
        env = "PETSTORE_COPY_FROM",
        hide_env_values = true,
        value_parser = DatabaseUrlParser
    )]
    from: DatabaseUrl,

    /// The database to copy to; created if it does not exist
    #[arg(
        long,
        value_name = "URL",
        env = "PETSTORE_COPY_TO",
        hide_env_values = true,
        value_parser = DatabaseUrlParser
    )]
    to: DatabaseUrl,

    /// Also copy the contacts of orders, which are personal data
    #[arg(long, env = "PETSTORE_COPY_WITH_CONTACTS", value_parser = values::parse_boolean)]
    with_contacts: bool,

    /// Where the photos of the database to copy are: a folder, `s3://BUCKET/PREFIX`, or off; by
    /// default, `photos` next to the SQLite file, and off over PostgreSQL
    #[arg(long, value_name = "PLACE", env = "PETSTORE_COPY_FROM_PHOTOS", value_parser = photos::parse_storage)]
    from_photos: Option<StorageSetting>,

    /// The place for the photos of the new database; the same default
    #[arg(long, value_name = "PLACE", env = "PETSTORE_COPY_TO_PHOTOS", value_parser = photos::parse_storage)]
    to_photos: Option<StorageSetting>,
}

/// The context of an error after which the new database is still empty.
const NOT_COPIED: &str = "nothing was copied";

/// A summary of the copied content.
#[derive(Default)]
struct CopySummary {
    animals: u64,
    orders: u64,
    categories: u64,
    notes: u64,
    fields: u64,
    keys: u64,
    requests: u64,
    /// The photos of the animals, whose files are copied afterwards.
    photos: Vec<PhotoId>,
    /// The number of copied rows of each table in [`bulk::TABLES`].
    rows: [u64; bulk::TABLES.len()],
}

impl CopySummary {
    /// Describes what was copied, such as `2 animals, 1 order, 3 categories, …`.
    fn describe(&self) -> String {
        let mut parts = vec![
            counted(self.animals, "animal"),
            counted(self.orders, "order"),
            counted(self.categories, "category"),
            counted(self.notes, "note"),
            counted(self.fields, "field"),
            counted(self.keys, bulk::KEYS.row_noun),
            counted(self.requests, "idempotency key"),
        ];
        for (table, row_count) in bulk::TABLES.iter().zip(self.rows) {
            parts.push(counted(row_count, table.row_noun));
        }
        parts.join(", ")
    }
}

impl Copy {
    /// Copies the database and the files of its photos. Commits the new database last, if
    /// everything was copied.
    pub(super) fn run(self) -> anyhow::Result<()> {
        ensure!(
            !self.copies_onto_itself(),
            BadSetting("--from and --to must be different databases".to_owned())
        );
        let mut source = self.open_source()?;
        let mut destination = self.open_destination()?;
        let summary = copy_content(&mut *source, &mut *destination, self.with_contacts)
            .context(NOT_COPIED)?;
        // The files are copied before the commit, so that no animal of the new database lacks the
        // files of its photos.
        let photo_message = self.copy_photos(&summary.photos).context(NOT_COPIED)?;
        self.commit(destination)?;

        print_message(&format!(
            "Copied {} from {} to {}.",
            summary.describe(),
            self.from,
            self.to
        ));
        if let Some(message) = photo_message {
            print_message(&message);
        }
        let new_database = DatabaseArgs { url: self.to };
        new_database.merge_search();
        Ok(())
    }

    /// Opens a snapshot of the database to copy.
    fn open_source(&self) -> anyhow::Result<Box<dyn Snapshot>> {
        match databases::open_snapshot(&self.from) {
            Err(OpenError::Absent(path) | OpenError::Empty(path)) => bail!(BadSetting(format!(
                "there is no database at {path}; name the one to copy with --from"
            ))),
            snapshot => Ok(snapshot?),
        }
    }

    /// Opens the database to copy to, and begins its transaction. Fails if the database is not
    /// empty.
    fn open_destination(&self) -> anyhow::Result<Box<dyn Load>> {
        let mut destination = databases::open_load(&self.to, OpenMode::Create)?;
        destination
            .begin(IdSource::Given, SystemClock.now())
            .with_context(|| format!("cannot write {}", self.to))?;
        ensure!(
            destination.is_empty()?,
            "{} is not empty; nothing was copied; name a new database with --to",
            self.to
        );
        Ok(destination)
    }

    /// Records the copy in the audit trail of the new database, and commits.
    fn commit(&self, mut destination: Box<dyn Load>) -> anyhow::Result<()> {
        let act = Act {
            kind: ActType::DatabaseCopied.into(),
            subject: JournalSubject {
                kind: SubjectKind::Database.into(),
                id: None,
            },
            details: vec![("from".into(), self.from.to_string())],
        };
        destination.record_act(&act).context(NOT_COPIED)?;
        destination.commit().map_err(|error| match error {
            CommitError::NotDone(error) => anyhow::Error::from(error).context(NOT_COPIED),
            unknown @ CommitError::Unknown(_) => unknown.into(),
        })
    }

    /// Copies the files of photos, unless both databases share a storage for them. Returns a
    /// message for the user about the files that were copied and those that could not be copied.
    /// Returns `None` if there is nothing to say.
    fn copy_photos(&self, photos: &[PhotoId]) -> anyhow::Result<Option<String>> {
        // A storage that cannot be opened is an error even if there are no photos.
        let source = photos::open_storage(self.from_photos.as_ref(), "--from-photos", &self.from)?;
        let destination = photos::open_storage(self.to_photos.as_ref(), "--to-photos", &self.to)?;
        if photos.is_empty() {
            return Ok(None);
        }
        let (Some(source), Some(destination)) = (source, destination) else {
            // One of the databases has no storage, or neither has one.
            let count = counted(photos.len() as u64, "photo");
            return Ok(Some(format!(
                "The files of {count} were not copied; copy their folder, and name it with --photos."
            )));
        };
        if source.is_same_as(&destination) {
            return Ok(None);
        }

        let copied_files = photo_files::copy_files(source, destination, photos)?;
        let copied_photos = counted(copied_files.count, "photo");
        if copied_files.incomplete.is_empty() {
            return Ok(Some(format!("Copied the files of {copied_photos}.")));
        }
        let incomplete_photos = counted(copied_files.incomplete.len() as u64, "photo");
        Ok(Some(format!(
            "Copied the files of {copied_photos}; those of {incomplete_photos} are missing."
        )))
    }

    /// Whether `--from` and `--to` name the same database, even if two paths lead to the same file.
    fn copies_onto_itself(&self) -> bool {
        if self.from == self.to {
            return true;
        }
        let (DatabaseUrl::Sqlite(source), DatabaseUrl::Sqlite(destination)) =
            (&self.from, &self.to)
        else {
            return false;
        };
        match (source.canonicalize(), destination.canonicalize()) {
            (Ok(source_path), Ok(destination_path)) => source_path == destination_path,
            // A file that does not exist yet cannot be the same file.
            _ => false,
        }
    }
}

/// Copies the content of the database, except the files of photos.
fn copy_content(
    source: &mut dyn Snapshot,
    destination: &mut dyn Load,
    with_contacts: bool,
) -> anyhow::Result<CopySummary> {
    let mut summary = CopySummary {
        keys: copy_table(&bulk::KEYS, source, destination)?,
        ..CopySummary::default()
    };
    let fields = source.fields()?;
    summary.fields = fields.all().len() as u64;
    // The unique values are copied from their table below. Without fields, the load does not also
    // derive them from the animals.
    destination.set_fields(&[])?;
    summary.requests = copy_requests(source, destination)?;
    copy_resources(source, destination, with_contacts, &mut summary)?;
    destination.set_fields(fields.all())?;
    // The new database has no profile yet, so this always sets it.
    destination.fill_profile(&source.profile()?)?;
    copy_table(&bulk::LOGOS, source, destination)?;
    copy_table(&bulk::UNIQUE_VALUES, source, destination)?;
    for (table, row_count) in bulk::TABLES.iter().zip(&mut summary.rows) {
        *row_count = copy_table(table, source, destination)?;
    }
    destination.continue_after(source.last_ids()?)?;
    destination.continue_log()?;
    Ok(summary)
}

/// Copies the remembered requests, and returns their number. Stops at the first request that cannot
/// be added.
fn copy_requests(source: &mut dyn Snapshot, destination: &mut dyn Load) -> anyhow::Result<u64> {
    let mut count = 0;
    let mut result = Ok(());
    source.visit_requests(&mut |request| {
        count += 1;
        result = destination
            .add_request(&request)
            .map_err(anyhow::Error::from);
        continue_if_ok(&result)
    })?;
    result?;
    Ok(count)
}

/// Copies all animals, orders, categories and notes. Adds their numbers and their photos to
/// `summary`. Stops at the first resource that cannot be added.
fn copy_resources(
    source: &mut dyn Snapshot,
    destination: &mut dyn Load,
    with_contacts: bool,
    summary: &mut CopySummary,
) -> anyhow::Result<()> {
    let any_status = None;
    let mut progress = Progress::of_animals("Copying", source.count_pets(any_status)?);
    let mut result = Ok(());
    source.visit_resources(&mut |mut resource| {
        if !with_contacts {
            resource.drop_contact();
        }
        match &resource {
            Resource::Pet(pet) => {
                progress.count_animal();
                let photos = pet.photos.all().iter().map(|photo| photo.id);
                summary.photos.extend(photos);
                summary.animals += 1;
            }
            Resource::Order(_) => summary.orders += 1,
            Resource::Category(_) => summary.categories += 1,
            Resource::Note(_) => summary.notes += 1,
        }
        result = destination
            .add_resource(&resource)
            .map_err(anyhow::Error::from);
        continue_if_ok(&result)
    })?;
    result
}

/// Copies the rows of a table unchanged, and returns their number. Stops at the first row that
/// cannot be added.
fn copy_table(
    table: &'static CopiedTable,
    source: &mut dyn Snapshot,
    destination: &mut dyn Load,
) -> anyhow::Result<u64> {
    let mut row_count = 0;
    let mut result = Ok(());
    source.visit_rows(table, &mut |row| {
        row_count += 1;
        result = destination.add_row(table, row).map_err(anyhow::Error::from);
        continue_if_ok(&result)
    })?;
    result?;
    Ok(row_count)
}
