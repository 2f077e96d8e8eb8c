-- What is known of the photos of an animal: a JSON array, or null if it has none. No row is written.
ALTER TABLE pets ADD COLUMN photos TEXT;
ALTER TABLE withdrawn_pets ADD COLUMN photos TEXT;

-- The photos of all animals, withdrawn or not, whose files must stay.
CREATE TABLE photos (
    id     TEXT   COLLATE "C" PRIMARY KEY,
    pet_id BIGINT NOT NULL
);

-- The files that no photo has, and when the service saw that first, in milliseconds.
CREATE TABLE photo_orphans (
    id    TEXT   COLLATE "C" PRIMARY KEY,
    since BIGINT NOT NULL
);
