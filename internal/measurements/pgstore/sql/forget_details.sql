-- Forgets closed details: hours after 35 days, days after 400.
DELETE FROM rolled_details
WHERE (series_id, size, start, closed) IN (
    SELECT series_id, size, start, closed
    FROM rolled_details
    WHERE closed AND (size = '1h' AND start < now() - interval '35 days' OR size = '1d' AND start < now() - interval '400 days')
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
