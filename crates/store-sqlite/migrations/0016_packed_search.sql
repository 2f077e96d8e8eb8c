-- The search in blocks that are packed: a row for each animal and index made a create
-- a tenth more expensive, and a sale more. The service merges all animals again in the
-- background.
--
-- A block has its animals in the order of (key, id). kinds are the different pairs of
-- list and category that they have: a byte and eight bytes. marks has the number of the
-- kind of each animal, in two bytes, so a new status changes nothing else.
DROP TABLE search_by_name;
DROP TABLE search_by_category_and_name;
DROP TABLE search_blocks;
CREATE TABLE search_blocks (
    first_id INTEGER PRIMARY KEY,
    size     INTEGER NOT NULL,
    kinds    BLOB    NOT NULL,
    marks    BLOB    NOT NULL
) STRICT;

-- Some tens of animals of a block. rank is the number of animals before them, key and id
-- are those of the first one. names has of each one the id in eight bytes, the length of
-- the key in two, and the key. Numbers are little-endian.
CREATE TABLE search_names (
    block INTEGER NOT NULL,
    rank  INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    id    INTEGER NOT NULL,
    names BLOB    NOT NULL,
    PRIMARY KEY (block, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_names_by_key ON search_names (block, key, id);

-- Merged animals that changed since.
DROP TRIGGER search_pet_changed;
DROP TRIGGER search_pet_removed;
DROP TRIGGER search_pet_restored;
DROP TABLE search_pending;
CREATE TABLE search_pending (id INTEGER PRIMARY KEY) STRICT;
CREATE TRIGGER search_pet_changed AFTER UPDATE OF name, category_id, status ON pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending VALUES (old.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_pet_removed AFTER DELETE ON pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending VALUES (old.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_pet_restored AFTER DELETE ON withdrawn_pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending VALUES (old.id) ON CONFLICT DO NOTHING;
END;
UPDATE search_state SET last_merged_id = 0;
