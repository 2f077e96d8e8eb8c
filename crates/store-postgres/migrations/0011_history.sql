-- The history of an animal, with that of its orders. Built outside of a transaction, so
-- that services of the release before this one go on with the log meanwhile.
CREATE INDEX CONCURRENTLY changes_by_pet ON changes (pet_id, seq);
