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
