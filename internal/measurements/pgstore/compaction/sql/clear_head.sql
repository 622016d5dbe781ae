-- Takes hours that are in blocks out of the head, and the days and weeks of which no hour
-- is left there. What others come to has to be made anew: there is one more of them.
-- Where blocks of their series were away, it has waited for as long as the oldest hour that is
-- left and over ($3) could have been put there.
WITH hours AS (
    SELECT series_id, hour, date_trunc('day', hour, 'UTC') AS day, date_trunc('week', hour, 'UTC') AS week
    FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
), minutes AS (
    DELETE FROM head_minutes h USING hours n WHERE h.series_id = n.series_id AND h.start = n.hour
), hour_details AS (
    DELETE FROM head_hour_details h USING hours n WHERE h.series_id = n.series_id AND h.start = n.hour
), rests_of_days AS (
    DELETE FROM head_rests h USING hours n WHERE h.series_id = n.series_id AND h.size = '1h' AND h.start = n.day
), days AS (
    SELECT DISTINCT n.series_id, n.day, n.week
    FROM hours n
    WHERE NOT EXISTS (
        SELECT FROM measured_hours h
        WHERE h.series_id = n.series_id AND NOT h.compacted AND h.hour >= n.day AND h.hour < n.day + interval '1 day'
    )
), hours_of_days AS (
    DELETE FROM head_hours h USING days n WHERE h.series_id = n.series_id AND h.start = n.day
), day_details AS (
    DELETE FROM head_day_details h USING days n WHERE h.series_id = n.series_id AND h.start = n.day
), away AS (
    UPDATE series_away a
    SET since = greatest(a.since, coalesce((
        SELECT min(h.hour) + $3::interval FROM measured_hours h
        WHERE h.series_id = a.series_id AND NOT h.compacted AND h.hour < now() - $3::interval
    ), now()))
    FROM (SELECT DISTINCT series_id FROM hours) n WHERE a.series_id = n.series_id
), rests_of_weeks AS (
    DELETE FROM head_rests h USING days n WHERE h.series_id = n.series_id AND h.size = '1d' AND h.start = n.week
)
DELETE FROM head_days h
USING (SELECT DISTINCT series_id, week FROM days) n
WHERE h.series_id = n.series_id AND h.start = n.week AND NOT EXISTS (
    SELECT FROM measured_hours m
    WHERE m.series_id = n.series_id AND NOT m.compacted AND m.hour >= n.week AND m.hour < n.week + interval '7 days'
)
