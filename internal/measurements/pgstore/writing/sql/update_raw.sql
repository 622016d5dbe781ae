UPDATE raw_samples r
SET body = n.body
FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[]) AS n (series_id, at, body)
WHERE r.series_id = n.series_id AND r.at = n.at
