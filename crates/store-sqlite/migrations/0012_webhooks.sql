-- Webhooks. Secrets are encrypted; the key is in a file of its own. Times are
-- milliseconds since 1970-01-01T00:00:00Z.
--
-- cursor: each change up to there was delivered, or waits, or is not wanted.
-- last_message: the number of the last change up to there that became a message.
CREATE TABLE webhooks (
    id                    INTEGER PRIMARY KEY,
    url                   TEXT    NOT NULL,
    -- Separated by spaces; null for all.
    types                 TEXT,
    description           TEXT    CHECK (length(description) <= 255),
    disabled_reason       TEXT    CHECK (disabled_reason IN ('failures', 'gone', 'request')),
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    version               INTEGER NOT NULL,
    secret                BLOB    NOT NULL,
    previous_secret       BLOB,
    previous_secret_until INTEGER,
    cursor                INTEGER NOT NULL,
    last_message          INTEGER,
    failing_since         INTEGER,
    lease_holder          INTEGER NOT NULL,
    lease_beat            INTEGER NOT NULL
) STRICT;

-- Messages that failed, or wait behind one that did.
CREATE TABLE webhook_waiting (
    webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    previous   INTEGER,
    lane       TEXT,
    failures   INTEGER NOT NULL,
    due_at     INTEGER,
    PRIMARY KEY (webhook_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_attempts (
    webhook_id  INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    message_id  TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    status      INTEGER,
    duration_ms INTEGER NOT NULL,
    error       TEXT,
    PRIMARY KEY (webhook_id, number)
) STRICT, WITHOUT ROWID;

-- The last identifier that was drawn, so that none is given twice.
CREATE TABLE webhook_ids (last INTEGER NOT NULL) STRICT;
INSERT INTO webhook_ids VALUES (0);
