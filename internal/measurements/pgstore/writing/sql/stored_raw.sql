SELECT r.series_id, r.at AS start, r.body
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, at)
JOIN raw_samples r ON r.series_id = n.series_id AND r.at = n.at
