-- How old a remembered request is, is counted in marks: a process sets the next
-- one when it has seen the last for so long by a clock that only moves forward.
-- A request is older than a mark if its animal's identifier is not above the
-- mark's. The date and time of day, which may jump, do not count.
CREATE TABLE idempotency_marks (
    number      BIGINT PRIMARY KEY,
    last_pet_id BIGINT NOT NULL
);

-- To find the requests that are older than a mark. The index by created_at is
-- kept for the release before this one, which forgets by it.
CREATE INDEX idempotency_keys_by_pet ON idempotency_keys (pet_id);
