-- The time zone of the store (an IANA name); null: UTC. The release before does not know it.
ALTER TABLE profile ADD COLUMN time_zone TEXT;
