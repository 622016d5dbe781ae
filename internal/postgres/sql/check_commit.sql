-- The row of process $1. Rows of processes that have ended are deleted after a day; one
-- that another process deletes at this moment is passed over.
WITH ended AS (
    DELETE FROM commit_checks WHERE process IN (
        SELECT process FROM commit_checks
        WHERE checked_at < now() - interval '1 day' AND process <> $1
        FOR UPDATE SKIP LOCKED
    )
)
INSERT INTO commit_checks (process, checked_at) VALUES ($1, now())
ON CONFLICT (process) DO UPDATE SET checked_at = excluded.checked_at
