//! Finds out which photo files are needed, and which are orphans and can be deleted.
//!
//! The files are divided into 256 shards, by the first byte of the identifier of the photo. A lost
//! photo is one that was removed from its animal, and whose files may still exist.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::store_area::PhotoId;

use super::{Database, Parameter, Sql, Values, store_trait, values};
use crate::{StoreError, columns::Columns};

const PHOTOS: &str = "SELECT id FROM photos WHERE id >= $1 AND id < $2 ORDER BY id";
const ORPHANS: &str = "SELECT id, since FROM photo_orphans WHERE id >= $1 AND id < $2";
/// Notes the file $1 as an orphan since $2, unless it is noted already.
const NOTE: &str = "INSERT INTO photo_orphans (id, since) VALUES ($1, $2)
    ON CONFLICT (id) DO NOTHING";
const FORGET_NOTE: &str = "DELETE FROM photo_orphans WHERE id = $1";
const LOST: &str = "SELECT id FROM lost_photos WHERE id >= $1 AND id < $2";
const FORGET_LOST: &str = "DELETE FROM lost_photos WHERE id = $1";

/// The photo files of one shard that exist on disk.
struct ShardFiles {
    shard: u8,
    present: Vec<PhotoId>,
    /// The time at which the files were listed.
    now: Timestamp,
    /// An orphan that was noted at or before this time may be deleted.
    noted_until: Timestamp,
}

/// The range of the identifiers in a shard, as text: from `start` (inclusive) to `end` (exclusive).
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

store_trait! {
/// Tracks which files the photos of all animals, withdrawn or not, need.
PhotoFiles {
    /// Returns the incarnation of the database: a text that differs between the database and its
    /// copies from a backup, a dump or a template. All processes on one database see the same
    /// incarnation, also after a failover to a standby.
    async fn incarnation(&self) -> Result<String, StoreError> {
        self.read((), |connection, ()| read_incarnation(connection).boxed()).await
    }

    /// Reads the photos whose identifiers begin with the byte `shard`, in ascending order.
    async fn photos_in(&self, shard: u8) -> Result<Vec<PhotoId>, StoreError> {
        self.read(shard, |connection, shard| read_photos(connection, *shard).boxed()).await
    }

    /// Notes which of the `present` files are orphans, which no photo needs. A new note gets the
    /// time `now`. Returns the files to delete: the orphans that were noted at or before `until`.
    /// The identifiers of all `present` files must begin with the byte `shard`.
    async fn note_orphans(
        &self,
        shard: u8,
        present: Vec<PhotoId>,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<PhotoId>, StoreError> {
        let files = ShardFiles { shard, present, now, noted_until: until };
        self.write(files, |connection, files| note_orphans(connection, files).boxed()).await
    }
}
}

/// Reads the incarnation of the database. See [`PhotoFiles::incarnation`].
async fn read_incarnation<S: Sql>(connection: &mut S) -> Result<String, S::Error> {
    let row = connection.only_row(S::INCARNATION, &[]).await?;
    row.parsed(0, S::incarnation_from)
}

/// Reads the photos of all animals whose identifiers are in a shard.
async fn read_photos<S: Sql>(connection: &mut S, shard: u8) -> Result<Vec<PhotoId>, S::Error> {
    let range = ShardRange::new(shard);
    let rows = connection.rows(PHOTOS, &[&range.start, &range.end]).await?;
    rows.iter()
        .map(|row| row.parsed(0, PhotoId::parse))
        .collect()
}

/// Updates the notes about the orphans of a shard, and returns the files to delete. See
/// [`PhotoFiles::note_orphans`].
async fn note_orphans<S: Sql>(
    connection: &mut S,
    files: &ShardFiles,
) -> Result<Vec<PhotoId>, S::Error> {
    let needed_ids: BTreeSet<PhotoId> = read_photos(connection, files.shard)
        .await?
        .into_iter()
        .collect();
    let orphans: BTreeSet<PhotoId> = files
        .present
        .iter()
        .copied()
        .filter(|id| !needed_ids.contains(id))
        .collect();

    let range = ShardRange::new(files.shard);
    // Only an orphan that an earlier call has noted can be deleted.
    let earlier_notes = read_notes(connection, &range).await?;
    update_notes(connection, &earlier_notes, &orphans, files.now).await?;
    // The record of a lost photo is needed only as long as its files are orphans.
    forget_lost_photos(connection, &range, &orphans).await?;

    let mut files_to_delete = Vec::new();
    for (id, since) in earlier_notes {
        if orphans.contains(&id) && since <= files.noted_until {
            files_to_delete.push(id);
        }
    }
    Ok(files_to_delete)
}

/// Notes new orphans at the time `now`, and deletes the notes of files that are no longer orphans.
async fn update_notes<S: Sql>(
    connection: &mut S,
    notes: &BTreeMap<PhotoId, Timestamp>,
    orphans: &BTreeSet<PhotoId>,
    now: Timestamp,
) -> Result<(), S::Error> {
    let mut outdated_notes: Vec<Values<'_>> = Vec::new();
    for id in notes.keys() {
        if !orphans.contains(id) {
            outdated_notes.push(values![id.to_string()]);
        }
    }
    let mut new_notes: Vec<Values<'_>> = Vec::new();
    for id in orphans {
        if !notes.contains_key(id) {
            new_notes.push(values![id.to_string(), now.as_millisecond()]);
        }
    }
    if !outdated_notes.is_empty() {
        connection.execute_each(FORGET_NOTE, outdated_notes).await?;
    }
    if !new_notes.is_empty() {
        connection.execute_each(NOTE, new_notes).await?;
    }
    Ok(())
}

/// Reads the files of a shard that are noted as orphans, each with the time of the note.
async fn read_notes<S: Sql>(
    connection: &mut S,
    range: &ShardRange,
) -> Result<BTreeMap<PhotoId, Timestamp>, S::Error> {
    let mut notes = BTreeMap::new();
    for row in &connection
        .rows(ORPHANS, &[&range.start, &range.end])
        .await?
    {
        notes.insert(row.parsed(0, PhotoId::parse)?, row.time(1)?);
    }
    Ok(notes)
}

/// Deletes the records of lost photos that are no longer needed, because the files of the photo are
/// gone or an animal has the photo again. Such a record says which animal the photo belonged to.
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
