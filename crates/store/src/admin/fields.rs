//! The definitions of the fields that describe animals.

use futures_util::FutureExt;
use petstore_domain::{
    PetId, StoredResponse, WriteContext,
    store_area::{
        Act, Choices, FieldChange, FieldDefinition, FieldName, FieldSet, Label, UniqueKey,
        UniqueValueOwner,
    },
};

use super::{
    Database, NO_RESULT, Parameter, Sql, Values, WorkOutcome, no_result,
    requests::{self, Administration, WriteOutcome},
    store_trait, values,
};
use crate::{
    StoreError,
    columns::{Cell, Columns},
};

/// Selects all fields, each with the version of the whole set. If there are no fields, the only row
/// has the version and a null field. [`read_field_set`] reads the columns by number, from 0.
pub const LIST: &str = "SELECT field_state.version, name, label, kind, choices,
        is_public, is_unique, position, fields.version, examined, choice_labels
    FROM field_state LEFT JOIN fields ON TRUE";
/// Increments the common version of all fields. Affects no row if that version is no longer $1, the
/// version that the decision was based on.
const BUMP_VERSION: &str = "UPDATE field_state SET version = version + 1 WHERE version = $1";
/// Adds a field, or replaces the field with the same name.
const PUT_FIELD: &str = "INSERT INTO fields
        (name, label, kind, choices, is_public, is_unique, position, version, choice_labels)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (name) DO UPDATE SET label = excluded.label, kind = excluded.kind,
        choices = excluded.choices, is_public = excluded.is_public, is_unique = excluded.is_unique,
        position = excluded.position, version = excluded.version,
        choice_labels = excluded.choice_labels";
/// Selects the animals that own the value $2 of the unique field $1.
const OWNERS: &str =
    "SELECT pet_id FROM unique_values WHERE field = $1 AND key = $2 ORDER BY pet_id";
/// Selects at most $1 animals that have a value of a unique field in common with another animal.
pub const SHARED: &str =
    "SELECT field, key, pet_id FROM shared_values ORDER BY field, key, pet_id LIMIT $1";
/// The maximum number of animals that [`Fields::shared_values`] returns.
const MAX_SHARING_ANIMALS: i64 = 40;
/// Deletes all fields, so that others can replace them.
pub const CLEAR: &str = "DELETE FROM fields; UPDATE field_state SET version = version + 1";
/// Deletes the field $1.
const DELETE: &str = "DELETE FROM fields WHERE name = $1";
/// Records that the examination of the field $1 began at the version $2 of all fields.
const MARK_EXAMINED: &str = "UPDATE fields SET examined = $2 WHERE name = $1";
/// Ends all examinations, because values of any field may have been written.
pub const END_ALL_EXAMINATIONS: &str =
    "UPDATE fields SET examined = NULL WHERE examined IS NOT NULL";
/// Ends the examination of the field $1 that began at the version $2. Affects no row if a value was
/// written since, because that has already ended it.
const END_EXAMINATION: &str = "UPDATE fields SET examined = NULL WHERE name = $1 AND examined = $2";

