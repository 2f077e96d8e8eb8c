//! `petstore copy`.

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    Clock, SystemClock,
    store_area::{Act, ActType, JournalSubject, PhotoId, Resource, SubjectKind},
};
use petstore_store::{
    self as store, OpenMode,
    bulk::{self, CommitError, CopiedTable, IdSource, Load, Snapshot, continue_if_ok},
};

use super::{
    args::{BadSetting, DatabaseUrlParser},
    output::Progress,
    photo_files,
    photos::{self, StorageSetting},
    values,
};

/// Copy everything from one database to another, which must be empty
///
/// The command copies a snapshot: all animals with their ids, withdrawn or not, all
/// orders, categories, notes, fields and API keys, all remembered requests with an Idempotency-Key, the
/// log of changes, the audit trail, webhooks, and the staff of the console without their
/// sessions and links. It copies the contacts of orders only with --with-contacts. Every
/// cursor of the log becomes invalid. The secrets of webhooks and second factors stay
/// encrypted with the same key file, which the new service also needs. It does not copy what
/// clients change after it begins. It copies everything or nothing.
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
    #[arg(long, env = "PETSTORE_COPY_WITH_CONTACTS", value_parser = values::switch)]
    with_contacts: bool,

    /// Where the photos of the database to copy are: a folder, `s3://BUCKET/PREFIX`, or off; by default,
    /// `photos` next to the SQLite file, and off over PostgreSQL
    #[arg(long, value_name = "PLACE", env = "PETSTORE_COPY_FROM_PHOTOS", value_parser = photos::parse_place)]
    from_photos: Option<StorageSetting>,

    /// The place for the photos of the new database; the same default
    #[arg(long, value_name = "PLACE", env = "PETSTORE_COPY_TO_PHOTOS", value_parser = photos::parse_place)]
    to_photos: Option<StorageSetting>,
}

/// The numbers of copied rows, and the photos of the animals.
#[derive(Default)]
struct Copied {
    animals: u64,
    orders: u64,
    categories: u64,
    notes: u64,
    fields: u64,
    keys: u64,
    requests: u64,
    photos: Vec<PhotoId>,
    rows: [u64; bulk::TABLES.len()],
}

impl Copy {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let same = || BadSetting("--from and --to must be different databases".to_owned());
        ensure!(!self.copies_onto_itself(), same());
        let mut from = databases::snapshot(&self.from).map_err(|error| match error {
            store::OpenError::Absent(path) | store::OpenError::Empty(path) => anyhow!(BadSetting(
                format!("there is no database at {path}; name the one to copy with --from")
            )),
            error => error.into(),
        })?;
        let mut to = databases::load(&self.to, OpenMode::Create)?;
        to.begin(IdSource::Given, SystemClock.now())
            .with_context(|| format!("cannot write {}", self.to))?;
        ensure!(
            to.is_empty()?,
            "{} is not empty; nothing was copied; name a new database with --to",
            self.to
        );
        let copied =
            copy(&mut *from, &mut *to, self.with_contacts).context("nothing was copied")?;
        // The files are there before any animal of the new database refers to them.
        let photos = self
            .copy_photos(&copied.photos)
            .context("nothing was copied")?;
        let subject = JournalSubject {
            kind: SubjectKind::Database.into(),
            id: None,
        };
        let details = vec![("from".into(), self.from.to_string())];
        to.record(&Act {
            kind: ActType::DatabaseCopied.into(),
            subject,
            details,
        })
        .context("nothing was copied")?;
        to.commit().map_err(|error| match error {
            CommitError::NotDone(error) => anyhow::Error::from(error).context("nothing was copied"),
            unknown @ CommitError::Unknown(_) => unknown.into(),
        })?;
        drop(to);
        let Copied {
            animals,
            orders,
            categories,
            notes,
            fields,
            keys,
            requests,
            rows,
            ..
        } = copied;
        let rows = bulk::TABLES.iter().zip(rows);
        let rows: Vec<_> = rows
            .map(|(table, rows)| super::output::counted(rows, table.rows))
            .collect();
        super::output::print_message(&format!(
            "Copied {}, {}, {}, {}, {}, {}, {}, {} from {} to {}.",
            super::output::counted(animals, "animal"),
            super::output::counted(orders, "order"),
            super::output::counted(categories, "category"),
            super::output::counted(notes, "note"),
            super::output::counted(fields, "field"),
            super::output::counted(keys, bulk::KEYS.rows),
            super::output::counted(requests, "idempotency key"),
            rows.join(", "),
            self.from,
            self.to
        ));
        if let Some(photos) = photos {
            super::output::print_message(&photos);
        }
        super::args::merge_search(self.to);
        Ok(())
    }

    /// Copies the files of photos, unless both databases have the same storage for them. Returns a message
    /// for the person who runs the command, if there is something to say.
    fn copy_photos(&self, photos: &[PhotoId]) -> anyhow::Result<Option<String>> {
        // Without photos, too, a storage that cannot be opened is an error.
        let source = photos::open_storage(self.from_photos.as_ref(), "--from-photos", &self.from)?;
        let target = photos::open_storage(self.to_photos.as_ref(), "--to-photos", &self.to)?;
        if photos.is_empty() {
            return Ok(None);
        }
        let (Some(source), Some(target)) = (source, target) else {
            // One of the databases has no storage, or neither has one.
            let count = super::output::counted(photos.len() as u64, "photo");
            return Ok(Some(format!(
                "The files of {count} were not copied; copy their folder, and name it with --photos."
            )));
        };
        if source.is_same_as(&target) {
            return Ok(None);
        }

        let copied_files = photo_files::copy_files(source, target, photos)?;
        let copied_photos = super::output::counted(copied_files.count, "photo");
        if copied_files.incomplete.is_empty() {
            return Ok(Some(format!("Copied the files of {copied_photos}.")));
        }
        let missing_photos = super::output::counted(copied_files.incomplete.len() as u64, "photo");
        Ok(Some(format!(
            "Copied the files of {copied_photos}; those of {missing_photos} are missing."
        )))
    }

    /// Whether `--from` and `--to` name the same database, even if two paths lead to the same file.
    fn copies_onto_itself(&self) -> bool {
        if self.from == self.to {
            return true;
        }
        let (DatabaseUrl::Sqlite(from), DatabaseUrl::Sqlite(to)) = (&self.from, &self.to) else {
            return false;
        };
        match (from.canonicalize(), to.canonicalize()) {
            (Ok(from_path), Ok(to_path)) => from_path == to_path,
            // A file that does not exist yet is another one.
            _ => false,
        }
    }
}

