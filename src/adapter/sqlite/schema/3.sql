-- What is unfinished of an account, kept by the triggers below.
ALTER TABLE account ADD COLUMN jobs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN source_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE account SET
    jobs = (SELECT count(*) FROM job WHERE job.account = account.id AND state < 3),
    source_bytes = (SELECT ifnull(sum(job.source_bytes), 0) FROM job WHERE job.account = account.id AND state < 3);

CREATE TRIGGER job_of_account_accepted AFTER INSERT ON job BEGIN
    UPDATE account SET jobs = jobs + 1, source_bytes = source_bytes + ifnull(NEW.source_bytes, 0)
        WHERE id = NEW.account;
END;

CREATE TRIGGER job_of_account_settled AFTER UPDATE OF state ON job WHEN NEW.state = 3 AND OLD.state < 3 BEGIN
    UPDATE account SET jobs = jobs - 1, source_bytes = source_bytes - ifnull(OLD.source_bytes, 0)
        WHERE id = NEW.account;
END;
