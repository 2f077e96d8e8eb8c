-- The service checks the values of an order before it writes them, and petstore check finds
-- rows that contradict them. SQLite evaluated these checks at every insert and update: a
-- hundredth of the cost of a sale. No row has to be read.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE TABLE orders (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    pet_id     INTEGER NOT NULL,
    status     TEXT    NOT NULL,
    holds      INTEGER NOT NULL CHECK (holds = 0 OR holds = 1),
    reference  TEXT,
    note       TEXT,
    reason     TEXT,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    closed_at  INTEGER,
    version    INTEGER NOT NULL
) STRICT' WHERE type = 'table' AND name = 'orders';
PRAGMA writable_schema = RESET;
