-- What an animal was reserved or sold for. ALTER TABLE would read all rows of this strict table, and
-- no value could be wrong.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, char(10) || ') STRICT', ',
    price      TEXT
) STRICT') WHERE type = 'table' AND name = 'orders';
PRAGMA writable_schema = RESET;
-- Fails, and undoes the migration, if the column is not there.
SELECT price FROM orders LIMIT 1;
