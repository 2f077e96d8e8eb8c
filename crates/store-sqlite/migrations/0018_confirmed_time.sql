-- The latest time at which the clock of a service was known to be right, in milliseconds since
-- 1970-01-01T00:00:00Z. Nothing expires or is deleted by a clock that is more than a day away
-- from it. NULL until a service has started.
CREATE TABLE confirmed_time (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    at       INTEGER
) STRICT;
INSERT INTO confirmed_time VALUES (1, (SELECT at FROM changes ORDER BY seq DESC LIMIT 1));
