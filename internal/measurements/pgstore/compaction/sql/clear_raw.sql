-- Takes raw samples of hours that are in blocks out of the head, but those in parts, which
-- are emptied as a whole.
DELETE FROM raw_samples_rest r
USING unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE r.series_id = n.series_id AND r.at >= n.hour AND r.at < n.hour + interval '1 hour'
