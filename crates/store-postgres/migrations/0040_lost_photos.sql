-- The photos that an animal lost, as long as their files stay. Their files are as public as the animal. The release before
-- does not write this table: nobody without a session sees a photo that an animal loses there.
CREATE TABLE lost_photos (
    id     TEXT   COLLATE "C" PRIMARY KEY,
    pet_id BIGINT NOT NULL
);
