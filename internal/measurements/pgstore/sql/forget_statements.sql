-- Forgets statements of which no detail is left: days go after 400 days, and one day
-- more is longer than what last_seen may be behind.
DELETE FROM measured_statements
WHERE (series_id, hash) IN (
    SELECT series_id, hash
    FROM measured_statements
    WHERE last_seen < now() - interval '401 days'
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
