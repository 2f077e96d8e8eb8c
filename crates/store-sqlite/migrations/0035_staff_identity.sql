-- Who a member of the staff is at an OpenID provider, and which session there began a session here (the sid
-- of the provider); null without one. The release before does not know them.
ALTER TABLE staff ADD COLUMN issuer TEXT;
ALTER TABLE staff ADD COLUMN subject TEXT;
CREATE UNIQUE INDEX staff_identity ON staff (issuer, subject);
ALTER TABLE staff_sessions ADD COLUMN provider_session TEXT;
