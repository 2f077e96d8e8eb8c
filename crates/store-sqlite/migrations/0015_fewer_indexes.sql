-- The list of a category is in the order of names, so search_by_category_and_name is
-- enough for it.
DROP TABLE search_by_category;

-- The marks of remembered requests ascend with their identifiers.
DROP INDEX requests_by_mark;

-- The same check of orders without IN (...), for which SQLite would build a table of the
-- five values at every insert and update. No row has to be read again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'status IN (''reserved'', ''completed'', ''cancelled'', ''expired'', ''returned'')',
    'status = ''reserved'' OR status = ''completed'' OR status = ''cancelled''
            OR status = ''expired'' OR status = ''returned''')
    WHERE type = 'table' AND name = 'orders';
PRAGMA writable_schema = RESET;
