-- Notes which weeks have details that are not closed.
INSERT INTO open_weeks (series_id, week)
SELECT DISTINCT series_id, date_trunc('week', start, 'UTC')
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, start)
ON CONFLICT DO NOTHING
