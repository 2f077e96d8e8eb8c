-- The history of an animal, with that of its orders. An import has no animal of its own.
CREATE INDEX changes_by_pet ON changes (pet_id) WHERE pet_id IS NOT NULL;
