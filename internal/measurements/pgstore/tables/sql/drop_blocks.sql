DELETE FROM {table} b
USING unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, start)
WHERE b.series_id = n.series_id AND b.start = n.start
