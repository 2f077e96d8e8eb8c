-- The search finds the beginning of any word. A block has the keys of its animals, in the order of
-- (key, id): the letters and digits of the name, and those from each further word on. A kind has
-- ten bytes: the list, how much the key has in common with one that is used instead of it (255 for
-- the first key of an animal), and the category. The service merges all animals again in the
-- background.
DELETE FROM search_blocks;
DELETE FROM search_names;
DELETE FROM search_pending;
UPDATE search_state SET last_merged_id = 0;
