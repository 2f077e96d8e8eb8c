-- The photos that an animal lost, as long as their files stay. Their files are as public as the animal. The release before
-- does not write this table: a photo that an animal loses there is for everybody who knows its name.
CREATE TABLE lost_photos (
    id     TEXT    PRIMARY KEY,
    pet_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
