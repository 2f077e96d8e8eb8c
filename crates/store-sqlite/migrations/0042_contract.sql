-- The text of the contract on the paper of an order; null: none. The release before does not know it.
ALTER TABLE profile ADD COLUMN contract TEXT;
