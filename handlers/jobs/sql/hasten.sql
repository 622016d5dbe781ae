-- In one order, so that two that hasten the same jobs wait instead of deadlocking.
WITH waiting AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE organization_id = $1 AND kind = $2 AND key = $3 AND dead_at IS NULL AND worker_id = '' AND due_at > now()
    ORDER BY id
    FOR UPDATE
), hastened AS (
    UPDATE jobs SET due_at = now() FROM waiting WHERE jobs.id = waiting.id RETURNING jobs.id
)
SELECT pg_notify($4, $2) FROM hastened LIMIT 1
