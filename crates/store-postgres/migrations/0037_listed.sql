-- Whether the window may show an animal. The release before does not know the column: its animals are in the window.
ALTER TABLE pets ADD COLUMN listed boolean NOT NULL DEFAULT TRUE;
ALTER TABLE withdrawn_pets ADD COLUMN listed boolean NOT NULL DEFAULT TRUE;
CREATE INDEX pets_unlisted ON pets (id) WHERE NOT listed;
CREATE INDEX withdrawn_pets_unlisted ON withdrawn_pets (id) WHERE NOT listed;
