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
const FORGET: &str = "DELETE FROM photo_orphans WHERE id = $1";

/// What was found in the place of the files.
struct Found {
    shard: u8,
    present: Vec<PhotoId>,
    now: Timestamp,
    until: Timestamp,
}

promise! {
/// Knows which files the photos of all animals need, withdrawn or not.
PhotoFiles {
    /// The incarnation of the database, which no copy of it has: that of a backup, of a dump, or of a
    /// template. Processes on one database have the same, also after a failover to a standby.
    async fn incarnation(&self) -> String {
        self.read((), |connection, ()| incarnation(connection).boxed()).await
    }

    /// The photos whose identifiers begin with this byte, in their order.
    async fn photos_in(&self, shard: u8) -> Vec<PhotoId> {
        self.read(shard, |connection, shard| photos(connection, *shard).boxed()).await
    }

    /// Notes which files with identifiers that begin with this byte no photo has, at `now`, of all
    /// `present` ones. Returns those that were noted at `until` or before, and that no photo has.
    async fn note_orphans(
        &self,
        shard: u8,
        present: Vec<PhotoId>,
        now: Timestamp,
        until: Timestamp,
    ) -> Vec<PhotoId> {
        let found = Found { shard, present, now, until };
        self.write(found, |connection, found| note(connection, found).boxed()).await
    }
}
}

async fn incarnation<S: Sql>(connection: &mut S) -> Result<String, S::Error> {
    let row = connection
        .row(S::INCARNATION, &[])
        .await?
        .ok_or_else(S::no_row)?;
    row.parsed(0, S::incarnation_from)
}

/// The lowest text of an identifier that begins with this byte, and a text above all of them.
fn bounds(shard: u8) -> [String; 2] {
    let above = shard
        .checked_add(1)
        .map_or("g".to_owned(), |next| format!("{next:02x}"));
    [format!("{shard:02x}"), above]
}

async fn photos<S: Sql>(connection: &mut S, shard: u8) -> Result<Vec<PhotoId>, S::Error> {
    let [from, to] = bounds(shard);
    let rows = connection.rows(PHOTOS, &[&from, &to]).await?;
    rows.iter()
        .map(|row| row.parsed(0, PhotoId::parse))
        .collect()
}

async fn note<S: Sql>(connection: &mut S, found: &Found) -> Result<Vec<PhotoId>, S::Error> {
    let &Found {
        shard,
        ref present,
        now,
        until,
    } = found;
    let [from, to] = bounds(shard);
    let needed: BTreeSet<PhotoId> = photos(connection, shard).await?.into_iter().collect();
    let orphans: BTreeSet<PhotoId> = present
        .iter()
        .copied()
        .filter(|id| !needed.contains(id))
        .collect();
    let mut due = Vec::new();
    let mut noted = BTreeSet::new();
    let mut gone: Vec<Values<'_>> = Vec::new();
    for row in &connection.rows(ORPHANS, &[&from, &to]).await? {
        let (id, since) = (row.parsed(0, PhotoId::parse)?, row.time(1)?);
        if !orphans.contains(&id) {
            gone.push(values![id.to_string()]);
        } else if since <= until {
            due.push(id);
        }
        noted.insert(id);
    }
    let new = orphans.difference(&noted);
    let new = new
        .map(|id| values![id.to_string(), now.as_millisecond()])
        .collect::<Vec<_>>();
    if !gone.is_empty() {
        connection.execute_each(FORGET, gone).await?;
    }
    if !new.is_empty() {
        connection.execute_each(NOTE, new).await?;
    }
    Ok(due)
}
