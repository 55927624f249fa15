-- How often the client's side of a job failed in passing.
ALTER TABLE job ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
