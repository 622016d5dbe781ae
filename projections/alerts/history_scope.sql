-- As history_organization.sql, of these instances.
WITH fired AS (
    SELECT date_bin($4, greatest(first_triggered_at, $2), '1970-01-05 00:00Z') AS first,
           date_bin($4, least(last_triggered_at, $3 - interval '1 microsecond'), '1970-01-05 00:00Z') AS last,
           count(*) AS alerts
    FROM (
        SELECT first_triggered_at, last_triggered_at
        FROM alerts_v1.alerts
        WHERE organization_id = $1 AND instance_id = ANY ($5)
          AND last_triggered_at >= $2 AND first_triggered_at < $3 AND resolved_at IS NOT NULL AND NOT muted
        UNION ALL
        SELECT a.first_triggered_at, greatest(a.last_triggered_at, s.last_triggered_at)
        FROM alerts_v1.alerts a
        LEFT JOIN alert_last_seen s ON s.organization_id = $1 AND s.alert_id = a.id
        WHERE a.organization_id = $1 AND a.instance_id = ANY ($5)
          AND greatest(a.last_triggered_at, s.last_triggered_at) >= $2 AND a.first_triggered_at < $3
          AND a.resolved_at IS NULL AND NOT a.muted
    ) windows
    GROUP BY 1, 2
)
SELECT bucket, sum(started)::bigint AS started, sum(ended)::bigint AS ended, sum(resolved)::bigint AS resolved
FROM (
    SELECT first AS bucket, alerts AS started, 0 AS ended, 0 AS resolved FROM fired
    UNION ALL
    SELECT last, 0, alerts, 0 FROM fired
    UNION ALL
    SELECT date_bin($4, resolved_at, '1970-01-05 00:00Z'), 0, 0, count(*)
    FROM alerts_v1.alerts
    WHERE organization_id = $1 AND instance_id = ANY ($5)
      AND resolved_at >= $2 AND resolved_at < $3 AND NOT muted
    GROUP BY 1
) changes
GROUP BY bucket
