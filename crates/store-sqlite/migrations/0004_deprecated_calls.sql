-- When a key last called the deprecated operation (getPet), in seconds since
-- 1970-01-01T00:00:00Z, so that an operator knows whom to tell before it goes.
ALTER TABLE api_keys ADD COLUMN last_deprecated_call_at INTEGER;
