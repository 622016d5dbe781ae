-- The row of process $1. Rows of processes that have ended are deleted after a day; one
-- that another process deletes at this moment is passed over.
-- A row that is written again takes no room on the disk: the sort does, which is larger
-- than the session's work_mem of 64 kB.
WITH room AS MATERIALIZED (
    SELECT count(*) AS n
    FROM (SELECT repeat('x', 1000) || g AS line FROM generate_series(1, 200) AS g ORDER BY 1 OFFSET 1) AS sorted
), ended AS (
    DELETE FROM commit_checks WHERE process IN (
        SELECT process FROM commit_checks
        WHERE checked_at < now() - interval '1 day' AND process <> $1
        FOR UPDATE SKIP LOCKED
    )
)
INSERT INTO commit_checks (process, checked_at) SELECT $1, now() FROM room WHERE n > 0
ON CONFLICT (process) DO UPDATE SET checked_at = excluded.checked_at
