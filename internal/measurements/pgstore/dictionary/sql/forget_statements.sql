-- Forgets statements that were seen last before $1: no detail of them is left.
DELETE FROM measured_statements
WHERE (series_id, hash) IN (
    SELECT series_id, hash
    FROM measured_statements
    WHERE last_seen < now() - $1::interval
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
