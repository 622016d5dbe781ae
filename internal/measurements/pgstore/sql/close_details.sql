UPDATE rolled_details d SET closed = true
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, week)
WHERE d.series_id = n.series_id AND d.size IN ('1h', '1d') AND NOT d.closed
  AND d.start >= n.week AND d.start < n.week + interval '7 days'
