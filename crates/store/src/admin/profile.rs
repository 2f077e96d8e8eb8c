//! The profile of the store.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{FirstStep, Logo, Profile, ProfileDecision},
};
use petstore_formats::json;

use super::{
    Database, Parameter, Sql, promise,
    requests::{self, WriteOutcome},
    values,
};
use crate::{StoreError, columns::Columns};

const READ: &str = "SELECT members, version, logo FROM profile";
/// One change after the other: each was decided with the profile as it was.
const WRITE: &str = "UPDATE profile SET members = $1, version = $2, logo = $4
    WHERE version = $3";

const FIRST_STEPS: &str = "SELECT first_steps FROM profile";
const NOTE_STEP: &str = "UPDATE profile SET first_steps = first_steps || ' ' || $1
    WHERE first_steps NOT LIKE '%' || $1 || '%'";

const LOGO: &str = "SELECT png, replaced_at IS NULL FROM logos
    WHERE name = $1 AND (replaced_at IS NULL OR replaced_at > $2)";
const REPLACE_LOGO: &str =
    "UPDATE logos SET replaced_at = $1 WHERE replaced_at IS NULL AND name <> coalesce($2, '')";
const ADD_LOGO: &str = "INSERT INTO logos (name, png) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET replaced_at = NULL";
/// The number is bounded, however often somebody changes the logo.
const FORGET_LOGOS: &str = "DELETE FROM logos WHERE replaced_at <= $1
    OR replaced_at IS NOT NULL AND name NOT IN (SELECT name FROM logos
        WHERE replaced_at IS NOT NULL ORDER BY replaced_at DESC LIMIT 8)";

/// How long the file of a former logo stays, in milliseconds: pages are cached.
const REPLACED_FOR: i64 = 24 * 60 * 60 * 1000;

promise! {
/// Stores what the store says about itself.
StoreProfile {
    /// The profile. It exists from the beginning.
    async fn profile(&self) -> Profile {
        self.read((), |connection, ()| read(connection).boxed()).await
    }

    /// The file of this logo, and whether it is that of the store. One that was replaced has a file for
    /// a day.
    async fn logo(&self, logo: Logo, now: Timestamp) -> Option<(Vec<u8>, bool)> {
        let values = values![logo.to_string(), now.as_millisecond() - REPLACED_FOR];
        self.find(LOGO, values, |row| Ok((row.value(0)?, row.value(1)?))).await
    }

    /// The first steps that were noted, as words.
    async fn first_steps(&self) -> String {
        let found = self.find(FIRST_STEPS, values![], |row| row.value(0)).await?;
        Ok(found.unwrap_or_default())
    }

    /// Notes that a first step is done.
    async fn note_step(&self, step: FirstStep) -> () {
        self.write(step, |connection, step| note_step(connection, *step).boxed()).await
    }

    /// Makes a change, records its act, and remembers the response if the client may repeat the
    /// request. [`WriteOutcome::Stale`] if the profile has changed since the change was decided.
    async fn write_profile(
        &self,
        decision: ProfileDecision,
        response: StoredResponse,
        context: WriteContext,
    ) -> WriteOutcome {
        let ProfileDecision { profile, png, act } = decision;
        let change = act.is_some().then_some((profile, png, context.now.as_millisecond()));
        requests::administer(self, change, (act, response, context), |connection, change| {
            write(connection, change.as_ref()).boxed()
        })
        .await
    }
}
}

pub async fn read<S: Sql>(connection: &mut S) -> Result<Profile, S::Error> {
    let row = connection.row(READ, &[]).await?.ok_or_else(S::no_row)?;
    let version = row.value(1)?;
    let profile = row.parsed(0, |text| json::stored_profile(text, version))?;
    Ok(Profile {
        logo: row.optional_parsed(2, Logo::parse)?,
        ..profile
    })
}

pub async fn note_step<S: Sql>(connection: &mut S, step: FirstStep) -> Result<(), S::Error> {
    connection
        .execute(NOTE_STEP, &[&step.as_str()])
        .await
        .map(drop)
}

/// Writes a profile and the file of its logo, at a time in milliseconds.
async fn write<S: Sql>(
    connection: &mut S,
    change: Option<&(Profile, Option<Vec<u8>>, i64)>,
) -> Result<Option<WriteOutcome>, S::Error> {
    let Some((profile, png, now)) = change else {
        return Ok(None);
    };
    if put(connection, profile, profile.version - 1).await? != 1 {
        return Ok(Some(WriteOutcome::Stale));
    }
    let name = profile.logo.map(|logo| logo.to_string());
    connection.execute(REPLACE_LOGO, &[now, &name]).await?;
    if png.is_some() {
        connection.execute(ADD_LOGO, &[&name, png]).await?;
    }
    connection
        .execute(FORGET_LOGOS, &[&(now - REPLACED_FOR)])
        .await?;
    Ok(None)
}

/// Replaces the profile, if it says nothing. Returns whether it did. The file of its logo follows.
pub async fn fill<S: Sql>(connection: &mut S, by: &Profile) -> Result<bool, S::Error> {
    let present = read(connection).await?;
    if !present.is_empty() {
        return Ok(false);
    }
    let logo = by.logo.map(|logo| logo.to_string());
    connection
        .execute("DELETE FROM logos WHERE name = $1", &[&logo])
        .await?;
    // Nobody has seen this version.
    let version = by.version.max(present.version + 1);
    Ok(put(
        connection,
        &Profile {
            version,
            ..by.clone()
        },
        present.version,
    )
    .await?
        == 1)
}

/// Writes the profile, if the one in the store has this version. Returns how many rows.
async fn put<S: Sql>(connection: &mut S, profile: &Profile, seen: i64) -> Result<u64, S::Error> {
    let (members, logo) = (
        json::store_profile(profile),
        profile.logo.map(|logo| logo.to_string()),
    );
    connection
        .execute(WRITE, &[&members, &profile.version, &seen, &logo])
        .await
}
