-- The list of a category is in the order of names, so the indexes by category and name
-- are enough for it.
DROP INDEX IF EXISTS pets_by_category;
DROP INDEX withdrawn_pets_by_category;
