-- The store area: versions, withdrawn animals, orders, categories. Nothing here
-- rewrites a row or builds an index of pets, so it takes no longer for ten million
-- animals than for one. The release before this one adds animals with version 1
-- and without times, and neither changes nor withdraws any.
--
-- Times are milliseconds since 1970-01-01T00:00:00Z. Lengths are in characters.
ALTER TABLE pets ADD COLUMN version    BIGINT NOT NULL DEFAULT 1;
ALTER TABLE pets ADD COLUMN created_at BIGINT;
ALTER TABLE pets ADD COLUMN updated_at BIGINT;
-- By which a name is searched. Null where the database can make it of the name: it
-- is then the beginning of the name in lower case, for ASCII names only.
ALTER TABLE pets ADD COLUMN name_key   TEXT;

-- Withdrawn animals. In a table of their own, so that no query of the contract has
-- to pass over them.
CREATE TABLE withdrawn_pets (
    id           BIGINT PRIMARY KEY,
    name         TEXT   NOT NULL,
    name_key     TEXT,
    category_id  BIGINT NOT NULL,
    status       TEXT   NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    version      BIGINT NOT NULL,
    created_at   BIGINT,
    updated_at   BIGINT NOT NULL,
    withdrawn_at BIGINT NOT NULL,
    reason       TEXT   NOT NULL
        CHECK (reason IN ('died', 'transferred', 'reclaimed', 'mistake', 'other')),
    note         TEXT   CHECK (char_length(note) <= 2000),
    -- By which a create whose connection broke is found again, as in pets.
    token        BIGINT CONSTRAINT withdrawn_pets_token UNIQUE
);
-- These four are as those of pets: see the next migration.
CREATE INDEX withdrawn_pets_by_status ON withdrawn_pets (status, id NULLS FIRST);
CREATE INDEX withdrawn_pets_by_name ON withdrawn_pets
    (status, coalesce(name_key, lower(substr(name, 1, 64) COLLATE "C")) COLLATE "C", id);
CREATE INDEX withdrawn_pets_by_category ON withdrawn_pets (category_id, status, (id + 0));
CREATE INDEX withdrawn_pets_by_category_and_name ON withdrawn_pets
    (category_id, status, coalesce(name_key, lower(substr(name, 1, 64) COLLATE "C")) COLLATE "POSIX", id);

-- The identifiers of orders, drawn before the order is written.
CREATE SEQUENCE orders_ids MAXVALUE 9007199254740991 CACHE 1;

-- No foreign key: a withdrawn animal leaves pets, and its orders stay.
-- holds: whether the animal has its status by this order.
CREATE TABLE orders (
    id         BIGINT PRIMARY KEY,
    pet_id     BIGINT NOT NULL,
    status     TEXT    NOT NULL
        CHECK (status IN ('reserved', 'completed', 'cancelled', 'expired', 'returned')),
    holds      BOOLEAN NOT NULL,
    reference  TEXT    CHECK (char_length(reference) <= 255),
    note       TEXT    CHECK (char_length(note) <= 2000),
    reason     TEXT    CHECK (char_length(reason) <= 255),
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    closed_at  BIGINT,
    version    BIGINT NOT NULL,
    CHECK ((status = 'reserved') = (closed_at IS NULL)),
    CHECK (CASE status
        WHEN 'reserved' THEN holds AND expires_at IS NOT NULL
        WHEN 'completed' THEN TRUE
        ELSE NOT holds END)
);
-- No animal is reserved or sold twice. An index of the open orders only would let a
-- sale overtake a reservation of the same animal.
CREATE UNIQUE INDEX orders_one_holds ON orders (pet_id) WHERE holds;
CREATE INDEX orders_by_pet ON orders (pet_id, id);
-- NULLS FIRST, as in pets_by_status.
CREATE INDEX orders_by_status ON orders (status, id NULLS FIRST);
CREATE INDEX orders_by_reference ON orders (reference, id) WHERE reference IS NOT NULL;
CREATE INDEX orders_by_end ON orders (expires_at) WHERE status = 'reserved';

CREATE TABLE categories (
    id      BIGINT PRIMARY KEY,
    label   TEXT    NOT NULL CHECK (char_length(label) BETWEEN 1 AND 255),
    version BIGINT NOT NULL
);

-- The ETag of a stored response, if it has one.
ALTER TABLE requests ADD COLUMN etag TEXT;

-- The part of a key's scope that the release before this one does not know: scope has
-- the part of the contract that it includes, so that release grants exactly this part.
ALTER TABLE api_keys ADD COLUMN store_scope TEXT
    CHECK (store_scope IN ('store:read', 'store:write', 'store:admin'));
