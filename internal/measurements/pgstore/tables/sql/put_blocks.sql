-- Keeps blocks, each in the place of the one that there is.
INSERT INTO {table} (series_id, start, body)
SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[])
ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body
