-- The search finds the beginning of any word. name_key has the letters and digits of the name,
-- without regard to case and accents; it is null where the database can make it of the name, which
-- is then one word of ASCII letters and digits. words has the other keys of the name, one on each
-- line, after two digits: how many characters it has in common with a key that is used instead of
-- it. The service sets both for the names that it adds. It sets them in the background for those
-- that are there, and for those that the release before this one adds.
ALTER TABLE pets ADD COLUMN words TEXT;
ALTER TABLE withdrawn_pets ADD COLUMN words TEXT;

-- The keys in words. Most names have none, and an animal without any costs nothing here.
CREATE TABLE pet_words (
    pet_id      BIGINT   NOT NULL,
    withdrawn   BOOLEAN  NOT NULL,
    key         TEXT     NOT NULL,
    shared      SMALLINT NOT NULL,
    status      TEXT     NOT NULL,
    category_id BIGINT   NOT NULL,
    PRIMARY KEY (pet_id, withdrawn, key)
);
CREATE INDEX pet_words_by_name ON pet_words (withdrawn, status, key COLLATE "C", pet_id);
CREATE INDEX pet_words_by_category ON pet_words
    (category_id, withdrawn, status, key COLLATE "POSIX", pet_id);

CREATE FUNCTION set_pet_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM pet_words WHERE pet_id = old.id AND withdrawn = TG_ARGV[0]::boolean;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO pet_words (pet_id, withdrawn, key, shared, status, category_id)
        SELECT new.id, TG_ARGV[0]::boolean, substr(word, 3), left(word, 2)::smallint, new.status,
            new.category_id
        FROM unnest(string_to_array(new.words, E'\n')) AS word;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER pet_words_added AFTER INSERT ON pets FOR EACH ROW
    WHEN (new.words <> '') EXECUTE FUNCTION set_pet_words(false);
CREATE TRIGGER pet_words_changed AFTER UPDATE OF words, status, category_id ON pets FOR EACH ROW
    WHEN (old.words <> '' OR new.words <> '') EXECUTE FUNCTION set_pet_words(false);
CREATE TRIGGER pet_words_removed AFTER DELETE ON pets FOR EACH ROW
    WHEN (old.words <> '') EXECUTE FUNCTION set_pet_words(false);
CREATE TRIGGER pet_words_added AFTER INSERT ON withdrawn_pets FOR EACH ROW
    WHEN (new.words <> '') EXECUTE FUNCTION set_pet_words(true);
CREATE TRIGGER pet_words_changed AFTER UPDATE OF words, status, category_id ON withdrawn_pets
    FOR EACH ROW WHEN (old.words <> '' OR new.words <> '') EXECUTE FUNCTION set_pet_words(true);
CREATE TRIGGER pet_words_removed AFTER DELETE ON withdrawn_pets FOR EACH ROW
    WHEN (old.words <> '') EXECUTE FUNCTION set_pet_words(true);

DROP INDEX IF EXISTS pets_without_name_key;
