//! Fields, with which animals are described.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use futures_util::FutureExt;
use petstore_domain::{
    PetId, StoredResponse, WriteContext,
    store_area::{
        Act, Choices, FieldChange, FieldDefinition, FieldName, FieldSet, Label, Owner, UniqueKey,
    },
};

use super::{
    Database, Parameter, Sql, Values, nothing, promise,
    requests::{self, WriteOutcome},
    values,
};
use crate::{
    StoreError,
    columns::{Cell, Columns},
};

/// Each row has the version of all fields. The field is null if there is none.
pub const LIST: &str = "SELECT field_state.version, name, label, kind, choices,
        is_public, is_unique, position, fields.version, examined, choice_labels
    FROM field_state LEFT JOIN fields ON TRUE";
/// One change after the other: each was decided with all fields as they were.
const CHANGE: &str = "UPDATE field_state SET version = version + 1 WHERE version = $1";
pub const PUT: &str = "INSERT INTO fields
        (name, label, kind, choices, is_public, is_unique, position, version, choice_labels)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (name) DO UPDATE SET label = excluded.label, kind = excluded.kind,
        choices = excluded.choices, is_public = excluded.is_public, is_unique = excluded.is_unique,
        position = excluded.position, version = excluded.version,
        choice_labels = excluded.choice_labels";
const OWNERS: &str =
    "SELECT pet_id FROM unique_values WHERE field = $1 AND key = $2 ORDER BY pet_id";
/// At most $1 of the animals that have the value of a unique field together with another one.
pub const SHARED: &str =
    "SELECT field, key, pet_id FROM shared_values ORDER BY field, key, pet_id LIMIT $1";
/// How many of them [`Fields::shared_values`] has.
const SHOWN: i64 = 40;
/// Before all fields are put.
pub const CLEAR: &str = "DELETE FROM fields; UPDATE field_state SET version = version + 1";
const DELETE: &str = "DELETE FROM fields WHERE name = $1";
const EXAMINE: &str = "UPDATE fields SET examined = $2 WHERE name = $1";
/// Finds the field only if no value of it was written since then.
pub const USED: &str = "UPDATE fields SET examined = NULL WHERE examined IS NOT NULL";
const UNUSED: &str = "UPDATE fields SET examined = NULL WHERE name = $1 AND examined = $2";

promise! {
/// Stores the fields with which animals are described.
Fields {
    /// All fields.
    async fn fields(&self) -> FieldSet {
        self.read((), |connection, ()| list(connection).boxed()).await
    }

    /// The animals in the catalogue that have a unique value: one, or several of [`Self::shared_values`].
    async fn owners(&self, key: UniqueKey) -> Vec<PetId> {
        self.list(OWNERS, values![key.0, key.1], |row| PetId::read(row, 0)).await
    }

    /// The first animals that have a unique value together with another one, those of a value together. A
    /// migration found them when values began to be compared without separators.
    async fn shared_values(&self) -> Vec<Owner> {
        self.list(SHARED, values![SHOWN], owner).await
    }

    /// Begins to look for values of a field, unless any field has changed since `seen`. Afterwards,
    /// the fields have the next version, and each transaction that writes a value of this one says
    /// so. Returns whether it began.
    async fn examine_field(&self, name: FieldName, seen: i64) -> bool {
        let examined =
            self.once((name, seen), |connection, (name, seen)| examine(connection, name, *seen).boxed(), nothing);
        Ok(examined.await?.is_ok())
    }

    /// Makes changes, all or none, records the acts, and remembers the response if the client may
    /// repeat the request. Each change has seen the version that the change before it makes, and of several
    /// changes, none must be unused.
    /// [`WriteOutcome::Stale`] if any field has changed since the changes were decided, or if a
    /// value of a field was written although [`FieldChange::must_be_unused`].
    async fn write_fields(
        &self,
        changes: Vec<FieldChange>,
        acts: Vec<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> WriteOutcome {
        requests::administer(self, changes, (acts, response, context), |connection, changes| {
            write(connection, changes).boxed()
        })
        .await
    }
}
}

pub async fn list<S: Sql>(connection: &mut S) -> Result<FieldSet, S::Error> {
    set(&connection.rows(LIST, &[]).await?)
}

/// The animal in a row of [`SHARED`].
pub fn owner<R: Columns>(row: &R) -> Result<Owner, R::Error> {
    let text = |at| row.parsed(at, |text| Some(text.to_owned()));
    Ok(((text(0)?, text(1)?), PetId::read(row, 2)?))
}

/// The fields in the rows of [`LIST`].
pub fn set<R: Columns>(rows: &[R]) -> Result<FieldSet, R::Error> {
    let version = rows.first().map_or(Ok(0), |row| row.value(0))?;
    let (mut all, mut examined) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        let Some(field) = field(row)? else { continue };
        if row.value::<Option<i64>>(9)?.is_some() {
            examined.push(field.name.clone());
        }
        all.push(field);
    }
    Ok(FieldSet::new(version, all, examined))
}

