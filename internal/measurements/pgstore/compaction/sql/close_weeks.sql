-- Takes weeks off those with open details, now that their series are ours: those that
-- still are over and have no raw samples.
DELETE FROM open_weeks w
USING unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, week)
WHERE w.series_id = n.series_id AND w.week = n.week AND NOT EXISTS (
    SELECT FROM measured_hours h
    WHERE h.series_id = n.series_id AND h.hour >= n.week AND h.hour < n.week + interval '7 days'
)
RETURNING w.series_id, w.week AS start
