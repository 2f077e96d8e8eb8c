-- The staff who use the console. Times are milliseconds since 1970-01-01T00:00:00Z.
-- name_key is the name without regard to case and accents. password is Argon2id with
-- its salt. link is the SHA-256 of the secret in the open link to choose a password.
-- totp_secret is encrypted; the key is in a file of its own. recovery holds the
-- SHA-256 of each recovery code that is left, one after the other.
CREATE TABLE staff (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    name             TEXT    NOT NULL,
    name_key         TEXT    NOT NULL UNIQUE,
    role             TEXT    NOT NULL CHECK (role IN ('viewer', 'clerk', 'manager')),
    created_at       INTEGER NOT NULL,
    disabled_at      INTEGER,
    password         BLOB,
    link             BLOB    UNIQUE,
    link_until       INTEGER,
    totp_secret      BLOB,
    totp_last_period INTEGER,
    recovery         BLOB,
    version          INTEGER NOT NULL
) STRICT;

-- digest is the SHA-256 of the secret in the browser's cookie. confirmed_at is null while
-- the second factor is missing.
CREATE TABLE staff_sessions (
    digest       BLOB    PRIMARY KEY CHECK (length(digest) = 32),
    staff_id     INTEGER NOT NULL REFERENCES staff (id),
    begun_at     INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    confirmed_at INTEGER,
    address      TEXT    NOT NULL,
    browser      TEXT    NOT NULL
) STRICT;
