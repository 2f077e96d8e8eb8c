-- Unique texts are also compared without what a spreadsheet adds to a number, such as an apostrophe or ".0". Two animals
-- whose values are the same now keep them, as in 0027_unique_texts.sql. The former keys have no points any more, so the
-- keys are made of the values again: unique_text_key() is a function of the service.
CREATE TABLE whole_numbers (
    field  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    pet_id INTEGER NOT NULL,
    twin   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (field, key, twin)
) STRICT, WITHOUT ROWID;
INSERT INTO whole_numbers SELECT field, key, pet_id,
        CASE row_number() OVER (PARTITION BY field, key ORDER BY pet_id) WHEN 1 THEN 0 ELSE pet_id END
    FROM (SELECT unique_values.field, unique_values.pet_id, CASE
            WHEN value.type = 'text' AND unique_values.field IN (SELECT name FROM fields WHERE kind = 'text')
                THEN unique_text_key(value.value)
            ELSE unique_values.key END AS key
        FROM unique_values LEFT JOIN pets ON pets.id = unique_values.pet_id
            LEFT JOIN json_each(pets.fields) AS value ON value.key = unique_values.field);

-- Only then, the search has animals under their former keys. All are merged again, in the background: see
-- 0029_one_search.sql.
CREATE TABLE any_changed AS SELECT EXISTS (
    SELECT field, key, pet_id FROM unique_values EXCEPT SELECT field, key, pet_id FROM whole_numbers
    UNION ALL SELECT 1, 1, 1 FROM withdrawn_pets, json_each(withdrawn_pets.fields) AS value
        JOIN fields ON fields.name = value.key AND fields.kind = 'text' AND fields.is_unique = 1
        WHERE withdrawn_pets.fields IS NOT NULL AND value.value GLOB '*[^-0-9A-Za-z ]*'
) AS is_true;
DELETE FROM value_blocks WHERE (SELECT is_true FROM any_changed);
DELETE FROM word_blocks WHERE (SELECT is_true FROM any_changed);
DELETE FROM value_changes WHERE (SELECT is_true FROM any_changed);
UPDATE search_state SET merged = 0, last = 9223372036854775807 WHERE (SELECT is_true FROM any_changed);
DROP TABLE any_changed;

DROP VIEW shared_values;
DROP TABLE unique_values;
ALTER TABLE whole_numbers RENAME TO unique_values;
CREATE INDEX unique_twins ON unique_values (field, key) WHERE twin <> 0;

-- The animals that have a unique value together with another one.
CREATE VIEW shared_values AS SELECT DISTINCT field, key, shared.pet_id
    FROM unique_values AS twins JOIN unique_values AS shared USING (field, key)
    WHERE twins.twin <> 0 AND EXISTS (SELECT 1 FROM unique_values AS other
        WHERE other.field = shared.field AND other.key = shared.key AND other.pet_id <> shared.pet_id);
