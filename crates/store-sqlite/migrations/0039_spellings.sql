-- Names and values are found in more spellings: "bjorn" and "bjoern" find Bjørn. If there are letters with other
-- spellings, all animals are merged again, in the background: see 0029_one_search.sql.
CREATE TABLE any_changed AS SELECT EXISTS (
    SELECT 1 FROM pets WHERE octet_length(name) > length(name) OR octet_length(fields) > length(fields)
    UNION ALL SELECT 1 FROM withdrawn_pets
        WHERE octet_length(name) > length(name) OR octet_length(fields) > length(fields)
) AS is_true;
DELETE FROM value_blocks WHERE (SELECT is_true FROM any_changed);
DELETE FROM word_blocks WHERE (SELECT is_true FROM any_changed);
DELETE FROM value_changes WHERE (SELECT is_true FROM any_changed);
UPDATE search_state SET merged = 0, last = 9223372036854775807 WHERE (SELECT is_true FROM any_changed);
DROP TABLE any_changed;

-- The merges of releases that know these spellings, and the number of other merges that was noted last. After merges of
-- the release before, all animals are merged again.
ALTER TABLE search_state ADD COLUMN own_merges INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_state ADD COLUMN noted_merges INTEGER NOT NULL DEFAULT 0;
UPDATE search_state SET own_merges = merges;
