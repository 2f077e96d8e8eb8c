-- The words of values, and dates, are in the search as the words of names are. All animals are merged again, in the
-- background: see 0026_one_search.sql.
DROP TABLE name_blocks;
DELETE FROM value_blocks;

-- A word is a key, a zero byte, the name of the field whose value has the key (nothing for the name of an animal), and
-- a zero byte. A date is a byte 1, the name of the field, a zero byte, the date, and a zero byte. A row has a block's
-- words from first on, which ends with the place of an animal: the lower 16 bits of its identifier, the higher byte
-- first. Of each word it has the length of the common beginning with the word before it in a byte, the length of the
-- rest in two, the lower byte first, the rest, the number of animals in two bytes, and their places in ascending order:
-- of each the difference to the one before it in LEB128.
CREATE TABLE word_blocks (
    block BIGINT NOT NULL,
    first BYTEA  NOT NULL,
    words BYTEA  NOT NULL,
    PRIMARY KEY (block, first)
);

-- What is added from now on is noted by triggers.
UPDATE search_state SET merged = 0, last = (SELECT coalesce(max(id), 0)
    FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets) AS present);
