//! The pagination cursors of the store area, which appear in `rel="next"` links.
//!
//! A cursor contains a byte that identifies the list, a hash of the filters of the walk ([`Walk`]), and a
//! position ([`Position`]). The format can change: a new format gets a new first byte.

use petstore_domain::{Problem, text::sealed};
use petstore_web::edge::ApiError;
use sha2::{Digest, Sha256};

// The first bytes of cursors, which identify the list. The cursors of the contract begin with 1, and the
// cursors of changes with 16.
pub(super) const PETS: u8 = 2;
pub(super) const ORDERS: u8 = 3;
pub(super) const CATEGORIES: u8 = 4;
pub(super) const AUDIT: u8 = 5;
pub(super) const WEBHOOKS: u8 = 6;
pub(super) const ATTEMPTS: u8 = 7;
pub(super) const NOTES: u8 = 8;

/// A walk: a client reads one list page by page, with the same filters for all pages. The cursors of a walk
/// are not valid for another list, or for other filters.
pub(super) struct Walk {
    /// One of the constants above, such as [`PETS`].
    list: u8,
    filter_hash: FilterHash,
}

/// The start of the hash of the filters. Eight bytes are enough to tell walks apart.
type FilterHash = [u8; 8];

/// A position in a list: the last element of the page before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The sort key of the element. It is empty if the list is sorted by id.
    pub(super) key: String,
    /// The id of the element.
    pub(super) id: i64,
}

/// A parsed cursor.
struct Cursor {
    list: u8,
    filter_hash: FilterHash,
    position: Position,
}

impl Walk {
    /// Returns a walk through `list` with these values of its filters. `None` is an absent filter.
    pub(super) fn new(list: u8, filters: &[Option<&str>]) -> Self {
        let mut hash = Sha256::new();
        for filter in filters {
            // An absent filter differs from an empty one: no filter has this length.
            let length = filter.map_or(usize::MAX, str::len);
            hash.update(length.to_be_bytes());
            hash.update(filter.unwrap_or_default());
        }
        let hash = hash.finalize();
        Self {
            list,
            filter_hash: std::array::from_fn(|index| hash[index]),
        }
    }

    /// Encodes the position after the element with this id, for a list that is sorted by id.
    pub(super) fn encode_id(&self, id: i64) -> String {
        self.encode("", id)
    }

    /// Encodes the position after the element with this id and this sort key.
    pub(super) fn encode(&self, key: &str, id: i64) -> String {
        sealed::encode(&[
            &[self.list],
            &self.filter_hash,
            &id.to_be_bytes(),
            key.as_bytes(),
        ])
    }

    /// Returns the id after which the page begins, for a list that is sorted by id. Returns `None` for the
    /// first page, which has no cursor. Fails with 400 if `parse_id` rejects the id, or if
    /// [`Self::decode`] fails.
    pub(super) fn id_before_page<T>(
        &self,
        cursor: Option<&str>,
        parse_id: fn(i64) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        let position = self.decode(cursor)?;
        parse_id(position.id).map(Some).ok_or_else(invalid)
    }

    /// Returns the position like [`Self::id_before_page`], for a list whose elements can have any integer as
    /// their id or number.
    pub(super) fn integer_before_page(
        &self,
        cursor: Option<&str>,
    ) -> Result<Option<i64>, ApiError> {
        self.id_before_page(cursor, Some)
    }

    /// Decodes a cursor into its position. Fails with 400 if the cursor is invalid, or belongs to another
    /// walk.
    pub(super) fn decode(&self, text: &str) -> Result<Position, ApiError> {
        let cursor = parse(text).ok_or_else(invalid)?;
        if cursor.list != self.list || cursor.filter_hash != self.filter_hash {
            let message = "cursor belongs to a list with other filters.";
            return Err(ApiError::new(Problem::InvalidCursor, message));
        }
        Ok(cursor.position)
    }
}

/// Returns the error for a cursor that the service did not issue.
pub(super) fn invalid() -> ApiError {
    let message = "cursor must be taken unchanged from the Link of an earlier page.";
    ApiError::new(Problem::InvalidCursor, message)
}

/// Parses a cursor. Returns `None` if it is malformed.
fn parse(text: &str) -> Option<Cursor> {
    let bytes = sealed::decode(text)?;
    let (&list, after_list) = bytes.split_first()?;
    let (&filter_hash, after_hash) = after_list.split_first_chunk()?;
    let (&id, key) = after_hash.split_first_chunk()?;
    let key = String::from_utf8(key.to_vec()).ok()?;
    // PostgreSQL would reject such a key.
    if key.contains('\0') {
        return None;
    }
    let id = i64::from_be_bytes(id);
    Some(Cursor {
        list,
        filter_hash,
        position: Position { key, id },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_is_valid_only_for_its_own_walk(
            list in PETS..=CATEGORIES,
            filters in proptest::collection::vec(proptest::option::of("[a-c]{0,2}"), 2),
            others in proptest::collection::vec(proptest::option::of("[a-c]{0,2}"), 2),
            key in "[^\0]{0,64}",
            id: i64,
        ) {
            let walk = |list, filters: &[Option<String>]| {
                Walk::new(list, &filters.iter().map(Option::as_deref).collect::<Vec<_>>())
            };
            let cursor = walk(list, &filters).encode(&key, id);
            prop_assert!(cursor.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
            prop_assert!(cursor.len() <= 600);
            let position = walk(list, &filters).decode(&cursor).ok();
            prop_assert_eq!(position, Some(Position { key, id }));
            prop_assert_eq!(walk(list, &others).decode(&cursor).is_ok(), filters == others);
            prop_assert!(walk(list % 3 + 2, &filters).decode(&cursor).is_err());
        }
    }

    #[test]
    fn a_key_with_u_0000_is_invalid() {
        let walk = Walk::new(PETS, &[]);
        assert!(walk.decode(&walk.encode("a\0", 7)).is_err());
    }
}
