//! The profile of the store: what the public learns about it, and its logo.

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{ContractText, FirstStep, Logo, Profile, ProfileDecision, StoreTimeZone},
};
use petstore_formats::json;

use super::{
    Database, Parameter, Sql,
    requests::{self, Administration, WriteOutcome},
    store_trait, values,
};
use crate::{StoreError, columns::Columns};

/// Selects the profile. The column `members` has the members of the profile that have no column of
/// their own, as JSON.
const READ: &str = "SELECT members, version, logo, time_zone, contract FROM profile";
/// Writes the profile with the new version $2. Writes nothing unless the present version is $3,
/// against which the change was decided.
const WRITE: &str =
    "UPDATE profile SET members = $1, version = $2, logo = $4, time_zone = $5, contract = $6
    WHERE version = $3";

/// Selects the names of the completed first steps of the setup, separated by spaces.
const FIRST_STEPS: &str = "SELECT first_steps FROM profile";
const NOTE_STEP: &str = "UPDATE profile SET first_steps = first_steps || ' ' || $1
    WHERE first_steps NOT LIKE '%' || $1 || '%'";

/// Selects the file of the logo $1 if it is the present one, or was replaced after $2.
const LOGO: &str = "SELECT png, replaced_at IS NULL FROM logos
    WHERE name = $1 AND (replaced_at IS NULL OR replaced_at > $2)";
/// Records that the present logo was replaced at $1, unless it is the logo $2.
const REPLACE_LOGO: &str =
    "UPDATE logos SET replaced_at = $1 WHERE replaced_at IS NULL AND name <> coalesce($2, '')";
/// Adds the file of the present logo. If the store has had the same logo before, its old row
/// becomes the present one.
const ADD_LOGO: &str = "INSERT INTO logos (name, png) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET replaced_at = NULL";
const DELETE_LOGO: &str = "DELETE FROM logos WHERE name = $1";
/// Deletes the logos that were replaced at or before $1. Also deletes all replaced logos but the
/// newest 8, so that frequent changes of the logo cannot fill the disk.
const FORGET_LOGOS: &str = "DELETE FROM logos WHERE replaced_at <= $1
    OR replaced_at IS NOT NULL AND name NOT IN (SELECT name FROM logos
        WHERE replaced_at IS NOT NULL ORDER BY replaced_at DESC LIMIT 8)";

/// The time for which the file of a replaced logo is kept, in milliseconds: a day, because cached
/// pages still refer to it.
const REPLACED_LOGO_LIFETIME_MS: i64 = 24 * 60 * 60 * 1000;

/// The file of a logo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLogo {
    /// The file, in the format PNG.
    pub png: Vec<u8>,
    /// Whether it is the present logo of the store, and not a replaced one.
    pub is_present: bool,
}

/// A profile that replaces the present one.
struct ProfileChange {
    profile: Profile,
    /// The file of the logo, if the logo changes.
    png: Option<Vec<u8>>,
    /// The time in milliseconds.
    now: i64,
}

