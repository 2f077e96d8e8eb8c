-- How often a key may be used, as 10/s, 600/min or 5000/h. Without one, the
-- limit of the service holds.
ALTER TABLE api_keys ADD COLUMN rate_limit TEXT;
