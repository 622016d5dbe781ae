-- Keeps what is new, and names it: what is not named was there already.
INSERT INTO raw_samples (series_id, at, body)
SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[])
ON CONFLICT (series_id, at) DO NOTHING
RETURNING series_id, at AS start
