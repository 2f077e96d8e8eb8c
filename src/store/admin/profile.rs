//! The profile of the store.

use futures_util::FutureExt;

use super::{
    Database, Sql, nothing, promise,
    requests::{self, Written},
};
use crate::{
    domain::{
        StoredResponse, WriteContext,
        store_area::{Profile, ProfileDecision},
    },
    json,
    store::{StoreError, columns::Columns},
};

const READ: &str = "SELECT members, version FROM profile";
/// One change after the other: each was decided with the profile as it was.
const WRITE: &str = "UPDATE profile SET members = $1, version = $2 WHERE version = $3";

promise! {
/// Stores what the store says about itself.
StoreProfile {
    /// The profile. It exists from the beginning.
    async fn profile(&self) -> Profile {
        self.read((), |on, ()| read(on).boxed()).await
    }

    /// Makes a change, records its act, and remembers the response if the client may repeat the
    /// request. [`Written::Stale`] if the profile has changed since the change was decided.
    async fn write_profile(
        &self,
        decision: ProfileDecision,
        response: StoredResponse,
        context: WriteContext,
    ) -> Written {
        if decision.act.is_some() {
            self.number_changes().await?;
        }
        let written = self.once(
            (decision, response, context),
            |on, (decision, response, context)| write(on, decision, response, context).boxed(),
            nothing,
        );
        Ok(written.await?.err().unwrap_or(Written::Done))
    }
}
}

pub(in crate::store) async fn read<S: Sql>(on: &mut S) -> Result<Profile, S::Error> {
    let row = on.row(READ, &[]).await?.ok_or_else(S::no_row)?;
    let version = row.value(1)?;
    row.parsed(0, |text| json::stored_profile(text, version))
}

async fn write<S: Sql>(
    on: &mut S,
    ProfileDecision { profile, act }: &ProfileDecision,
    response: &StoredResponse,
    context: &WriteContext,
) -> Result<Result<i64, Written>, S::Error> {
    if let Some(known) = requests::recalled(on, context).await? {
        return Ok(Err(known));
    }
    if act.is_some() && put(on, profile, profile.version - 1).await? != 1 {
        return Ok(Err(Written::Stale));
    }
    requests::finish(on, act.as_ref(), response, context).await
}

/// Replaces the profile, if it says nothing. Returns whether it did.
pub(in crate::store) async fn fill<S: Sql>(on: &mut S, by: &Profile) -> Result<bool, S::Error> {
    let present = read(on).await?;
    if !present.is_empty() {
        return Ok(false);
    }
    // Nobody has seen this version.
    let version = by.version.max(present.version + 1);
    Ok(put(on, &Profile { version, ..by.clone() }, present.version).await? == 1)
}

/// Writes the profile, if the one in the store has this version. Returns how many rows.
async fn put<S: Sql>(on: &mut S, profile: &Profile, seen: i64) -> Result<u64, S::Error> {
    on.execute(WRITE, &[&json::store_profile(profile), &profile.version, &seen]).await
}
