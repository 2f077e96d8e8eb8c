-- The values of an animal's fields: a JSON object, or null if it has none. No row is written.
ALTER TABLE pets ADD COLUMN fields TEXT;
ALTER TABLE withdrawn_pets ADD COLUMN fields TEXT;

-- The values of unique fields, as they are compared, of the animals that are not withdrawn.
CREATE TABLE unique_values (
    field  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    pet_id INTEGER NOT NULL,
    PRIMARY KEY (field, key)
) STRICT, WITHOUT ROWID;

-- A number while the service looks for values of the field, because it is to be deleted or to get
-- another kind. A transaction that writes a value sets it to null.
ALTER TABLE fields ADD COLUMN examined INTEGER;

-- The search by the values of fields. value is a hash of a field and a value, of a category, or of a
-- status with whether the animal is withdrawn. block is the number of 65,536 successive identifiers,
-- and pets has their lower 16 bits as a Roaring bitmap. Only animals with values are in it.
CREATE TABLE value_blocks (
    value INTEGER NOT NULL,
    block INTEGER NOT NULL,
    pets  BLOB    NOT NULL,
    PRIMARY KEY (value, block)
) STRICT, WITHOUT ROWID;

-- Changes that are not in value_blocks yet, each with the animal before it; a null status if there was
-- none.
CREATE TABLE value_changes (
    number      INTEGER PRIMARY KEY,
    pet_id      INTEGER NOT NULL,
    status      TEXT,
    withdrawn   INTEGER,
    category_id INTEGER,
    fields      TEXT
) STRICT;
CREATE TABLE value_merges (number INTEGER NOT NULL) STRICT;
INSERT INTO value_merges VALUES (0);

CREATE TRIGGER value_added AFTER INSERT ON pets WHEN new.fields IS NOT NULL
BEGIN
    INSERT INTO value_changes (pet_id) VALUES (new.id);
END;
CREATE TRIGGER value_changed AFTER UPDATE OF status, category_id, fields ON pets
    WHEN old.fields IS NOT NULL OR new.fields IS NOT NULL
BEGIN
    INSERT INTO value_changes (pet_id, status, withdrawn, category_id, fields)
    VALUES (old.id, old.status, FALSE, old.category_id, old.fields);
END;
CREATE TRIGGER value_removed AFTER DELETE ON pets WHEN old.fields IS NOT NULL
BEGIN
    INSERT INTO value_changes (pet_id, status, withdrawn, category_id, fields)
    VALUES (old.id, old.status, FALSE, old.category_id, old.fields);
END;
CREATE TRIGGER withdrawn_value_added AFTER INSERT ON withdrawn_pets WHEN new.fields IS NOT NULL
BEGIN
    INSERT INTO value_changes (pet_id) VALUES (new.id);
END;
CREATE TRIGGER withdrawn_value_removed AFTER DELETE ON withdrawn_pets WHEN old.fields IS NOT NULL
BEGIN
    INSERT INTO value_changes (pet_id, status, withdrawn, category_id, fields)
    VALUES (old.id, old.status, TRUE, old.category_id, old.fields);
END;
