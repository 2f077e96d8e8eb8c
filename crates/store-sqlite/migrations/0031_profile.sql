-- What the store says about itself: one row, with a JSON object of the members that people chose. The
-- release before does not know it.
CREATE TABLE profile (
    version BIGINT NOT NULL,
    members TEXT NOT NULL
);
INSERT INTO profile (version, members) VALUES (1, '{}');
