-- Keeps samples that are newer than the latest. The series are ours (mark.sql).
WITH sampled AS (
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::timestamptz[],
        $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::boolean[])
        AS n (series_id, database_id, at, until, active, idle, waiting, idle_in_transaction, other, partial)
), newer AS (
    UPDATE latest_sessions l
    SET at = n.at, until = n.until, active = n.active, idle = n.idle, waiting = n.waiting,
        idle_in_transaction = n.idle_in_transaction, other = n.other, partial = n.partial
    FROM sampled n
    WHERE l.series_id = n.series_id AND l.database_id = n.database_id AND l.at < n.at
)
INSERT INTO latest_sessions (series_id, database_id, at, until, active, idle, waiting, idle_in_transaction, other, partial)
SELECT * FROM sampled n
WHERE NOT EXISTS (SELECT FROM latest_sessions l WHERE l.series_id = n.series_id AND l.database_id = n.database_id)
