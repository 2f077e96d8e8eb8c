-- Notes on animals, for the people of the store. The text can be about people, and is gone when the note is deleted. The
-- padding fills the part of a row that is on a page with other rows, so the text is on pages of its own. SQLite would
-- otherwise leave copies of it where it moves rows to another page. The release before does not know this table.
CREATE TABLE notes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    pet_id      INTEGER NOT NULL,
    author      TEXT    NOT NULL,
    author_id   INTEGER,
    author_name TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    padding     BLOB    NOT NULL DEFAULT (zeroblob(4096)),
    text        TEXT    NOT NULL
) STRICT;
CREATE INDEX notes_by_pet ON notes (pet_id, id);
