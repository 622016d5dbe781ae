-- Which of these hours have raw samples in blocks.
SELECT h.series_id, h.hour AS start
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
JOIN measured_hours h ON h.series_id = n.series_id AND h.hour = n.hour AND h.packed
