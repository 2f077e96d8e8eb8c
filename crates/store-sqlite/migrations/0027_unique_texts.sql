-- Unique texts are compared without separators: unseparated() is a function of the service. Two animals whose
-- values are the same now keep them: twin is 0 for one of them, and the identifier of each other one.
CREATE TABLE unseparated_values (
    field  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    pet_id INTEGER NOT NULL,
    twin   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (field, key, twin)
) STRICT, WITHOUT ROWID;
INSERT INTO unseparated_values SELECT field, key, pet_id,
        CASE row_number() OVER (PARTITION BY field, key ORDER BY pet_id) WHEN 1 THEN 0 ELSE pet_id END
    FROM (SELECT field, pet_id, CASE
            WHEN field NOT IN (SELECT name FROM fields WHERE kind = 'text') THEN key
            -- The hash of a long text.
            WHEN key GLOB 'sha256:*' AND length(key) = 71 THEN key
            ELSE unseparated(key) END AS key
        FROM unique_values);

-- The search has these animals under their former values, which nobody looks for.
INSERT INTO value_changes (pet_id)
    SELECT pet_id FROM unique_values WHERE NOT EXISTS (SELECT 1 FROM unseparated_values AS same
        WHERE (same.field, same.key, same.pet_id)
            = (unique_values.field, unique_values.key, unique_values.pet_id))
    UNION SELECT withdrawn_pets.id FROM withdrawn_pets, json_each(withdrawn_pets.fields) AS value
        JOIN fields ON fields.name = value.key AND fields.kind = 'text' AND fields.is_unique = 1
        WHERE withdrawn_pets.fields IS NOT NULL AND value.value GLOB '*[^0-9A-Za-z]*';

DROP TABLE unique_values;
ALTER TABLE unseparated_values RENAME TO unique_values;
CREATE INDEX unique_twins ON unique_values (field, key) WHERE twin <> 0;

-- The animals that have a unique value together with another one.
CREATE VIEW shared_values AS SELECT DISTINCT field, key, shared.pet_id
    FROM unique_values AS twins JOIN unique_values AS shared USING (field, key)
    WHERE twins.twin <> 0 AND EXISTS (SELECT 1 FROM unique_values AS other
        WHERE other.field = shared.field AND other.key = shared.key AND other.pet_id <> shared.pet_id);
