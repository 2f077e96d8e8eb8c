-- The store area: versions, withdrawn animals, orders, categories. Nothing here
-- rewrites a row or builds an index of pets, so it takes no longer for ten million
-- animals than for one. The release before this one adds animals with version 1
-- and without times, and neither changes nor withdraws any.
--
-- Times are milliseconds since 1970-01-01T00:00:00Z. Lengths are in characters.
--
-- The view is the same as before; the name of one of its columns became ambiguous.
DROP VIEW unconverted_requests;
-- Three columns of pets. ALTER TABLE would read all rows of this strict table for
-- each of them: minutes for ten million animals, and no value could be wrong.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, char(10) || ') STRICT', ',
    version     INTEGER NOT NULL DEFAULT 1,
    created_at  INTEGER,
    updated_at  INTEGER
) STRICT') WHERE type = 'table' AND name = 'pets';
PRAGMA writable_schema = RESET;
-- Fails, and undoes the migration, if the columns are not there.
SELECT version, created_at, updated_at FROM pets LIMIT 1;

CREATE VIEW unconverted_requests AS
    SELECT api_key_id AS caller, idempotency_keys.key, 'createPet' AS operation, fingerprint,
        201 AS status, '/pets/' || pets.id AS location,
        CAST('{"id":' || pets.id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id
            || ',"status":"' || pets.status || '"}' AS BLOB) AS body,
        idempotency_keys.created_at
    FROM idempotency_keys JOIN pets ON pets.id = pet_id
    WHERE NOT EXISTS (SELECT 1 FROM requests
        WHERE requests.caller = api_key_id AND requests.key = idempotency_keys.key);

-- Withdrawn animals. In a table of their own, so that no query of the contract has
-- to pass over them.
CREATE TABLE withdrawn_pets (
    id           INTEGER PRIMARY KEY,
    name         TEXT    NOT NULL,
    category_id  INTEGER NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    version      INTEGER NOT NULL,
    created_at   INTEGER,
    updated_at   INTEGER NOT NULL,
    withdrawn_at INTEGER NOT NULL,
    reason       TEXT    NOT NULL CHECK (reason IN ('died', 'transferred', 'reclaimed', 'mistake', 'other')),
    note         TEXT    CHECK (length(note) <= 2000)
) STRICT;
CREATE INDEX withdrawn_pets_by_status ON withdrawn_pets (status, id);

-- No foreign key: a withdrawn animal leaves pets, and its orders stay.
-- holds: 1 while the animal has its status by this order, 0 from then on.
CREATE TABLE orders (
    id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
    pet_id     INTEGER NOT NULL,
    status     TEXT    NOT NULL
        CHECK (status IN ('reserved', 'completed', 'cancelled', 'expired', 'returned')),
    holds      INTEGER NOT NULL CHECK (holds IN (0, 1)),
    reference  TEXT    CHECK (length(reference) <= 255),
    note       TEXT    CHECK (length(note) <= 2000),
    reason     TEXT    CHECK (length(reason) <= 255),
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    closed_at  INTEGER,
    version    INTEGER NOT NULL,
    CHECK ((status = 'reserved') = (closed_at IS NULL)),
    CHECK (CASE status
        WHEN 'reserved' THEN holds = 1 AND expires_at IS NOT NULL
        WHEN 'completed' THEN TRUE
        ELSE holds = 0 END)
) STRICT;
-- No animal is reserved or sold twice. An index of the open orders only would let a
-- sale overtake a reservation of the same animal.
CREATE UNIQUE INDEX orders_one_holds ON orders (pet_id) WHERE holds = 1;
CREATE INDEX orders_by_pet ON orders (pet_id, id);
CREATE INDEX orders_by_status ON orders (status, id);
CREATE INDEX orders_by_reference ON orders (reference, id) WHERE reference IS NOT NULL;
CREATE INDEX orders_by_end ON orders (expires_at) WHERE status = 'reserved';

CREATE TABLE categories (
    id      INTEGER PRIMARY KEY,
    label   TEXT    NOT NULL CHECK (length(label) BETWEEN 1 AND 255),
    version INTEGER NOT NULL
) STRICT;

-- The ETag of a stored response, if it has one.
ALTER TABLE requests ADD COLUMN etag TEXT;

-- The part of a key's scope that the release before this one does not know: scope has
-- the part of the contract that it includes, so that release grants exactly this part.
ALTER TABLE api_keys ADD COLUMN store_scope TEXT
    CHECK (store_scope IN ('store:read', 'store:write', 'store:admin'));
