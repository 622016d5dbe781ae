-- The hours' details of hosts in weeks.
SELECT d.series_id, d.start, d.body
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, week)
JOIN measured_series s ON s.id = n.series_id AND s.kind = 'host'
JOIN rolled_details d ON d.series_id = n.series_id AND d.size = '1h' AND NOT d.closed
    AND d.start >= n.week AND d.start < n.week + interval '7 days'
