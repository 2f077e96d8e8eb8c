-- The logo of the store, by the name of its file, and the files: that of the present one, and those that
-- were replaced a short time ago, because pages that are cached refer to them.
ALTER TABLE profile ADD COLUMN logo TEXT;
CREATE TABLE logos (
    name TEXT PRIMARY KEY,
    png BLOB NOT NULL,
    replaced_at BIGINT
);
