-- For whom an order is: personal data, which is erased some time after the order closed. The padding
-- fills the part of a row that is on a page with other rows, so the contact is on pages of its own. SQLite
-- would otherwise leave copies of it where it moves rows to another page.
CREATE TABLE order_contacts (
    order_id INTEGER PRIMARY KEY,
    padding  BLOB    NOT NULL DEFAULT (zeroblob(4096)),
    contact  TEXT    NOT NULL
) STRICT;
