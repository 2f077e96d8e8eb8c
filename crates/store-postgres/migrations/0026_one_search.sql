-- One search, for names, categories and values: see 0022_field_values.sql. All animals are in its sets now. The
-- service merges them in the background.
DROP TRIGGER pet_words_added ON pets;
DROP TRIGGER pet_words_changed ON pets;
DROP TRIGGER pet_words_removed ON pets;
DROP TRIGGER pet_words_added ON withdrawn_pets;
DROP TRIGGER pet_words_changed ON withdrawn_pets;
DROP TRIGGER pet_words_removed ON withdrawn_pets;
DROP FUNCTION set_pet_words;
DROP TABLE pet_words;
DROP INDEX IF EXISTS pets_by_name;
DROP INDEX IF EXISTS pets_by_category_and_name;
DROP INDEX IF EXISTS pets_without_words;
ALTER TABLE pets DROP COLUMN name_key, DROP COLUMN words;
ALTER TABLE withdrawn_pets DROP COLUMN name_key, DROP COLUMN words;
DROP TRIGGER value_added ON pets;
DROP TRIGGER value_changed ON pets;
DROP TRIGGER value_removed ON pets;
DROP TRIGGER value_added ON withdrawn_pets;
DROP TRIGGER value_removed ON withdrawn_pets;
DROP FUNCTION note_value_change;
DROP TABLE value_changes;
DROP TABLE value_merges;
DELETE FROM value_blocks;

-- The keys of names, in blocks as value_blocks. An entry is a key, a zero byte, and the lower 16 bits of the
-- identifier, the higher byte first. A row has successive entries, from first on: of each the length of its
-- common beginning with the one before it in a byte, the length of the rest in two, the lower byte first, and
-- the rest.
CREATE TABLE name_blocks (
    block   BIGINT NOT NULL,
    first   BYTEA  NOT NULL,
    entries BYTEA  NOT NULL,
    PRIMARY KEY (block, first)
);

-- Animals above merged, up to last, are not in the blocks yet: those that were there before this step. merges
-- counts.
CREATE TABLE search_state (
    merged BIGINT NOT NULL,
    last   BIGINT NOT NULL,
    merges BIGINT NOT NULL
);

-- The other animals that changed since they were merged, each as the blocks have it: a null status if they do
-- not have it, and a null name if only the rest changed. Two changes of one animal have ascending numbers,
-- because it is locked.
CREATE TABLE value_changes (
    pet_id      BIGINT NOT NULL,
    number      BIGINT GENERATED ALWAYS AS IDENTITY,
    status      TEXT,
    withdrawn   BOOLEAN,
    category_id BIGINT,
    fields      TEXT,
    name        TEXT,
    PRIMARY KEY (pet_id, number)
);
CREATE FUNCTION note_added_pets() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO value_changes (pet_id) SELECT id FROM added;
    RETURN NULL;
END $$;
CREATE FUNCTION note_changed_pet() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO value_changes (pet_id, status, withdrawn, category_id, fields, name)
    VALUES (old.id, old.status, TG_ARGV[0]::boolean, old.category_id, old.fields, NULL);
    RETURN NULL;
END $$;
CREATE FUNCTION note_renamed_pet() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO value_changes (pet_id, status, withdrawn, category_id, fields, name)
    VALUES (old.id, old.status, TG_ARGV[0]::boolean, old.category_id, old.fields, left(old.name, 256));
    RETURN NULL;
END $$;
CREATE TRIGGER search_added AFTER INSERT ON pets REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION note_added_pets();
CREATE TRIGGER search_changed AFTER UPDATE OF status, category_id, fields ON pets FOR EACH ROW
    WHEN (old.name = new.name AND (old.status, old.category_id, old.fields)
        IS DISTINCT FROM (new.status, new.category_id, new.fields))
    EXECUTE FUNCTION note_changed_pet(false);
CREATE TRIGGER search_renamed AFTER UPDATE OF name ON pets FOR EACH ROW
    WHEN (old.name <> new.name) EXECUTE FUNCTION note_renamed_pet(false);
CREATE TRIGGER search_removed AFTER DELETE ON pets FOR EACH ROW
    EXECUTE FUNCTION note_renamed_pet(false);
CREATE TRIGGER search_added AFTER INSERT ON withdrawn_pets REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION note_added_pets();
CREATE TRIGGER search_removed AFTER DELETE ON withdrawn_pets FOR EACH ROW
    EXECUTE FUNCTION note_renamed_pet(true);

-- Now nobody adds animals that no trigger notes.
INSERT INTO search_state SELECT 0, coalesce(max(id), 0), 0
    FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets) AS present;
