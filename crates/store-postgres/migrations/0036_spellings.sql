-- Names and values are found in more spellings: "bjorn" and "bjoern" find Bjørn. If there are letters with other
-- spellings, all animals are merged again, in the background: see 0026_one_search.sql.
CREATE TABLE any_changed AS
    SELECT 1 AS one FROM pets
        WHERE octet_length(name) > char_length(name) OR octet_length(fields) > char_length(fields)
    UNION ALL SELECT 1 FROM withdrawn_pets
        WHERE octet_length(name) > char_length(name) OR octet_length(fields) > char_length(fields)
    LIMIT 1;
DELETE FROM value_blocks WHERE EXISTS (SELECT FROM any_changed);
DELETE FROM word_blocks WHERE EXISTS (SELECT FROM any_changed);
DELETE FROM value_changes WHERE EXISTS (SELECT FROM any_changed);
UPDATE search_state SET merged = 0, last = (SELECT coalesce(max(id), 0)
    FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets) AS present)
    WHERE EXISTS (SELECT FROM any_changed);
DROP TABLE any_changed;

-- The merges of releases that know these spellings, and the number of other merges that was noted last. After merges of
-- the release before, all animals are merged again.
ALTER TABLE search_state ADD COLUMN own_merges BIGINT NOT NULL DEFAULT 0;
ALTER TABLE search_state ADD COLUMN noted_merges BIGINT NOT NULL DEFAULT 0;
UPDATE search_state SET own_merges = merges;