store_trait! {
/// Stores the profile of the store, with its logo.
StoreProfile {
    /// Reads the profile. Every database has one.
    async fn profile(&self) -> Result<Profile, StoreError> {
        self.read((), |connection, ()| read_profile(connection).boxed()).await
    }

    /// Reads the file of a logo: the present one, or one that was replaced less than a day ago.
    async fn logo(&self, logo: Logo, now: Timestamp) -> Result<Option<StoredLogo>, StoreError> {
        let oldest_replacement = now.as_millisecond() - REPLACED_LOGO_LIFETIME_MS;
        self.find(LOGO, values![logo.to_string(), oldest_replacement], read_logo).await
    }

    /// Reads the names of the completed first steps, separated by spaces.
    async fn first_steps(&self) -> Result<String, StoreError> {
        let steps = self.find(FIRST_STEPS, values![], |row| row.value(0)).await?;
        Ok(steps.unwrap_or_default())
    }

    /// Records that a first step of the setup is done.
    async fn note_step(&self, step: FirstStep) -> Result<(), StoreError> {
        self.write(step, |connection, step| note_step(connection, *step).boxed()).await
    }

    /// Writes a new profile, records the act, and remembers the response if the request has an
    /// idempotency key. Returns [`WriteOutcome::Stale`] if the profile has changed since the
    /// decision.
    async fn write_profile(
        &self,
        decision: ProfileDecision,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<WriteOutcome, StoreError> {
        let ProfileDecision { profile, png, act } = decision;
        // A decision without an act changes nothing.
        let change = if act.is_some() {
            Some(ProfileChange { profile, png, now: context.now.as_millisecond() })
        } else {
            None
        };
        let administration = Administration { acts: act.into_iter().collect(), response, context };
        requests::administer(self, change, administration, |connection, change| {
            write_change(connection, change.as_ref()).boxed()
        })
        .await
    }
}
}

/// Reads a row of [`LOGO`].
fn read_logo<R: Columns>(row: &R) -> Result<StoredLogo, R::Error> {
    Ok(StoredLogo {
        png: row.value(0)?,
        is_present: row.value(1)?,
    })
}

/// Reads the profile, without the file of its logo.
pub async fn read_profile<S: Sql>(connection: &mut S) -> Result<Profile, S::Error> {
    let row = connection.only_row(READ, &[]).await?;
    let version = row.value(1)?;
    let mut profile = row.parsed(0, |text| json::parse_stored_profile(text, version))?;
    profile.logo = row.optional_parsed(2, Logo::parse)?;
    // A later release may know more time zones. This release then falls back to days in UTC.
    profile.time_zone = row.text(3)?.and_then(StoreTimeZone::from_name);
    // The previous release writes no contract. A later release may allow texts that this release
    // rejects.
    let contract = row.text(4)?.map(str::to_owned);
    profile.contract = contract.and_then(ContractText::new);
    Ok(profile)
}

/// Records that a first step of the setup is done. Does nothing if it is recorded already.
pub async fn note_step<S: Sql>(connection: &mut S, step: FirstStep) -> Result<(), S::Error> {
    connection.execute(NOTE_STEP, &[&step.as_str()]).await?;
    Ok(())
}

/// Writes a profile and the file of its logo if there is a change. Returns [`WriteOutcome::Done`]
/// or [`WriteOutcome::Stale`].
async fn write_change<S: Sql>(
    connection: &mut S,
    change: Option<&ProfileChange>,
) -> Result<WriteOutcome, S::Error> {
    let Some(ProfileChange { profile, png, now }) = change else {
        return Ok(WriteOutcome::Done);
    };
    if !replace_profile(connection, profile, profile.version - 1).await? {
        return Ok(WriteOutcome::Stale);
    }

    let logo_name = profile.logo.map(|logo| logo.to_string());
    connection.execute(REPLACE_LOGO, &[now, &logo_name]).await?;
    if let Some(png) = png {
        connection.execute(ADD_LOGO, &[&logo_name, png]).await?;
    }
    let oldest_replacement = now - REPLACED_LOGO_LIFETIME_MS;
    connection
        .execute(FORGET_LOGOS, &[&oldest_replacement])
        .await?;
    Ok(WriteOutcome::Done)
}

/// Sets the profile to `new_profile`, unless the present profile has content. Returns whether the
/// profile was set. The caller must write the file of the logo afterwards.
pub async fn fill_profile<S: Sql>(
    connection: &mut S,
    new_profile: &Profile,
) -> Result<bool, S::Error> {
    let present = read_profile(connection).await?;
    if !present.is_empty() {
        return Ok(false);
    }
    let logo_name = new_profile.logo.map(|logo| logo.to_string());
    connection.execute(DELETE_LOGO, &[&logo_name]).await?;

    let mut profile = new_profile.clone();
    // Choose a version that no reader has seen with other content.
    profile.version = new_profile.version.max(present.version + 1);
    replace_profile(connection, &profile, present.version).await
}

/// Replaces the profile, unless its version is no longer `seen_version`. Returns whether the
/// profile was replaced.
async fn replace_profile<S: Sql>(
    connection: &mut S,
    profile: &Profile,
    seen_version: i64,
) -> Result<bool, S::Error> {
    let members = json::stored_profile_text(profile);
    let logo_name = profile.logo.map(|logo| logo.to_string());
    let zone_name = profile.time_zone.as_ref().map(StoreTimeZone::as_str);
    let contract = profile.contract.as_ref().map(ContractText::as_str);
    let values: [&dyn Parameter; 6] = [
        &members,
        &profile.version,
        &seen_version,
        &logo_name,
        &zone_name,
        &contract,
    ];
    let row_count = connection.execute(WRITE, &values).await?;
    Ok(row_count == 1)
}
