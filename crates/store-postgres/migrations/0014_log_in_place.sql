-- A change is written once, to changes, and stays there. Its number is in change_numbers:
-- the changes of a run have successive ids and successive numbers, so one small row numbers
-- thousands. A change had been written twice before, and deleted once.
--
-- The id is drawn after the transaction has its own identifier, on which the numbering
-- relies. latest_at is null in changes, except for those that `petstore copy` added.
CREATE SEQUENCE change_ids MAXVALUE 9223372036854775806;
DROP INDEX IF EXISTS changes_by_pet;
ALTER TABLE changes RENAME seq TO id;
ALTER TABLE changes ALTER latest_at DROP NOT NULL;
ALTER TABLE changes ALTER id SET DEFAULT
    nextval(CASE WHEN pg_current_xact_id() IS NOT NULL THEN 'change_ids'::regclass END);
CREATE INDEX changes_by_pet ON changes (pet_id, id);

-- seq and id are those of the first change of a run. latest_at is the latest time up to its
-- last change. A run is of one day, and has at most 10,000 changes.
CREATE TABLE change_numbers (
    seq       BIGINT PRIMARY KEY,
    id        BIGINT NOT NULL UNIQUE,
    length    BIGINT NOT NULL,
    latest_at BIGINT NOT NULL
);
CREATE INDEX change_numbers_by_time ON change_numbers (latest_at);
INSERT INTO change_numbers (seq, id, length, latest_at)
    SELECT min(id), min(id), count(*), max(max(latest_at)) OVER (ORDER BY min(id))
    FROM (SELECT *, id - row_number() OVER (PARTITION BY at / 86400000, id / 10000 ORDER BY id) AS run
        FROM changes) AS changes
    GROUP BY at / 86400000, id / 10000, run;

-- The ids that have no number yet, as ranges: those of transactions that may still commit,
-- and all that were not drawn yet. settled_id is the highest id with a number when the
-- transaction settling began. When all transactions before that one have ended, no other id
-- up to settled_id will ever be there, and these ranges are forgotten.
ALTER TABLE change_log
    ADD COLUMN open_from  BIGINT[] NOT NULL DEFAULT '{1}',
    ADD COLUMN open_to    BIGINT[] NOT NULL DEFAULT '{9223372036854775807}',
    ADD COLUMN settled_id BIGINT   NOT NULL DEFAULT 0,
    ADD COLUMN settling   XID8     NOT NULL DEFAULT '0';
UPDATE change_log SET open_from = ARRAY[last + 1];
SELECT setval('change_ids', last) FROM change_log WHERE last > 0;

INSERT INTO changes (at, type, subject_id, version, pet_id, actor, actor_id, actor_name,
        request_id, before, after)
    SELECT at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, before,
        after
    FROM unnumbered_changes ORDER BY id;
DROP TABLE unnumbered_changes;