/// The field in a row of [`LIST`], if it has one.
fn field<R: Columns>(row: &R) -> Result<Option<FieldDefinition>, R::Error> {
    let Some(name) = row.optional_parsed(1, FieldName::new)? else {
        return Ok(None);
    };
    let choices = |text: &str| Choices::new(serde_json::from_str(text).ok()?);
    let choices = row.optional_parsed(4, choices)?;
    let labels = row.optional_parsed(10, |text| serde_json::from_str(text).ok())?;
    // The release before changes choices without their labels, which may not fit to them after that.
    let choices = choices.map(|choices| {
        let labelled = labels.and_then(|labels| choices.clone().labelled(labels));
        labelled.unwrap_or(choices)
    });
    Ok(Some(FieldDefinition {
        name,
        label: row.parsed(2, |text| Label::new(text.to_owned()))?,
        kind: row.parsed(3, |kind| kind.parse().ok())?,
        choices,
        is_public: row.value::<i64>(5)? != 0,
        is_unique: row.value::<i64>(6)? != 0,
        position: row.value(7)?,
        version: row.value(8)?,
    }))
}

async fn examine<S: Sql>(
    connection: &mut S,
    name: &FieldName,
    seen: i64,
) -> Result<Result<i64, ()>, S::Error> {
    if connection.execute(CHANGE, &[&seen]).await? != 1 {
        return Ok(Err(()));
    }
    connection
        .execute(EXAMINE, &[&name.as_str(), &(seen + 1)])
        .await?;
    Ok(Ok(0))
}

/// Whether each change has seen the version that the change before it makes.
fn have_successive_versions(changes: &[FieldChange]) -> bool {
    changes
        .windows(2)
        .all(|pair| pair[1].seen == pair[0].seen + 1)
}

async fn write<S: Sql>(
    connection: &mut S,
    changes: &[FieldChange],
) -> Result<Option<WriteOutcome>, S::Error> {
    // What is not made is not rolled back, so this is known before anything is written.
    if !have_successive_versions(changes) {
        return Ok(Some(WriteOutcome::Stale));
    }
    for FieldChange {
        seen,
        name,
        after,
        must_be_unused,
    } in changes
    {
        if connection.execute(CHANGE, &[seen]).await? != 1
            || (*must_be_unused && connection.execute(UNUSED, &[&name.as_str(), seen]).await? != 1)
        {
            return Ok(Some(WriteOutcome::Stale));
        }
        match after {
            Some(after) => put(connection, after).await?,
            None => connection.execute(DELETE, &[&name.as_str()]).await?,
        };
    }
    Ok(None)
}

pub async fn put<S: Sql>(connection: &mut S, field: &FieldDefinition) -> Result<u64, S::Error> {
    let choices = field
        .choices
        .as_ref()
        .map(|of| serde_json::json!(of.all()).to_string());
    let labels = field
        .choices
        .as_ref()
        .map(Choices::labels)
        .filter(|labels| !labels.is_empty());
    let labels = labels.map(|labels| serde_json::json!(labels).to_string());
    let values: Values<'_> = values![
        field.name.as_str(),
        field.label.as_str(),
        field.kind.as_str(),
        choices,
        i64::from(field.is_public),
        i64::from(field.is_unique),
        field.position,
        field.version,
        labels
    ];
    connection
        .execute(
            PUT,
            &values.iter().map(|value| &**value).collect::<Vec<_>>(),
        )
        .await
}
