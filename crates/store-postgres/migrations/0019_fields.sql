-- What the store describes its animals with. is_public and is_unique are 0 or 1 in every store,
-- so that the statements are the same.
CREATE TABLE fields (
    name      TEXT   PRIMARY KEY,
    label     TEXT   NOT NULL CHECK (length(label) BETWEEN 1 AND 255),
    kind      TEXT   NOT NULL,
    -- A JSON array of texts; null for every kind other than choice.
    choices   TEXT,
    is_public BIGINT NOT NULL CHECK (is_public IN (0, 1)),
    is_unique BIGINT NOT NULL CHECK (is_unique IN (0, 1)),
    position  BIGINT NOT NULL,
    version   BIGINT NOT NULL
);
INSERT INTO fields (name, label, kind, choices, is_public, is_unique, position, version) VALUES
    ('species', 'Species', 'choice',
        '["Dog","Cat","Rabbit","Small mammal","Bird","Reptile","Fish","Horse","Other"]', 1, 0, 10, 1),
    ('breed', 'Breed', 'text', NULL, 1, 0, 20, 1),
    ('sex', 'Sex', 'choice', '["Female","Male","Unknown"]', 1, 0, 30, 1),
    ('born', 'Born', 'date', NULL, 1, 0, 40, 1),
    ('colour', 'Colour', 'text', NULL, 1, 0, 50, 1),
    ('size', 'Size', 'choice', '["Small","Medium","Large"]', 1, 0, 60, 1),
    ('description', 'Description', 'longText', NULL, 1, 0, 70, 1),
    ('price', 'Price', 'decimal', NULL, 1, 0, 80, 1),
    ('microchip', 'Microchip', 'text', NULL, 0, 1, 90, 1);

-- One row. The version grows with each change of any field.
CREATE TABLE field_state (version BIGINT NOT NULL);
INSERT INTO field_state VALUES (1);
