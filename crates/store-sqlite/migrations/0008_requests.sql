-- The response to each request with an Idempotency-Key, so that its repetition
-- gets the same response, whatever became of the row that it wrote. Written in
-- the transaction that does the work of the request. The caller is the first
-- API key of its lineage. The location is relative to the base address.
-- created_at is in seconds since 1970-01-01T00:00:00Z. The mark is the newest
-- one of idempotency_marks at that time (0: none), by which a request is forgotten.
CREATE TABLE requests (
    id          INTEGER PRIMARY KEY,
    caller      INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    operation   TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    status      INTEGER NOT NULL,
    location    TEXT,
    body        BLOB    NOT NULL,
    created_at  INTEGER NOT NULL,
    mark        INTEGER NOT NULL
) STRICT;

-- The requests that only idempotency_keys has: those of earlier releases, with
-- the response that they would give now. A service of the release before this one
-- may add some after this migration, so this release converts such a request when
-- it is repeated, and it also writes its own requests to idempotency_keys, where the
-- release before finds them. A request whose animal was deleted counts as unseen.
--
-- The next release converts the rest, and drops this view, idempotency_keys and
-- idempotency_marks.last_pet_id.
CREATE VIEW unconverted_requests AS
    SELECT api_key_id AS caller, idempotency_keys.key, 'createPet' AS operation, fingerprint,
        201 AS status, '/pets/' || pets.id AS location,
        CAST('{"id":' || pets.id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id
            || ',"status":"' || pets.status || '"}' AS BLOB) AS body, created_at
    FROM idempotency_keys JOIN pets ON pets.id = pet_id
    WHERE NOT EXISTS (SELECT 1 FROM requests
        WHERE requests.caller = api_key_id AND requests.key = idempotency_keys.key);

INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT caller, key, operation, fingerprint, status, location, body, created_at,
        (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests;

CREATE UNIQUE INDEX requests_by_key ON requests (caller, key);
CREATE INDEX requests_by_mark ON requests (mark);
