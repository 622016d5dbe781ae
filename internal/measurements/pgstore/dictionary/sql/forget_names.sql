-- Forgets names that were seen last before $1: no sample of them is left.
DELETE FROM measured_names
WHERE (organization_id, hash) IN (
    SELECT organization_id, hash
    FROM measured_names
    WHERE last_seen < now() - $1::interval
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
