-- Forgets some blocks ($2 at most) of before a time. Rows that somebody holds are left to
-- another time; whoever deletes waits for nobody.
DELETE FROM {table}
WHERE (series_id, start) IN (
    SELECT series_id, start
    FROM {table}
    WHERE start < $1
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
