-- Keeps what is new, and names it: what is not named was there already. The series are
-- ours: nobody else keeps samples of them, so that no row has to be written ahead as one
-- that may be taken back (ON CONFLICT).
INSERT INTO raw_samples (series_id, at, body)
SELECT n.series_id, n.at, n.body
FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[]) AS n (series_id, at, body)
WHERE NOT EXISTS (SELECT FROM raw_samples r WHERE r.series_id = n.series_id AND r.at = n.at)
RETURNING series_id, at AS start
