-- What is dirty of claimed hours, now that their series are ours: somebody else may
-- have rolled one up between the look and the lock. weight is the size of what is read
-- where it may be large: raw samples, and the details of the day and of the week. known is
-- the detail of a host's hour.
SELECT d.series_id, d.hour AS start, d.minutes, m.slots, coalesce(CASE
    WHEN s.kind = 'statements' THEN (
        SELECT sum(octet_length(r.body)) FROM raw_samples r
        WHERE r.series_id = d.series_id AND r.at >= d.hour AND r.at < d.hour + interval '1 hour'
    )
END, 0) + coalesce(CASE
    WHEN s.kind = 'statements' THEN (
        SELECT sum(octet_length(t.body)) FROM rolled_details t
        WHERE t.series_id = d.series_id AND NOT t.closed
          AND (t.size = '1h' AND t.start >= date_trunc('day', d.hour, 'UTC')
               AND t.start < date_trunc('day', d.hour, 'UTC') + interval '1 day'
            OR t.size = '1d' AND t.start >= date_trunc('week', d.hour, 'UTC')
               AND t.start < date_trunc('week', d.hour, 'UTC') + interval '7 days')
    )
END, 0) AS weight,
    CASE WHEN s.kind = 'host' THEN (
        SELECT t.body FROM rolled_details t
        WHERE t.series_id = d.series_id AND t.size = '1h' AND t.start = d.hour AND NOT t.closed
    ) END AS known
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
JOIN dirty_hours d ON d.series_id = n.series_id AND d.hour = n.hour
JOIN measured_series s ON s.id = d.series_id
LEFT JOIN rolled_minutes m ON m.series_id = d.series_id AND m.start = d.hour
ORDER BY d.series_id, d.hour
