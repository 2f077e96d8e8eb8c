//! The animals that became available again, for example because their order was cancelled.

use std::collections::HashSet;

use jiff::Timestamp;
use petstore_domain::{PetStatus, store_area::StorePet};
use petstore_store::{StoreError, StoreReader};

/// The number of the newest changes that are searched for animals that became available again. It
/// is limited because a store can have any number of changes.
const SEARCHED_CHANGES: i64 = 1_000;

/// The maximum number of animals in the feed that became available again.
const MAX_RETURNED_PETS: usize = 24;

/// An animal that became available again, for example because its order was cancelled.
pub(super) struct ReturnedPet {
    /// The number of the change that made it available, in the journal.
    pub(super) seq: i64,
    /// When that change was made.
    pub(super) changed_at: Timestamp,
    pub(super) pet: StorePet,
}

/// Reads the animals that recently became available again and are still on offer, the latest one
/// first. Each animal appears once, with the latest change that made it available.
pub(super) async fn read_returned_pets(
    store: &StoreReader,
) -> Result<Vec<ReturnedPet>, StoreError> {
    let mut seen_ids = HashSet::new();
    let mut newest_returns = store.list_returns(SEARCHED_CHANGES).await?;
    // `insert` returns `true` only for the first change of an animal, which is the latest one.
    newest_returns.retain(|change| seen_ids.insert(change.pet));
    newest_returns.truncate(MAX_RETURNED_PETS);

    let mut returned_pets = Vec::new();
    for change in newest_returns {
        let Some(pet) = store.get_listed_pet(change.pet).await? else {
            continue;
        };
        if pet.withdrawal.is_none() && pet.status != PetStatus::Sold {
            returned_pets.push(ReturnedPet {
                seq: change.seq,
                changed_at: change.at,
                pet,
            });
        }
    }
    Ok(returned_pets)
}
