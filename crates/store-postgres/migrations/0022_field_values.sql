-- The values of an animal's fields: a JSON object, or null if it has none. No row is written.
ALTER TABLE pets ADD COLUMN fields TEXT;
ALTER TABLE withdrawn_pets ADD COLUMN fields TEXT;

-- The values of unique fields, as they are compared, of the animals that are not withdrawn.
CREATE TABLE unique_values (
    field  TEXT   NOT NULL,
    key    TEXT   COLLATE "C" NOT NULL,
    pet_id BIGINT NOT NULL,
    PRIMARY KEY (field, key)
);

-- A number while the service looks for values of the field, because it is to be deleted or to get
-- another kind. A transaction that writes a value sets it to null.
ALTER TABLE fields ADD COLUMN examined BIGINT;

-- The search by the values of fields. value is a hash of a field and a value, of a category, or of a
-- status with whether the animal is withdrawn. block is the number of 65,536 successive identifiers,
-- and pets has their lower 16 bits as a Roaring bitmap. Only animals with values are in it.
CREATE TABLE value_blocks (
    value BIGINT NOT NULL,
    block BIGINT NOT NULL,
    pets  BYTEA  NOT NULL,
    PRIMARY KEY (value, block)
);
-- The bitmaps are packed already.
ALTER TABLE value_blocks ALTER COLUMN pets SET STORAGE EXTERNAL;

-- Changes that are not in value_blocks yet, each with the animal before it; a null status if there was
-- none. Two changes of one animal have ascending numbers, because it is locked.
CREATE TABLE value_changes (
    number      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pet_id      BIGINT NOT NULL,
    status      TEXT,
    withdrawn   BOOLEAN,
    category_id BIGINT,
    fields      TEXT
);
CREATE TABLE value_merges (number BIGINT NOT NULL);
INSERT INTO value_merges VALUES (0);

CREATE FUNCTION note_value_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO value_changes (pet_id) VALUES (new.id);
    ELSE
        INSERT INTO value_changes (pet_id, status, withdrawn, category_id, fields)
        VALUES (old.id, old.status, TG_ARGV[0]::boolean, old.category_id, old.fields);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER value_added AFTER INSERT ON pets FOR EACH ROW
    WHEN (new.fields IS NOT NULL) EXECUTE FUNCTION note_value_change(false);
CREATE TRIGGER value_changed AFTER UPDATE OF status, category_id, fields ON pets FOR EACH ROW
    WHEN (old.fields IS NOT NULL OR new.fields IS NOT NULL) EXECUTE FUNCTION note_value_change(false);
CREATE TRIGGER value_removed AFTER DELETE ON pets FOR EACH ROW
    WHEN (old.fields IS NOT NULL) EXECUTE FUNCTION note_value_change(false);
CREATE TRIGGER value_added AFTER INSERT ON withdrawn_pets FOR EACH ROW
    WHEN (new.fields IS NOT NULL) EXECUTE FUNCTION note_value_change(true);
CREATE TRIGGER value_removed AFTER DELETE ON withdrawn_pets FOR EACH ROW
    WHEN (old.fields IS NOT NULL) EXECUTE FUNCTION note_value_change(true);
