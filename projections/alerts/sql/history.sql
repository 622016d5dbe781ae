-- What changes in which bucket: how many firing windows start in it (or before the
-- whole window, in the first), how many end in it, how many alerts are resolved in
-- it. The sums over time are the caller's. Each range of an index is read once,
-- whatever the number of buckets, and windows that are alike are one row before
-- they become two changes: without that, twice as slow.
--
-- Of a closed alert its last event says when it was last triggered; of an open
-- one alert_last_seen may know better. A week's bucket starts on a Monday.
WITH fired AS (
    SELECT date_bin($4, greatest(first_triggered_at, $2), '1970-01-05 00:00Z') AS first,
           date_bin($4, least(last_triggered_at, $3 - interval '1 microsecond'), '1970-01-05 00:00Z') AS last,
           count(*) AS alerts
    FROM (
        SELECT a.first_triggered_at, a.last_triggered_at
        FROM alerts_v5.alerts a
        WHERE {{scope}} AND a.last_triggered_at >= $2 AND a.first_triggered_at < $3
          AND a.resolved_at IS NOT NULL AND NOT a.muted
        UNION ALL
        SELECT a.first_triggered_at, greatest(a.last_triggered_at, s.last_triggered_at)
        FROM alerts_v5.alerts a
        LEFT JOIN alert_last_seen s ON s.organization_id = $1 AND s.alert_id = a.id
        WHERE {{scope}} AND greatest(a.last_triggered_at, s.last_triggered_at) >= $2
          AND a.first_triggered_at < $3 AND a.resolved_at IS NULL AND NOT a.muted
    ) windows
    GROUP BY 1, 2
)
SELECT bucket, sum(started)::bigint AS started, sum(ended)::bigint AS ended, sum(resolved)::bigint AS resolved
FROM (
    SELECT first AS bucket, alerts AS started, 0 AS ended, 0 AS resolved FROM fired
    UNION ALL
    SELECT last, 0, alerts, 0 FROM fired
    UNION ALL
    SELECT date_bin($4, a.resolved_at, '1970-01-05 00:00Z'), 0, 0, count(*)
    FROM alerts_v5.alerts a
    WHERE {{scope}} AND a.resolved_at >= $2 AND a.resolved_at < $3 AND NOT a.muted
    GROUP BY 1
) changes
GROUP BY bucket
