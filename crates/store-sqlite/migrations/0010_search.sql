-- The search of the store area by name and category. Indexes of pets would make
-- each create several times as expensive, so the service merges animals into these
-- tables in the background: those up to search_state.last_merged_id, without those
-- in search_pending, which changed since. A search reads all others one by one.
--
-- Blocks keep the merging cheap: a block has some thousand animals with successive
-- identifiers, and a step of the merging writes only to the pages of a few blocks.
-- A block is known by its first identifier.
--
-- list is 0, 1, 2 for an animal that is available, pending, sold, and 3, 4, 5 for a
-- withdrawn one. key is the beginning of the name, without case and accents.
CREATE TABLE search_blocks (
    first_id INTEGER PRIMARY KEY,
    size     INTEGER NOT NULL
) STRICT;
CREATE TABLE search_by_name (
    block INTEGER NOT NULL,
    list  INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    id    INTEGER NOT NULL,
    PRIMARY KEY (block, list, key, id)
) WITHOUT ROWID, STRICT;
CREATE TABLE search_by_category_and_name (
    block       INTEGER NOT NULL,
    category_id INTEGER NOT NULL,
    list        INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    id          INTEGER NOT NULL,
    PRIMARY KEY (block, category_id, list, key, id)
) WITHOUT ROWID, STRICT;
CREATE TABLE search_by_category (
    block       INTEGER NOT NULL,
    category_id INTEGER NOT NULL,
    list        INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    PRIMARY KEY (block, category_id, list, id)
) WITHOUT ROWID, STRICT;

CREATE TABLE search_state (
    only_row       INTEGER PRIMARY KEY CHECK (only_row = 1),
    last_merged_id INTEGER NOT NULL
) STRICT;
INSERT INTO search_state VALUES (1, 0);

-- Merged animals that changed since, as they were merged. The triggers also note the
-- changes of the release before this one, and those by hand.
CREATE TABLE search_pending (
    id          INTEGER PRIMARY KEY,
    list        INTEGER NOT NULL,
    category_id INTEGER NOT NULL,
    name        TEXT    NOT NULL
) STRICT;
CREATE TRIGGER search_pet_changed AFTER UPDATE OF name, category_id, status ON pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending
        VALUES (old.id, CASE old.status WHEN 'available' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END,
            old.category_id, old.name)
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_pet_removed AFTER DELETE ON pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending
        VALUES (old.id, CASE old.status WHEN 'available' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END,
            old.category_id, old.name)
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_pet_restored AFTER DELETE ON withdrawn_pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending
        VALUES (old.id, CASE old.status WHEN 'available' THEN 3 WHEN 'pending' THEN 4 ELSE 5 END,
            old.category_id, old.name)
        ON CONFLICT DO NOTHING;
END;
