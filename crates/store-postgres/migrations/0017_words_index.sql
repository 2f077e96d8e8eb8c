-- The animals whose keys are not set yet, as those of 0007_search.sql: built in the background.
CREATE INDEX CONCURRENTLY pets_without_words ON pets (id NULLS FIRST)
    WHERE words IS NULL AND name ~ '[^0-9A-Za-z]';
