//! Chooses the size of the page caches of the connections that read.
//!
//! A page that SQLite has cached saves a copy from the cache of the operating system. But if a cache
//! holds only some of the animals, the misses cost more than the hits save
//! (`docs/maintainers/performance.md`). So a reader gets a large cache only if it can hold all animals.

use super::connection::Connection;

/// The query for the highest identifier of an animal.
pub(super) const LAST_PET: &str = "SELECT coalesce(max(id), 0) FROM pets";

/// SQLite's default page cache of a connection, in bytes.
const DEFAULT_CACHE_SIZE: u64 = 2_000 << 10;

/// The maximum size of the page caches of all readers together, in bytes. Each reader gets an equal
/// share.
const MAX_CACHES_SIZE: u64 = 64 << 20;

/// The size of an animal and of its entries in the indexes that the contract reads, in bytes. Measured
/// with the names of a shelter.
const BYTES_PER_PET: u64 = 56;

/// Sets the size of the page cache of one of `reader_count` readers.
pub(super) fn set_cache_size(connection: &Connection, reader_count: u64) -> rusqlite::Result<()> {
    let last_pet: i64 = connection.query_row(LAST_PET, [], |row| row.get(0))?;
    let size = choose_cache_size(last_pet.unsigned_abs(), reader_count);
    let kibibytes = (size >> 10).cast_signed();
    // To SQLite, a negative value is a size in KiB, and a positive one a number of pages.
    connection.pragma_update(None, "cache_size", -kibibytes)
}

/// Chooses the size of the page cache of each reader, in bytes. `last_pet` is the highest
/// identifier of an animal, which is about the number of animals.
///
/// Other tables do not count: they are read less often, and the log of changes grows without end.
pub(super) fn choose_cache_size(last_pet: u64, reader_count: u64) -> u64 {
    let share = MAX_CACHES_SIZE / reader_count;
    let pets = last_pet.saturating_mul(BYTES_PER_PET);
    // Leave an eighth for the data that SQLite keeps about each page.
    if pets <= share / 8 * 7 {
        share.max(DEFAULT_CACHE_SIZE)
    } else {
        DEFAULT_CACHE_SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_animals_are_cached_if_all_of_them_stay_within_the_memory_limit() {
        let million = 1_000_000;
        assert_eq!(choose_cache_size(0, 1), MAX_CACHES_SIZE);
        assert_eq!(choose_cache_size(million, 1), MAX_CACHES_SIZE);
        assert_eq!(choose_cache_size(million / 2, 2), MAX_CACHES_SIZE / 2);
        assert_eq!(choose_cache_size(million, 2), DEFAULT_CACHE_SIZE);
        assert_eq!(choose_cache_size(1000, 64), DEFAULT_CACHE_SIZE);
        assert_eq!(choose_cache_size(u64::MAX, 1), DEFAULT_CACHE_SIZE);
    }
}
