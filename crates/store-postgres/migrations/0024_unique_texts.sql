-- Unique texts are compared without separators, as by unseparated() of the service. Two animals whose values are
-- the same now keep them: twin is 0 for one of them, and the identifier of each other one. The search has the
-- changed ones under their former values, which nobody looks for.
ALTER TABLE unique_values ADD COLUMN twin BIGINT NOT NULL DEFAULT 0,
    DROP CONSTRAINT unique_values_pkey, ADD PRIMARY KEY (field, key, twin);
WITH changed AS (
    UPDATE unique_values SET key = regexp_replace(key, separators, '', 'g'), twin = pet_id
    FROM (VALUES ('[\u0001-\u0020\u007F-\u00A0\u00AD\u034F\u058A\u05BE\u061C\u115F\u1160\u1400\u1680\u17B4\u17B5\u1806\u180B-\u180F\u2000-\u2015\u2028-\u202F\u205F-\u206F\u2212\u2800\u2E17\u2E1A\u2E3A\u2E3B\u2E40\u2E5D\u3000\u301C\u3030\u30A0\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U00010D6E\U00010EAD\U000E0000-\U000E0FFF./:-]'))
        AS of (separators)
    WHERE field IN (SELECT name FROM fields WHERE kind = 'text') AND key ~ separators
        AND regexp_replace(key, separators, '', 'g') <> ''
        -- The hash of a long text.
        AND key !~ '^sha256:[0-9a-f]{64}$'
    RETURNING pet_id)
INSERT INTO value_changes (pet_id) SELECT pet_id FROM changed;
UPDATE unique_values SET twin = 0 WHERE twin <> 0 AND NOT EXISTS (SELECT FROM unique_values AS other
    WHERE other.field = unique_values.field AND other.key = unique_values.key
        AND other.twin < unique_values.twin);
CREATE INDEX unique_twins ON unique_values (field, key) WHERE twin <> 0;

INSERT INTO value_changes (pet_id)
    SELECT DISTINCT withdrawn_pets.id FROM withdrawn_pets, jsonb_each_text(withdrawn_pets.fields::jsonb) AS value
        JOIN fields ON fields.name = value.key AND fields.kind = 'text' AND fields.is_unique = 1
    WHERE value.value ~ '[^0-9A-Za-z]';

-- The animals that have a unique value together with another one.
CREATE VIEW shared_values AS SELECT DISTINCT field, key, shared.pet_id
    FROM unique_values AS twins JOIN unique_values AS shared USING (field, key)
    WHERE twins.twin <> 0 AND EXISTS (SELECT 1 FROM unique_values AS other
        WHERE other.field = shared.field AND other.key = shared.key AND other.pet_id <> shared.pet_id);
