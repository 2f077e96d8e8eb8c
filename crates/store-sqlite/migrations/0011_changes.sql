-- The log of changes. Every transaction that changes an animal, an order or a category
-- adds its rows. seq has no gaps: SQLite gives a new row the next number, and the newest
-- row is never deleted. type begins with the kind of the subject, such as pet.added.
-- pet_id is the animal that the change concerns, also for an order. before and after are
-- JSON, as the interface shows them. Times are milliseconds since 1970-01-01T00:00:00Z.
-- latest_at is the latest time up to this row, so it never descends, and a time is found
-- without an index, although a clock can be set back.
CREATE TABLE changes (
    seq        INTEGER PRIMARY KEY,
    latest_at  INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    type       TEXT    NOT NULL,
    subject_id INTEGER,
    version    INTEGER,
    pet_id     INTEGER,
    actor      TEXT    NOT NULL,
    actor_id   INTEGER,
    actor_name TEXT,
    request_id TEXT,
    before     TEXT,
    after      TEXT
) STRICT;

-- Acts of administration, for the audit trail. seq is that of the newest change when the
-- act was recorded. details is a JSON object of texts.
CREATE TABLE acts (
    id         INTEGER PRIMARY KEY,
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    type       TEXT    NOT NULL,
    subject_id INTEGER,
    actor      TEXT    NOT NULL,
    actor_id   INTEGER,
    actor_name TEXT,
    request_id TEXT,
    details    TEXT    NOT NULL
) STRICT;
CREATE INDEX acts_by_seq ON acts (seq);

-- The identity of the log. A restored or copied database gets another one.
CREATE TABLE change_log (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    epoch    BLOB    NOT NULL CHECK (length(epoch) = 16)
) STRICT;
INSERT INTO change_log VALUES (1, randomblob(16));
