-- What the head has of hours ($2) and of the weeks that they are in: of all their days,
-- because the week's row has them, and a day that the week's block has must have one too.
WITH asked AS (
    SELECT series_id, hour, date_trunc('week', hour, 'UTC') AS week
    FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
), weeks AS (
    SELECT DISTINCT series_id, week FROM asked
)
SELECT 'minutes' AS "table", h.series_id, h.start, h.body
FROM asked a JOIN head_minutes h ON h.series_id = a.series_id AND h.start = a.hour
UNION ALL
SELECT 'hour_details', h.series_id, h.start, h.body
FROM asked a JOIN head_hour_details h ON h.series_id = a.series_id AND h.start = a.hour
UNION ALL
SELECT 'hours', h.series_id, h.start, h.body
FROM weeks a JOIN head_hours h ON h.series_id = a.series_id AND h.start >= a.week AND h.start < a.week + interval '7 days'
UNION ALL
SELECT 'day_details', h.series_id, h.start, h.body
FROM weeks a JOIN head_day_details h ON h.series_id = a.series_id AND h.start >= a.week AND h.start < a.week + interval '7 days'
UNION ALL
SELECT 'days', h.series_id, h.start, h.body
FROM weeks a JOIN head_days h ON h.series_id = a.series_id AND h.start = a.week
