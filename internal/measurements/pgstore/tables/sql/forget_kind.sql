-- Forgets some blocks ($3 at most) of a kind of series ($1) of before a time ($2). Most blocks that
-- start before it are of other kinds, which are kept for longer: each series is looked up in the
-- primary key. Rows that somebody holds are left to another time.
DELETE FROM {table}
WHERE (series_id, start) IN (
    SELECT b.series_id, b.start
    FROM measured_series s
    CROSS JOIN LATERAL (
        SELECT series_id, start
        FROM {table}
        WHERE series_id = s.id AND start < $2
        ORDER BY start
        LIMIT $3
        FOR UPDATE SKIP LOCKED
    ) AS b
    WHERE s.kind = $1
    LIMIT $3
)
