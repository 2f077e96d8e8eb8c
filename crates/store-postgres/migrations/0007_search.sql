-- The indexes for the lists of the store area. Each statement runs outside of a
-- transaction, in the background after the migration (src/store/postgres/indexes.rs), so that all
-- services go on while the indexes of a large table are built. Before the first one,
-- the names that are not ASCII get their name_key.
--
-- A list is one walk along an index for each status. Each index has an order that
-- no other has, which the queries repeat, so that no plan walks along another index
-- and passes over animals: to PostgreSQL, the collations "C" and "POSIX" have different
-- orders, although they are the same.
CREATE INDEX CONCURRENTLY pets_by_name ON pets
    (status, coalesce(name_key, lower(substr(name, 1, 64) COLLATE "C")) COLLATE "C", id);
CREATE INDEX CONCURRENTLY pets_by_category_and_name ON pets
    (category_id, status, coalesce(name_key, lower(substr(name, 1, 64) COLLATE "C")) COLLATE "POSIX", id);
