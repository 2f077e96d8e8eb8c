-- What people read in place of the values of a choice: a JSON object from values to labels, or null if
-- there are none. The release before does not know it, and keeps it when it changes a field.
ALTER TABLE fields ADD COLUMN choice_labels TEXT;
