-- What an animal was reserved or sold for.
ALTER TABLE orders ADD COLUMN price TEXT;
