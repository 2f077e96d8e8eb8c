-- The passkeys of a member of the staff, as a list of objects in JSON; null without one. The release before does not
-- know them.
ALTER TABLE staff ADD COLUMN passkeys TEXT;
