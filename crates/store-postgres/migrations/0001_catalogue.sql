-- Identifiers begin at 1. The bound is 2^53 - 1, the highest integer that
-- JavaScript clients read exactly. One that was drawn is never drawn again,
-- also when its animal was not added in the end.
CREATE SEQUENCE pets_ids MAXVALUE 9007199254740991 CACHE 1;

CREATE TABLE pets (
    id          BIGINT PRIMARY KEY DEFAULT nextval('pets_ids'),
    name        TEXT   NOT NULL,
    category_id BIGINT NOT NULL,
    status      TEXT   NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    -- By which a create whose connection broke is found again.
    token       BIGINT CONSTRAINT pets_token UNIQUE
);

-- A page by status is one walk along this index. NULLS FIRST, which the query
-- repeats, keeps the planner from walking along the primary key instead and
-- passing over every animal of another status. The name is not in it: an entry
-- of an index is limited to 2,704 bytes, and a name is not.
CREATE INDEX pets_by_status ON pets (status, id NULLS FIRST);

-- Each process that adds animals draws a number, and makes its tokens of it.
CREATE SEQUENCE pets_token_series MAXVALUE 2147483647;

-- Times are seconds since 1970-01-01T00:00:00Z.
CREATE TABLE api_keys (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest       BYTEA  NOT NULL CONSTRAINT api_keys_digest UNIQUE CHECK (length(digest) = 32),
    name         TEXT   NOT NULL,
    scope        TEXT   NOT NULL CHECK (scope IN ('read', 'write')),
    deployment   TEXT   NOT NULL CHECK (deployment IN ('production', 'staging')),
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT,
    successor_id BIGINT REFERENCES api_keys (id),
    -- How often it may be used, as 10/s, 600/min or 5000/h. Without one, the
    -- limit of the service holds.
    rate_limit   TEXT
);

-- Which animal a request with an Idempotency-Key added, so that its repetition
-- adds no second one. Written in the statement that adds the animal.
CREATE TABLE idempotency_keys (
    api_key_id  BIGINT NOT NULL,
    key         TEXT   NOT NULL,
    fingerprint BYTEA  NOT NULL CHECK (length(fingerprint) = 32),
    pet_id      BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, key)
);

-- To find those that are to be forgotten, oldest first.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
