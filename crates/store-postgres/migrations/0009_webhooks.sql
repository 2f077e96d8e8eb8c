-- Webhooks. Secrets are encrypted; the key is in a file of its own. Times are
-- milliseconds since 1970-01-01T00:00:00Z.
--
-- cursor: each change up to there was delivered, or waits, or is not wanted.
-- last_message: the number of the last change up to there that became a message.
CREATE TABLE webhooks (
    id                    BIGINT PRIMARY KEY,
    url                   TEXT    NOT NULL,
    -- Separated by spaces; null for all.
    types                 TEXT,
    description           TEXT    CHECK (char_length(description) <= 255),
    disabled_reason       TEXT    CHECK (disabled_reason IN ('failures', 'gone', 'request')),
    created_at            BIGINT NOT NULL,
    updated_at            BIGINT NOT NULL,
    version               BIGINT NOT NULL,
    secret                BYTEA   NOT NULL,
    previous_secret       BYTEA,
    previous_secret_until BIGINT,
    cursor                BIGINT NOT NULL,
    last_message          BIGINT,
    failing_since         BIGINT,
    lease_holder          BIGINT NOT NULL,
    lease_beat            BIGINT NOT NULL
);

-- Messages that failed, or wait behind one that did.
CREATE TABLE webhook_waiting (
    webhook_id BIGINT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    seq        BIGINT NOT NULL,
    previous   BIGINT,
    lane       TEXT,
    failures   BIGINT NOT NULL,
    due_at     BIGINT,
    PRIMARY KEY (webhook_id, seq)
);

CREATE TABLE webhook_attempts (
    webhook_id  BIGINT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number      BIGINT NOT NULL,
    message_id  TEXT    NOT NULL,
    at          BIGINT NOT NULL,
    status      BIGINT,
    duration_ms BIGINT NOT NULL,
    error       TEXT,
    PRIMARY KEY (webhook_id, number)
);

CREATE SEQUENCE webhook_ids;
