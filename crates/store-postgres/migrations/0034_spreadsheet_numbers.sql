-- Unique texts are also compared without what a spreadsheet adds to a number, such as an apostrophe or ".0". Two animals
-- whose values are the same now keep them, as in 0024_unique_texts.sql. The former keys have no points any more, so the
-- service makes the keys of the values again, and puts those that differ into whole_numbers before this step.
UPDATE unique_values SET key = number, twin = unique_values.pet_id FROM whole_numbers
    WHERE (unique_values.field, unique_values.key, unique_values.pet_id)
        = (whole_numbers.field, whole_numbers.key, whole_numbers.pet_id);
UPDATE unique_values SET twin = 0 WHERE twin <> 0 AND NOT EXISTS (SELECT FROM unique_values AS other
    WHERE other.field = unique_values.field AND other.key = unique_values.key
        AND other.twin < unique_values.twin);

-- Only then, the search has animals under their former keys. All are merged again, in the background: see
-- 0026_one_search.sql.
INSERT INTO whole_numbers (field)
    SELECT value.key FROM withdrawn_pets, jsonb_each_text(withdrawn_pets.fields::jsonb) AS value
        JOIN fields ON fields.name = value.key AND fields.kind = 'text' AND fields.is_unique = 1
    WHERE value.value !~ '^[0-9A-Za-z -]*$';
DELETE FROM value_blocks WHERE EXISTS (SELECT FROM whole_numbers);
DELETE FROM word_blocks WHERE EXISTS (SELECT FROM whole_numbers);
DELETE FROM value_changes WHERE EXISTS (SELECT FROM whole_numbers);
UPDATE search_state SET merged = 0, last = (SELECT coalesce(max(id), 0)
    FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets) AS present)
    WHERE EXISTS (SELECT FROM whole_numbers);
DROP TABLE whole_numbers;
