-- What is dirty of claimed hours, now that their series are ours: somebody else may
-- have rolled one up between the look and the lock. slots and known, the detail of a
-- host's hour, are what the head has; without them the whole hour is made anew. weight is
-- the size of what is read where it may be large: raw samples, and the details that the
-- day and the week are made of. packed, before: some raw samples of the hour, or of the
-- one before it, are in blocks; where that one is sealed, they may be. Each is a look into
-- a primary key (each_block.sql): tables of which all rows change have no statistics.
SELECT d.series_id, d.hour AS start, d.minutes,
    (SELECT m.body FROM head_minutes m WHERE m.series_id = d.series_id AND m.start = d.hour) AS slots,
    coalesce((SELECT h.packed FROM measured_hours h WHERE h.series_id = d.series_id AND h.hour = d.hour), false) AS packed,
    coalesce((SELECT h.packed FROM measured_hours h WHERE h.series_id = d.series_id AND h.hour = d.hour - interval '1 hour'), true) AS before,
    CASE WHEN s.kind <> 'statements' THEN 0 ELSE (
        SELECT coalesce(sum(octet_length(r.body)), 0) FROM raw_samples r
        WHERE r.series_id = d.series_id AND r.at >= d.hour AND r.at < d.hour + interval '1 hour'
    ) + (
        SELECT coalesce(sum(octet_length(t.body)), 0) FROM head_hour_details t
        WHERE t.series_id = d.series_id AND t.start >= date_trunc('day', d.hour, 'UTC')
          AND t.start < date_trunc('day', d.hour, 'UTC') + interval '1 day'
    ) + (
        SELECT coalesce(sum(octet_length(t.body)), 0) FROM head_day_details t
        WHERE t.series_id = d.series_id AND t.start >= date_trunc('week', d.hour, 'UTC')
          AND t.start < date_trunc('week', d.hour, 'UTC') + interval '7 days'
    ) END AS weight,
    CASE WHEN s.kind = 'host' THEN (
        SELECT t.body FROM head_hour_details t WHERE t.series_id = d.series_id AND t.start = d.hour
    ) END AS known
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
CROSS JOIN LATERAL (
    SELECT series_id, hour, minutes FROM dirty_hours WHERE series_id = n.series_id AND hour = n.hour LIMIT 1
) AS d
CROSS JOIN LATERAL (SELECT kind FROM measured_series WHERE id = d.series_id LIMIT 1) AS s
ORDER BY d.series_id, d.hour
