-- Which animal a request with an Idempotency-Key added, so that its repetition
-- adds no second one. Written in the transaction that adds the animal.
-- created_at is in seconds since 1970-01-01T00:00:00Z.
CREATE TABLE idempotency_keys (
    api_key_id  INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    pet_id      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, key)
) WITHOUT ROWID, STRICT;

-- To find those that are to be forgotten, oldest first.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
