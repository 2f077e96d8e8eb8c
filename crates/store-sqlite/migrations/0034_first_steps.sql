-- Which of the first steps of a new store are done, as words, each behind a space: the page Today shows the
-- others. A store that has animals needs none. The release before does not know it.
ALTER TABLE profile ADD COLUMN first_steps TEXT NOT NULL DEFAULT '';
UPDATE profile SET first_steps = ' all' WHERE EXISTS (SELECT 1 FROM pets);
