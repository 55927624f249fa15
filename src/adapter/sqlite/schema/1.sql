-- Moments are milliseconds since 1970-01-01 00:00 UTC, ids are UUIDs of 16 bytes, `sealed` is ciphertext.

CREATE TABLE account (
    id BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    plan TEXT NOT NULL,
    disabled INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL,
    used INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    month INTEGER NOT NULL,             -- end of the month that `used` and `reserved` belong to
    secret BLOB NOT NULL,               -- sealed
    old_secret BLOB,                    -- sealed
    old_secret_until INTEGER,
    ready INTEGER NOT NULL DEFAULT 0,   -- jobs in state 0
    turn INTEGER NOT NULL DEFAULT 0     -- number of the last lease that was given to one of its jobs
) STRICT, WITHOUT ROWID;
CREATE INDEX account_turn ON account (turn) WHERE ready > 0;

CREATE TABLE api_key (
    mac BLOB PRIMARY KEY,
    account BLOB NOT NULL REFERENCES account,
    added INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE connector (
    account BLOB NOT NULL REFERENCES account,
    id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    saved INTEGER NOT NULL,
    PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rate (
    key BLOB PRIMARY KEY,
    began INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_ends ON rate (ends);

-- One row of sums over other tables, kept by the triggers below, and the number of leases ever given.
CREATE TABLE tally (
    waiting INTEGER NOT NULL,           -- unfinished jobs that nobody holds
    leased INTEGER NOT NULL,            -- unfinished jobs that somebody holds
    source_bytes INTEGER NOT NULL,      -- of both
    notifications INTEGER NOT NULL,     -- hooks in states 1 and 2
    turns INTEGER NOT NULL
) STRICT;
INSERT INTO tally VALUES (0, 0, 0, 0, 0);

-- States of a job: 0 may be leased, 1 waits until `due`, 2 is leased until `due`, 3 is settled.
CREATE TABLE job (
    number INTEGER PRIMARY KEY,         -- in the order of acceptance
    id BLOB NOT NULL UNIQUE,
    account BLOB NOT NULL REFERENCES account,
    accepted INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    month INTEGER NOT NULL,             -- the account's, at acceptance
    source_bytes INTEGER,
    sealed BLOB,                        -- the request, until it is settled
    state INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL DEFAULT 0,
    since INTEGER,                      -- of the last lease, until its holder ends it
    fence INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    settled INTEGER,
    status INTEGER,
    body BLOB
) STRICT;
CREATE INDEX job_ready ON job (account, number) WHERE state = 0;
CREATE INDEX job_deferred ON job (due) WHERE state = 1;
CREATE INDEX job_leased ON job (due, since) WHERE state = 2;
CREATE INDEX job_waiting ON job (accepted) WHERE state < 3 AND since IS NULL;
CREATE INDEX job_settled ON job (settled) WHERE state = 3;

CREATE TRIGGER job_accepted AFTER INSERT ON job BEGIN
    UPDATE account SET ready = ready + 1 WHERE id = NEW.account;
    UPDATE tally SET waiting = waiting + 1, source_bytes = source_bytes + ifnull(NEW.source_bytes, 0);
END;

CREATE TRIGGER job_ready_or_not AFTER UPDATE OF state ON job WHEN (NEW.state = 0) <> (OLD.state = 0) BEGIN
    UPDATE account SET ready = ready + (NEW.state = 0) - (OLD.state = 0) WHERE id = NEW.account;
END;

CREATE TRIGGER job_held_or_settled AFTER UPDATE OF state, since ON job
WHEN (NEW.since IS NULL) <> (OLD.since IS NULL) OR (NEW.state = 3) <> (OLD.state = 3) BEGIN
    UPDATE tally SET
        waiting = waiting + (NEW.state < 3 AND NEW.since IS NULL) - (OLD.state < 3 AND OLD.since IS NULL),
        leased = leased + (NEW.state < 3 AND NEW.since IS NOT NULL) - (OLD.state < 3 AND OLD.since IS NOT NULL),
        source_bytes = source_bytes - iif(NEW.state = 3 AND OLD.state < 3, ifnull(OLD.source_bytes, 0), 0);
END;

CREATE TABLE image (
    job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    link BLOB NOT NULL UNIQUE,
    blob TEXT NOT NULL,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT;
CREATE INDEX image_expires ON image (expires);

-- States of a notification: 0 its job is unfinished, 1 waits until `due`, 2 is leased, 3 is delivered, 4 is given
-- up.
CREATE TABLE hook (
    job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    account BLOB NOT NULL,
    lane INTEGER NOT NULL,              -- 64 bits without a sign, taken as if they had one
    delay INTEGER NOT NULL,
    sealed BLOB,                        -- the address, until it is delivered
    state INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL DEFAULT 0,
    since INTEGER,                      -- of the last lease, until its holder ends it
    until INTEGER,
    fence INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0 -- ever noted
) STRICT;
CREATE INDEX hook_of_account ON hook (account, job) WHERE state > 0;
CREATE INDEX hook_waiting ON hook (lane, due) WHERE state = 1;
CREATE INDEX hook_leased ON hook (lane, until, since) WHERE state = 2;

CREATE TABLE attempt (
    job INTEGER NOT NULL REFERENCES hook ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

-- What goes to one host, kept by the trigger below.
CREATE TABLE lane (
    lane INTEGER PRIMARY KEY,
    due INTEGER,                        -- of the first that waits
    leased INTEGER NOT NULL
) STRICT;
CREATE INDEX lane_due ON lane (due, leased) WHERE due IS NOT NULL;

CREATE TRIGGER hook_moved AFTER UPDATE OF state, due ON hook BEGIN
    UPDATE tally SET notifications = notifications + (NEW.state IN (1, 2)) - (OLD.state IN (1, 2))
        WHERE (NEW.state IN (1, 2)) <> (OLD.state IN (1, 2));
    INSERT INTO lane VALUES (
        NEW.lane,
        (SELECT min(due) FROM hook WHERE lane = NEW.lane AND state = 1),
        (SELECT count(*) FROM hook WHERE lane = NEW.lane AND state = 2)
    ) ON CONFLICT (lane) DO UPDATE SET due = excluded.due, leased = excluded.leased;
    DELETE FROM lane WHERE lane = NEW.lane AND due IS NULL AND leased = 0;
END;
