-- The key of the hash in an ETag. Without it, nobody can find two pages with the
-- same tag. It belongs to the database, so every process on it makes the same tags.
-- Two random UUIDs have 244 random bits, and need no extension.
CREATE TABLE etag_key (
    only_row BOOLEAN PRIMARY KEY CHECK (only_row),
    key      BYTEA   NOT NULL CHECK (length(key) = 32)
);
INSERT INTO etag_key
    SELECT TRUE, decode(replace(gen_random_uuid()::TEXT || gen_random_uuid()::TEXT, '-', ''), 'hex');
