-- bytes is the length of the name. The service merges changed animals earlier if a search would
-- read many bytes of their names.
ALTER TABLE search_pending ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER search_pet_changed;
DROP TRIGGER search_pet_removed;
DROP TRIGGER search_pet_restored;
CREATE TRIGGER search_pet_changed AFTER UPDATE OF name, category_id, status ON pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending VALUES (old.id, octet_length(new.name))
        ON CONFLICT DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes;
END;
CREATE TRIGGER search_pet_removed AFTER DELETE ON pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending VALUES (old.id, octet_length(old.name)) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER search_pet_restored AFTER DELETE ON withdrawn_pets
    WHEN old.id <= (SELECT last_merged_id FROM search_state)
BEGIN
    INSERT INTO search_pending VALUES (old.id, octet_length(old.name)) ON CONFLICT DO NOTHING;
END;

-- The key of a name is now made of its first 256 characters. The service merges the animals with
-- longer names again, as if they had changed.
INSERT OR REPLACE INTO search_pending
    SELECT id, octet_length(name) FROM pets
    WHERE octet_length(name) > 256 AND id <= (SELECT last_merged_id FROM search_state)
    UNION ALL
    SELECT id, octet_length(name) FROM withdrawn_pets
    WHERE octet_length(name) > 256 AND id <= (SELECT last_merged_id FROM search_state);
