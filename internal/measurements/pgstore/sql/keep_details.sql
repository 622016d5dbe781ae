INSERT INTO rolled_details (series_id, size, start, body)
SELECT series_id, '1d', start, body
FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[]) AS n (series_id, start, body)
