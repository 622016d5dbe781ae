INSERT INTO latest_sessions (series_id, database_id, at, until, active, idle, waiting, idle_in_transaction, other, partial)
SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::timestamptz[],
    $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::boolean[])
ON CONFLICT (series_id, database_id) DO UPDATE
SET at = excluded.at, until = excluded.until, active = excluded.active, idle = excluded.idle, waiting = excluded.waiting,
    idle_in_transaction = excluded.idle_in_transaction, other = excluded.other,
    partial = excluded.partial
WHERE latest_sessions.at < excluded.at
