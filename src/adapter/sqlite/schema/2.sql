-- How often the client's side of a job failed in passing.
ALTER TABLE job ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;

CREATE INDEX api_key_of_account ON api_key (account, added);
