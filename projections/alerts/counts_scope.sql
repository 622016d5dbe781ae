-- As counts_organization.sql, of these instances.
SELECT open.now AS now, open.before + closed.before AS before
FROM (SELECT count(*) AS now, count(*) FILTER (WHERE created_at <= $2) AS before
      FROM alerts_v1.alerts
      WHERE organization_id = $1 AND instance_id = ANY ($3) AND resolved_at IS NULL AND NOT muted) open,
     (SELECT count(*) AS before
      FROM alerts_v1.alerts
      WHERE organization_id = $1 AND instance_id = ANY ($3) AND resolved_at > $2 AND created_at <= $2 AND NOT muted) closed
