-- AUTOINCREMENT: an identifier is never given twice, even when the animal with
-- the highest one is deleted by hand. The bound is 2^53 - 1, the highest
-- integer that JavaScript clients read exactly.
CREATE TABLE pets (
    id          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
    name        TEXT    NOT NULL,
    category_id INTEGER NOT NULL,
    status      TEXT    NOT NULL
        -- Not IN (...): SQLite would build a table of the three at every insert.
        CHECK (status = 'available' OR status = 'pending' OR status = 'sold')
) STRICT;

-- Holds every column of a page, so that a page by status is one walk along the
-- index and never visits the table.
CREATE INDEX pets_by_status ON pets (status, id, name, category_id);

-- Times are seconds since 1970-01-01T00:00:00Z.
CREATE TABLE api_keys (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    digest       BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
    name         TEXT    NOT NULL,
    scope        TEXT    NOT NULL CHECK (scope IN ('read', 'write')),
    deployment   TEXT    NOT NULL CHECK (deployment IN ('production', 'staging')),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    successor_id INTEGER REFERENCES api_keys (id)
) STRICT;
