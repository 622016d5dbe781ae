-- The days of claimed weeks, now that their series are ours, with what the week's row
-- and the day's have of them.
SELECT n.series_id, n.week AS start, w.slots AS body, d.start AS day, d.slots AS hours
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, week)
JOIN rolled_days w ON w.series_id = n.series_id AND w.start = n.week
LEFT JOIN rolled_hours d ON d.series_id = n.series_id AND d.start >= n.week AND d.start < n.week + interval '7 days'
WHERE NOT EXISTS (
    SELECT FROM measured_hours h
    WHERE h.series_id = n.series_id AND h.hour >= n.week AND h.hour < n.week + interval '7 days'
)
ORDER BY n.series_id, n.week
