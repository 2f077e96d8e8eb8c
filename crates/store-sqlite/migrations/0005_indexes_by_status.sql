-- An index for each status in place of one for all: a page by status is a walk
-- along one of them, which ends where the index ends, compares identifiers and
-- no texts, and has a third less to read. An animal that is added goes to the
-- end of its index, so the pages of it are full.
DROP INDEX pets_by_status;
CREATE INDEX pets_available ON pets (id, name, category_id) WHERE status = 'available';
CREATE INDEX pets_pending ON pets (id, name, category_id) WHERE status = 'pending';
CREATE INDEX pets_sold ON pets (id, name, category_id) WHERE status = 'sold';
