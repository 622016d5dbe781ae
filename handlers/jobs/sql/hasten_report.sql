-- As hasten.sql: the mails about one report, whoever they are for.
WITH waiting AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE subject = $3 AND kind = $2 AND organization_id = $1 AND dead_at IS NULL AND worker_id = '' AND due_at > now()
    ORDER BY id
    FOR UPDATE
), hastened AS (
    UPDATE jobs SET due_at = now() FROM waiting WHERE jobs.id = waiting.id RETURNING jobs.id
)
SELECT pg_notify($4, $2) FROM hastened LIMIT 1
