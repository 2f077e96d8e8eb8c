-- One search, for names, categories and values: see 0025_field_values.sql. All animals are in its sets now. The
-- service merges them in the background.
DROP TRIGGER search_pet_changed;
DROP TRIGGER search_pet_removed;
DROP TRIGGER search_pet_restored;
DROP TABLE search_blocks;
DROP TABLE search_names;
DROP TABLE search_pending;
DROP TABLE search_state;
DROP TRIGGER value_added;
DROP TRIGGER value_changed;
DROP TRIGGER value_removed;
DROP TRIGGER withdrawn_value_added;
DROP TRIGGER withdrawn_value_removed;
DROP TABLE value_changes;
DROP TABLE value_merges;
DELETE FROM value_blocks;

-- The keys of names, in blocks as value_blocks. An entry is a key, a zero byte, and the lower 16 bits of the
-- identifier, the higher byte first. A row has successive entries, from first on: of each the length of its
-- common beginning with the one before it in a byte, the length of the rest in two, the lower byte first, and
-- the rest.
CREATE TABLE name_blocks (
    block   INTEGER NOT NULL,
    first   BLOB    NOT NULL,
    entries BLOB    NOT NULL,
    PRIMARY KEY (block, first)
) STRICT, WITHOUT ROWID;

-- Animals above merged, up to last, are not in the blocks yet. merges counts.
CREATE TABLE search_state (
    merged INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    merges INTEGER NOT NULL
) STRICT;
INSERT INTO search_state VALUES (0, 9223372036854775807, 0);

-- The other animals that changed since they were merged, each as the blocks have it: a null status if they do
-- not have it, and a null name if only the rest changed.
CREATE TABLE value_changes (
    pet_id      INTEGER PRIMARY KEY,
    status      TEXT,
    withdrawn   INTEGER,
    category_id INTEGER,
    fields      TEXT,
    name        TEXT
) STRICT;
CREATE TRIGGER search_added AFTER INSERT ON pets
    WHEN new.id <= (SELECT merged FROM search_state)
BEGIN
    INSERT INTO value_changes (pet_id) VALUES (new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_changed AFTER UPDATE OF status, category_id, fields ON pets
    WHEN old.id <= (SELECT merged FROM search_state)
BEGIN
    INSERT INTO value_changes VALUES (old.id, old.status, FALSE, old.category_id, old.fields, NULL)
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_renamed AFTER UPDATE OF name ON pets
    WHEN old.id <= (SELECT merged FROM search_state)
BEGIN
    INSERT INTO value_changes VALUES (old.id, old.status, FALSE, old.category_id, old.fields, old.name)
        ON CONFLICT DO UPDATE SET name = excluded.name WHERE name IS NULL AND status IS NOT NULL;
END;
CREATE TRIGGER search_removed AFTER DELETE ON pets
    WHEN old.id <= (SELECT merged FROM search_state)
BEGIN
    INSERT INTO value_changes VALUES (old.id, old.status, FALSE, old.category_id, old.fields, old.name)
        ON CONFLICT DO UPDATE SET name = excluded.name WHERE name IS NULL AND status IS NOT NULL;
END;
CREATE TRIGGER search_withdrawn AFTER INSERT ON withdrawn_pets
    WHEN new.id <= (SELECT merged FROM search_state)
BEGIN
    INSERT INTO value_changes (pet_id) VALUES (new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_restored AFTER DELETE ON withdrawn_pets
    WHEN old.id <= (SELECT merged FROM search_state)
BEGIN
    INSERT INTO value_changes VALUES (old.id, old.status, TRUE, old.category_id, old.fields, old.name)
        ON CONFLICT DO UPDATE SET name = excluded.name WHERE name IS NULL AND status IS NOT NULL;
END;
-- By hand.
CREATE TRIGGER search_moved AFTER UPDATE OF id ON pets
BEGIN
    INSERT INTO value_changes
        SELECT old.id, old.status, FALSE, old.category_id, old.fields, old.name FROM search_state
        WHERE old.id <= merged
        ON CONFLICT DO UPDATE SET name = excluded.name WHERE name IS NULL AND status IS NOT NULL;
    INSERT INTO value_changes (pet_id) SELECT new.id FROM search_state WHERE new.id <= merged
        ON CONFLICT DO NOTHING;
END;
