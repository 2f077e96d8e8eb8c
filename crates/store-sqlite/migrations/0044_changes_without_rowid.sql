-- The same table without a rowid. A trigger that inserts a rowid makes SQLite copy every page that the statement of the
-- trigger changes, so that it could undo the statement alone. A create and a sale undo everything instead, and each
-- copied five pages for nothing. The release before uses the table as it was.
CREATE TABLE former_value_changes AS SELECT * FROM value_changes;
DROP TABLE value_changes;
CREATE TABLE value_changes (
    pet_id      INTEGER PRIMARY KEY,
    status      TEXT,
    withdrawn   INTEGER,
    category_id INTEGER,
    fields      TEXT,
    name        TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO value_changes SELECT * FROM former_value_changes;
DROP TABLE former_value_changes;
