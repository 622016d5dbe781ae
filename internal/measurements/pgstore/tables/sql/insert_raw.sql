-- Keeps what is new, and names it: what is not named was there already. The series are
-- ours: nobody else keeps samples of them, so that no row has to be written ahead as one
-- that may be taken back (ON CONFLICT). What is younger than $4 goes into the part of its
-- half hour (parts.go). A scalar subquery, because it is a look into the keys whatever the
-- planner believes of parts that were empty when it looked.
INSERT INTO raw_samples (series_id, at, body, part)
SELECT n.series_id, n.at, n.body, CASE
    WHEN n.at >= now() - $4::interval AND n.at < now() + interval '30 minutes' THEN floor(extract(epoch FROM n.at) / 1800)::bigint % 8
    ELSE -1
END
FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[]) AS n (series_id, at, body)
WHERE (SELECT r.at FROM raw_samples r WHERE r.series_id = n.series_id AND r.at = n.at) IS NULL
RETURNING series_id, at AS start
