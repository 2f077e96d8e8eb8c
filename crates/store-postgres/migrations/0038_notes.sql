-- Notes on animals, for the people of the store. The text can be about people, and is gone when the note is deleted. The
-- release before does not know this table.
CREATE SEQUENCE notes_ids MAXVALUE 9007199254740991 CACHE 1;
CREATE TABLE notes (
    id          BIGINT PRIMARY KEY,
    pet_id      BIGINT NOT NULL,
    author      TEXT   NOT NULL,
    author_id   BIGINT,
    author_name TEXT,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    text        TEXT   NOT NULL
);
CREATE INDEX notes_by_pet ON notes (pet_id, id);
