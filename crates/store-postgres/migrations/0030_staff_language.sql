-- The language in which a member of the staff sees the console (BCP 47); null: that of the store. The release
-- before does not know it.
ALTER TABLE staff ADD COLUMN language TEXT;
