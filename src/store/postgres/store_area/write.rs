//! The statements for what commands changed.

use jiff::Timestamp;

use super::{
    super::{
        name_keys::StoredKeys,
        writes::{Value, Write, one_row, values},
    },
    state::Read,
};
use crate::{
    domain::store_area::{Category, Order, StorePet, Text},
    store::state::Versions,
};

const INSERT_PET: &str = "INSERT INTO pets
    (id, name, name_key, words, category_id, status, version, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const UPDATE_PET: &str = one_row!(
    "UPDATE pets SET name = $3, name_key = $4, words = $5, category_id = $6, status = $7,
        version = $8, updated_at = $9 WHERE id = $1 AND version = $2"
);
const UPDATE_STATUS: &str = one_row!(
    "UPDATE pets SET status = $3, version = $4, updated_at = $5 WHERE id = $1 AND version = $2"
);
const WITHDRAW: &str = "
    WITH gone AS (DELETE FROM pets WHERE id = $1 AND version = $2 RETURNING token), written AS (
        INSERT INTO withdrawn_pets (id, name, name_key, words, category_id, status, version,
            created_at, updated_at, withdrawn_at, reason, note, token)
        SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, token FROM gone RETURNING 1)
    SELECT 1 / count(*) FROM written";
const RESTORE: &str = "
    WITH back AS (DELETE FROM withdrawn_pets WHERE id = $1 AND version = $2 RETURNING token),
    written AS (
        INSERT INTO pets
            (id, name, name_key, words, category_id, status, version, created_at, updated_at, token)
        SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, token FROM back RETURNING 1)
    SELECT 1 / count(*) FROM written";
const INSERT_ORDER: &str = "INSERT INTO orders
    (id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const UPDATE_ORDER: &str = one_row!(
    "UPDATE orders SET status = $3, holds = $4, reference = $5, note = $6, reason = $7,
        expires_at = $8, closed_at = $9, version = $10
        WHERE id = $1 AND version = $2 AND holds = $11"
);
/// For a row that a batch read and does not write, so that it is still the same at the commit.
macro_rules! unchanged {
    ($table:literal) => {
        concat!(
            "WITH same AS (SELECT FROM ",
            $table,
            " WHERE id = $1 AND version = $2 FOR SHARE) SELECT 1 / count(*) FROM same"
        )
    };
}
const SAME_PET: &str = unchanged!("pets");
const SAME_ORDER: &str = unchanged!("orders");
const INSERT_CATEGORY: &str = "INSERT INTO categories (id, label, version) VALUES ($1, $2, $3)";
const UPDATE_CATEGORY: &str =
    one_row!("UPDATE categories SET label = $3, version = $4 WHERE id = $1 AND version = $2");
const DELETE_CATEGORY: &str = one_row!("DELETE FROM categories WHERE id = $1 AND version = $2");
/// The response to the request that added an animal in the previous release is made from the
/// animal, so it is kept before the first change.
const KEEP_RESPONSE: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT unconverted_requests.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests
    WHERE (caller, key) IN (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id = $1)
    ON CONFLICT (caller, key) DO NOTHING";

/// The differences between what was read and what the commands left. In ascending order of
/// identifier, animals first, so that two transactions cannot wait for each other.
///
/// A command of a batch that changes nothing depends on rows that the batch does not write. They
/// must not change before the others are written, or the batch would take effect at two moments.
pub(super) fn changes(Read { state, added_by_requests, .. }: Read, is_batch: bool) -> Vec<Write> {
    let mut writes = Vec::new();
    let must_stay = is_batch && state.is_changed();
    for (id, pet) in state.pets {
        if must_stay
            && pet.read == pet.now
            && let Some(StorePet { version, withdrawn: None, .. }) = pet.read
        {
            writes.push(Write { sql: SAME_PET, values: values![id.get(), version] });
            continue;
        }
        let is_first_change = pet.read.as_ref().is_some_and(|pet| pet.version == 1);
        if is_first_change && pet.read != pet.now && added_by_requests.contains(&id) {
            writes.push(Write { sql: KEEP_RESPONSE, values: values![id.get()] });
        }
        write_pet(pet, &mut writes);
    }
    // A new order has a higher identifier than the one that it replaces, which lets go first.
    for (id, of) in state.orders {
        match &of.read {
            Some(Order { version, .. }) if must_stay && of.read == of.now => {
                writes.push(Write { sql: SAME_ORDER, values: values![id.get(), *version] });
            }
            _ => writes.extend(order(of)),
        }
    }
    writes.extend(state.categories.into_values().filter_map(category));
    writes
}

fn write_pet(Versions { read, now }: Versions<StorePet>, writes: &mut Vec<Write>) {
    let Some(now) = now.filter(|now| read.as_ref() != Some(now)) else { return };
    let Some(mut read) = read else {
        writes.push(Write { sql: INSERT_PET, values: pet_values(&now) });
        return;
    };
    let id = now.id.get();
    let described = |pet: &StorePet| (pet.name.clone(), pet.category_id);
    if read.withdrawn.is_some() {
        let mut values = pet_values(&now);
        values.insert(1, Box::new(read.version));
        writes.push(Write { sql: RESTORE, values });
        read = StorePet { withdrawn: None, ..now.clone() };
    }
    if let Some(withdrawal) = &now.withdrawn {
        let mut values = pet_values(&now);
        values.insert(1, Box::new(read.version));
        values.extend(values![
            withdrawal.at.as_millisecond(),
            withdrawal.reason.as_str(),
            text(withdrawal.note.as_ref()),
        ]);
        writes.push(Write { sql: WITHDRAW, values });
    } else if described(&read) != described(&now) {
        let mut values = pet_values(&now);
        values.insert(1, Box::new(read.version));
        // An animal keeps the time of its creation.
        values.remove(8);
        writes.push(Write { sql: UPDATE_PET, values });
    } else if read.version != now.version {
        let values = values![
            id,
            read.version,
            now.status.as_str(),
            now.version,
            now.updated_at.map(Timestamp::as_millisecond),
        ];
        writes.push(Write { sql: UPDATE_STATUS, values });
    }
}

/// The values of the columns of an animal, in the order of [`INSERT_PET`].
fn pet_values(pet: &StorePet) -> Vec<Value> {
    let StoredKeys { name_key, words } = StoredKeys::of(pet.name.as_str());
    values![
        pet.id.get(),
        pet.name.as_str().to_owned(),
        name_key,
        words,
        pet.category_id,
        pet.status.as_str(),
        pet.version,
        pet.created_at.map(Timestamp::as_millisecond),
        pet.updated_at.map(Timestamp::as_millisecond),
    ]
}

fn order(Versions { read, now }: Versions<Order>) -> Option<Write> {
    let now = now.filter(|now| read.as_ref() != Some(now))?;
    let (reference, note) = (text(now.reference.as_ref()), text(now.note.as_ref()));
    let reason = text(now.reason.as_ref());
    let expires_at = now.expires_at.map(Timestamp::as_millisecond);
    let closed_at = now.closed_at.map(Timestamp::as_millisecond);
    let (id, status) = (now.id.get(), now.status.as_str());
    Some(match read {
        None => Write {
            sql: INSERT_ORDER,
            values: values![
                id,
                now.pet_id.get(),
                status,
                now.holds,
                reference,
                note,
                reason,
                expires_at,
                now.created_at.as_millisecond(),
                closed_at,
                now.version,
            ],
        },
        Some(read) => Write {
            sql: UPDATE_ORDER,
            values: values![
                id,
                read.version,
                status,
                now.holds,
                reference,
                note,
                reason,
                expires_at,
                closed_at,
                now.version,
                // Can change without a new version.
                read.holds,
            ],
        },
    })
}

fn category(Versions { read, now }: Versions<Category>) -> Option<Write> {
    Some(match (read, now) {
        (None, Some(Category { id, label, version })) => {
            Write { sql: INSERT_CATEGORY, values: values![id, label.as_str().to_owned(), version] }
        }
        (Some(read), Some(now)) if read != now => Write {
            sql: UPDATE_CATEGORY,
            values: values![now.id, read.version, now.label.as_str().to_owned(), now.version],
        },
        (Some(read), None) => {
            Write { sql: DELETE_CATEGORY, values: values![read.id, read.version] }
        }
        (None, None) | (Some(_), Some(_)) => return None,
    })
}

fn text<const MAX: usize>(text: Option<&Text<MAX>>) -> Option<String> {
    text.map(|text| text.as_str().to_owned())
}
