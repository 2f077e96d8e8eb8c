//! The photos whose files must stay, and the files that no photo has.

use std::collections::BTreeSet;

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::store_area::PhotoId;

use super::{Database, Parameter, Sql, Values, promise, values};
use crate::{StoreError, columns::Columns};

const PHOTOS: &str = "SELECT id FROM photos WHERE id >= $1 AND id < $2 ORDER BY id";
const ORPHANS: &str = "SELECT id, since FROM photo_orphans WHERE id >= $1 AND id < $2";
const NOTE: &str = "INSERT INTO photo_orphans (id, since) VALUES ($1, $2)
    ON CONFLICT (id) DO NOTHING";
const FORGET_NOTE: &str = "DELETE FROM photo_orphans WHERE id = $1";
const LOST: &str = "SELECT id FROM lost_photos WHERE id >= $1 AND id < $2";
const FORGET_LOST: &str = "DELETE FROM lost_photos WHERE id = $1";

/// The files of one shard, as they were found in their place.
struct ShardFiles {
    /// The first byte of the identifiers.
    shard: u8,
    present: Vec<PhotoId>,
    /// The time at which the files were found.
    now: Timestamp,
    /// The last time of a note after which the file may be deleted.
    until: Timestamp,
}

promise! {
/// Knows which files the photos of all animals need, withdrawn or not.
PhotoFiles {
    /// Returns the incarnation of the database. A copy from a backup, a dump or a template has another one.
    /// Processes on one database have the same one, also after a failover to a standby.
    async fn incarnation(&self) -> String {
        self.read((), |connection, ()| read_incarnation(connection).boxed()).await
    }

    /// Reads the photos whose identifiers begin with the byte `shard`, in the order of their identifiers.
    async fn photos_in(&self, shard: u8) -> Vec<PhotoId> {
        self.read(shard, |connection, shard| read_photos(connection, *shard).boxed()).await
    }

    /// Notes at `now` which of the `present` files no photo has. Their identifiers begin with the byte `shard`. Returns
    /// the files that were noted at `until` or before, and that no photo has.
    async fn note_orphans(
        &self,
        shard: u8,
        present: Vec<PhotoId>,
        now: Timestamp,
        until: Timestamp,
    ) -> Vec<PhotoId> {
        let files = ShardFiles { shard, present, now, until };
        self.write(files, |connection, files| note_orphans(connection, files).boxed()).await
    }
}
}

async fn read_incarnation<S: Sql>(connection: &mut S) -> Result<String, S::Error> {
    let row = connection.only_row(S::INCARNATION, &[]).await?;
    row.parsed(0, S::incarnation_from)
}

/// The identifiers of a shard as text: from `start`, and before `end`.
struct ShardRange {
    start: String,
    end: String,
}

impl ShardRange {
    /// Returns the range of a shard: `0a` to `0b` for 10, and `ff` to `g` for 255.
    fn new(shard: u8) -> Self {
        let end = match shard.checked_add(1) {
            Some(next_shard) => format!("{next_shard:02x}"),
            None => "g".to_owned(),
        };
        Self {
            start: format!("{shard:02x}"),
            end,
        }
    }
}

async fn read_photos<S: Sql>(connection: &mut S, shard: u8) -> Result<Vec<PhotoId>, S::Error> {
    let range = ShardRange::new(shard);
    let rows = connection.rows(PHOTOS, &[&range.start, &range.end]).await?;
    rows.iter()
        .map(|row| row.parsed(0, PhotoId::parse))
        .collect()
}

/// Notes files that no photo has, and forgets the notes of others. Returns the files to delete. See
/// [`PhotoFiles::note_orphans`].
async fn note_orphans<S: Sql>(
    connection: &mut S,
    files: &ShardFiles,
) -> Result<Vec<PhotoId>, S::Error> {
    let &ShardFiles {
        shard,
        ref present,
        now,
        until,
    } = files;
    let needed_ids: BTreeSet<PhotoId> = read_photos(connection, shard).await?.into_iter().collect();
    let orphans: BTreeSet<PhotoId> = present
        .iter()
        .copied()
        .filter(|id| !needed_ids.contains(id))
        .collect();

    let mut due = Vec::new();
    let mut noted_ids = BTreeSet::new();
    let mut outdated_notes: Vec<Values<'_>> = Vec::new();
    let range = ShardRange::new(shard);
    for row in &connection
        .rows(ORPHANS, &[&range.start, &range.end])
        .await?
    {
        let id = row.parsed(0, PhotoId::parse)?;
        let since = row.time(1)?;
        if !orphans.contains(&id) {
            outdated_notes.push(values![id.to_string()]);
        } else if since <= until {
            due.push(id);
        }
        noted_ids.insert(id);
    }

    let mut new_notes: Vec<Values<'_>> = Vec::new();
    for id in orphans.difference(&noted_ids) {
        new_notes.push(values![id.to_string(), now.as_millisecond()]);
    }
    if !outdated_notes.is_empty() {
        connection.execute_each(FORGET_NOTE, outdated_notes).await?;
    }
    if !new_notes.is_empty() {
        connection.execute_each(NOTE, new_notes).await?;
    }
    forget_lost_photos(connection, &range, &orphans).await?;
    Ok(due)
}

/// Forgets the animals of lost photos whose files are gone, or that an animal has again.
async fn forget_lost_photos<S: Sql>(
    connection: &mut S,
    range: &ShardRange,
    orphans: &BTreeSet<PhotoId>,
) -> Result<(), S::Error> {
    let mut outdated: Vec<Values<'_>> = Vec::new();
    for row in &connection.rows(LOST, &[&range.start, &range.end]).await? {
        let id: PhotoId = row.parsed(0, PhotoId::parse)?;
        if !orphans.contains(&id) {
            outdated.push(values![id.to_string()]);
        }
    }
    if !outdated.is_empty() {
        connection.execute_each(FORGET_LOST, outdated).await?;
    }
    Ok(())
}