fn copy(from: &mut dyn Snapshot, to: &mut dyn Load, with_contacts: bool) -> anyhow::Result<Copied> {
    let mut copied_rows = Copied {
        keys: copy_table(&bulk::KEYS, from, to)?,
        ..Copied::default()
    };
    let mut added = Ok(());
    let fields = from.fields()?;
    copied_rows.fields = fields.all().len() as u64;
    // Until all animals are there, so that their unique values are copied as they are.
    to.set_fields(&[])?;
    from.visit_requests(&mut |request| {
        copied_rows.requests += 1;
        added = to.add_request(&request).map_err(anyhow::Error::from);
        continue_if_ok(&added)
    })?;
    added?;

    let mut progress = Progress::of_animals("Copying", from.count_pets(None)?);
    let mut added = Ok(());
    from.visit_resources(&mut |mut resource| {
        if !with_contacts {
            resource.drop_contact();
        }
        match &resource {
            Resource::Pet(pet) => {
                progress.animal();
                copied_rows
                    .photos
                    .extend(pet.photos.all().iter().map(|photo| photo.id));
                copied_rows.animals += 1;
            }
            Resource::Order(_) => copied_rows.orders += 1,
            Resource::Category(_) => copied_rows.categories += 1,
            Resource::Note(_) => copied_rows.notes += 1,
        }
        added = to.add(&resource).map_err(anyhow::Error::from);
        continue_if_ok(&added)
    })?;
    added?;
    to.set_fields(fields.all())?;
    to.set_profile(&from.profile()?)?;
    copy_table(&bulk::LOGOS, from, to)?;
    copy_table(&bulk::UNIQUE_VALUES, from, to)?;
    for (table, rows) in bulk::TABLES.iter().zip(&mut copied_rows.rows) {
        *rows = copy_table(table, from, to)?;
    }
    to.continue_after(from.last_ids()?)?;
    to.continue_log()?;
    Ok(copied_rows)
}

/// Copies the rows of a table as they are, and returns their number.
fn copy_table(
    table: &'static CopiedTable,
    from: &mut dyn Snapshot,
    to: &mut dyn Load,
) -> anyhow::Result<u64> {
    let mut rows = 0;
    let mut added = Ok(());
    from.visit_rows(table, &mut |row| {
        rows += 1;
        added = to.add_row(table, row).map_err(anyhow::Error::from);
        continue_if_ok(&added)
    })?;
    added.map(|()| rows)
}
