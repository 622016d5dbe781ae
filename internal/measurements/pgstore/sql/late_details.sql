-- The open details of weeks that have closed ones beside them.
SELECT o.series_id, o.start, o.body, o.size, c.body AS closed
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, week)
JOIN rolled_details o ON o.series_id = n.series_id AND NOT o.closed
    AND o.start >= n.week AND o.start < n.week + interval '7 days'
JOIN rolled_details c ON c.series_id = o.series_id AND c.size = o.size AND c.start = o.start AND c.closed
