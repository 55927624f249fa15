-- What an account sends to one host, kept by the trigger below; gone while it has nothing to send there.
CREATE TABLE sender (
    lane INTEGER NOT NULL,
    account BLOB NOT NULL,
    due INTEGER,                        -- of the first that waits
    leased INTEGER NOT NULL,
    turn INTEGER NOT NULL DEFAULT 0,    -- number of the last lease that was given to one of these
    PRIMARY KEY (lane, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX sender_due ON sender (lane, due);
CREATE INDEX sender_turn ON sender (lane, leased, turn, due);

INSERT INTO sender (lane, account, due, leased)
    SELECT lane, account, min(iif(state = 1, due, NULL)), sum(state = 2) FROM hook WHERE state IN (1, 2)
    GROUP BY lane, account;

DROP INDEX hook_waiting;
CREATE INDEX hook_waiting ON hook (lane, account, due) WHERE state = 1;

DROP TRIGGER hook_moved;
CREATE TRIGGER hook_moved AFTER UPDATE OF state, due ON hook BEGIN
    UPDATE tally SET notifications = notifications + (NEW.state IN (1, 2)) - (OLD.state IN (1, 2))
        WHERE (NEW.state IN (1, 2)) <> (OLD.state IN (1, 2));
    INSERT INTO sender (lane, account, due, leased) VALUES (
        NEW.lane,
        NEW.account,
        (SELECT min(due) FROM hook WHERE lane = NEW.lane AND account = NEW.account AND state = 1),
        (SELECT count(*) FROM hook WHERE lane = NEW.lane AND account = NEW.account AND state = 2)
    ) ON CONFLICT (lane, account) DO UPDATE SET due = excluded.due, leased = excluded.leased;
    DELETE FROM sender WHERE lane = NEW.lane AND account = NEW.account AND due IS NULL AND leased = 0;
    INSERT INTO lane VALUES (
        NEW.lane,
        (SELECT min(due) FROM sender WHERE lane = NEW.lane),
        (SELECT count(*) FROM hook WHERE lane = NEW.lane AND state = 2)
    ) ON CONFLICT (lane) DO UPDATE SET due = excluded.due, leased = excluded.leased;
    DELETE FROM lane WHERE lane = NEW.lane AND due IS NULL AND leased = 0;
END;