store_trait! {
/// Stores the definitions of the fields that describe animals.
Fields {
    /// Reads all field definitions.
    async fn fields(&self) -> Result<FieldSet, StoreError> {
        self.read((), |connection, ()| read_fields(connection).boxed()).await
    }

    /// Reads the animals in the catalogue that have a unique value. There is at most one, except
    /// for the duplicates that [`Self::shared_values`] explains.
    async fn owners(&self, key: UniqueKey) -> Result<Vec<PetId>, StoreError> {
        self.list(OWNERS, values![key.field, key.text], |row| PetId::read(row, 0)).await
    }

    /// Reads the first animals that share a unique value with another animal. Animals with the same
    /// value are adjacent. They are duplicates that a migration kept: earlier releases compared
    /// values with their separators, and so accepted values that count as equal now.
    async fn shared_values(&self) -> Result<Vec<UniqueValueOwner>, StoreError> {
        self.list(SHARED, values![MAX_SHARING_ANIMALS], read_owner).await
    }

    /// Begins to examine whether a field is in use, and increments the version of the fields.
    /// Returns `false`, without a change, if any field has changed since `seen_version`.
    ///
    /// After this call, the caller looks for values with [`crate::Lists::has_values`]. Any
    /// transaction that writes a value of the field ends the examination. If no value was found,
    /// the field is therefore unused as long as the examination goes on. If it has ended,
    /// [`Self::write_fields`] returns [`WriteOutcome::Stale`].
    async fn examine_field(&self, name: FieldName, seen_version: i64) -> Result<bool, StoreError> {
        let result = self.write_once(
            (name, seen_version),
            |connection, (name, seen_version)| begin_examination(connection, name, *seen_version).boxed(),
            no_result,
        );
        Ok(result.await?.is_done())
    }

    /// Writes changes atomically, records the acts, and remembers the response if the request has
    /// an idempotency key. Returns [`WriteOutcome::Stale`] if any field has changed since the
    /// decision, or if a field that must be unused has got a value.
    ///
    /// Each change increments the version, and the next one must have seen the new version. If
    /// there are several changes, none may have [`FieldChange::must_be_unused`]: the examination of
    /// a field must have begun at exactly the version that the change has seen.
    async fn write_fields(
        &self,
        changes: Vec<FieldChange>,
        acts: Vec<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<WriteOutcome, StoreError> {
        let administration = Administration { acts, response, context };
        requests::administer(self, changes, administration, |connection, changes| {
            write_changes(connection, changes).boxed()
        })
        .await
    }
}
}

/// Reads all field definitions.
pub async fn read_fields<S: Sql>(connection: &mut S) -> Result<FieldSet, S::Error> {
    read_field_set(&connection.rows(LIST, &[]).await?)
}

/// Reads a row of [`SHARED`].
pub(crate) fn read_owner<R: Columns>(row: &R) -> Result<UniqueValueOwner, R::Error> {
    let key = UniqueKey {
        field: row.value(0)?,
        text: row.value(1)?,
    };
    Ok(UniqueValueOwner {
        key,
        pet: PetId::read(row, 2)?,
    })
}

/// Reads the fields in the rows of [`LIST`].
pub fn read_field_set<R: Columns>(rows: &[R]) -> Result<FieldSet, R::Error> {
    // There is always a first row: it has the version even if there are no fields.
    let version = match rows.first() {
        Some(row) => row.value(0)?,
        None => 0,
    };
    let mut fields = Vec::with_capacity(rows.len());
    let mut examined_names = Vec::new();
    for row in rows {
        let Some(field) = read_field(row)? else {
            continue;
        };
        let examined: Option<i64> = row.value(9)?;
        if examined.is_some() {
            examined_names.push(field.name.clone());
        }
        fields.push(field);
    }
    Ok(FieldSet::new(version, fields, examined_names))
}

/// Reads a field from a row of [`LIST`]. Returns `None` if there are no fields, so that the row has
/// only the version.
fn read_field<R: Columns>(row: &R) -> Result<Option<FieldDefinition>, R::Error> {
    let Some(name) = row.optional_parsed(1, FieldName::new)? else {
        return Ok(None);
    };
    Ok(Some(FieldDefinition {
        name,
        label: row.parsed(2, |text| Label::new(text.to_owned()))?,
        kind: row.parsed(3, |kind| kind.parse().ok())?,
        choices: read_choices(row)?,
        is_public: row.value::<i64>(5)? != 0,
        is_unique: row.value::<i64>(6)? != 0,
        position: row.value(7)?,
        version: row.value(8)?,
    }))
}

/// Reads the choices of a field with their labels from a row of [`LIST`]. Returns `None` if the
/// field has no choices.
fn read_choices<R: Columns>(row: &R) -> Result<Option<Choices>, R::Error> {
    let labels = row.optional_parsed(10, |text| serde_json::from_str(text).ok())?;
    row.optional_parsed(4, |text| {
        let values = serde_json::from_str(text).ok()?;
        Choices::from_stored(values, labels.unwrap_or_default())
    })
}

/// Begins the examination of a field. See [`Fields::examine_field`].
async fn begin_examination<S: Sql>(
    connection: &mut S,
    name: &FieldName,
    seen_version: i64,
) -> Result<WorkOutcome<i64, ()>, S::Error> {
    let updated_count = connection.execute(BUMP_VERSION, &[&seen_version]).await?;
    if updated_count == 0 {
        return Ok(WorkOutcome::Refused(()));
    }
    let new_version = seen_version + 1;
    connection
        .execute(MARK_EXAMINED, &[&name.as_str(), &new_version])
        .await?;
    Ok(WorkOutcome::Done(NO_RESULT))
}

/// Writes the changes in order. Returns [`WriteOutcome::Done`], or [`WriteOutcome::Stale`] for the
/// reasons that [`Fields::write_fields`] gives.
async fn write_changes<S: Sql>(
    connection: &mut S,
    changes: &[FieldChange],
) -> Result<WriteOutcome, S::Error> {
    for FieldChange {
        seen_version,
        name,
        after,
        must_be_unused,
    } in changes
    {
        let name = name.as_str();
        let updated_count = connection.execute(BUMP_VERSION, &[seen_version]).await?;
        if updated_count == 0 {
            return Ok(WriteOutcome::Stale);
        }
        if *must_be_unused {
            let ended_count = connection
                .execute(END_EXAMINATION, &[&name, seen_version])
                .await?;
            // A transaction that wrote a value has already ended the examination.
            if ended_count == 0 {
                return Ok(WriteOutcome::Stale);
            }
        }
        match after {
            Some(field) => save_field(connection, field).await?,
            None => {
                connection.execute(DELETE, &[&name]).await?;
            }
        }
    }
    Ok(WriteOutcome::Done)
}

/// Adds a field, or replaces the field with the same name.
pub async fn save_field<S: Sql>(
    connection: &mut S,
    field: &FieldDefinition,
) -> Result<(), S::Error> {
    let choices = field.choices.as_ref();
    let choices_json = choices.map(|choices| serde_json::json!(choices.values()).to_string());
    let labels_json = match choices.map(Choices::labels) {
        Some(labels) if !labels.is_empty() => Some(serde_json::json!(labels).to_string()),
        _ => None,
    };

    // The values are in the order of the columns in `PUT_FIELD`.
    let values: Values<'_> = values![
        field.name.as_str(),
        field.label.as_str(),
        field.kind.as_str(),
        choices_json,
        i64::from(field.is_public),
        i64::from(field.is_unique),
        field.position,
        field.version,
        labels_json
    ];
    let parameters: Vec<&dyn Parameter> = values.iter().map(|value| &**value).collect();
    connection.execute(PUT_FIELD, &parameters).await?;
    Ok(())
}
