-- The key of the hash in an ETag. Without it, nobody can find two pages with the
-- same tag. It belongs to the database, so every process on it makes the same tags.
CREATE TABLE etag_key (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    key      BLOB    NOT NULL CHECK (length(key) = 32)
) STRICT;
INSERT INTO etag_key VALUES (1, randomblob(32));
